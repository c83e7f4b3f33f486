internal import CSystem
internal import Glibc

extension Tool {
  /// The search path of the environment, or a usual one if PATH is not set.
  package static var environmentPath: String {
    getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
  }

  /// The path of the program; nil if it is not on the search path.
  ///
  /// Relative folders of the search path are skipped, because they would be other folders for the tool, which runs
  /// elsewhere.
  package func find() -> String? {
    searchPath.split(separator: ":").lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
      .first { access($0, X_OK) == 0 }
  }

  /// Starts the program in a new process group, with no signal ignored or blocked, with standard streams only, and with
  /// its limits; the system kills it when this process ends.
  ///
  /// - Returns: the process id; negative, with errno(3) set, if the process cannot be made.
  func start(_ program: String, _ arguments: [String], writing output: Int32, _ errors: Int32) -> pid_t {
    var argv = ([name] + arguments).map { strdup($0) } + [nil]
    var envp = variables().map { strdup($0) } + [nil]
    defer { for word in argv + envp { free(word) } }
    return dm_start(
      program, &argv, &envp, folder, output, errors, UInt(limits.processorSeconds), UInt(limits.memory),
      UInt(limits.fileSize))
  }

  /// The environment of this process, in which the tool's own variables replace those with the same name.
  private func variables() -> [String] {
    var variables = environment.map { "\($0)=\($1)" }
    var place = environ
    while let variable = place.pointee {
      let text = String(cString: variable)
      if environment[String(text.prefix { $0 != "=" })] == nil { variables.append(text) }
      place += 1
    }
    return variables
  }

  /// Kills the process group of a process, and waits for the process to end.
  ///
  /// - Returns: the status that waitpid(2) reports, and the processor time in whole seconds, rounded, because the clock
  ///   of the limit differs a little.
  func end(_ process: pid_t) -> (status: Int32, processorSeconds: Int) {
    kill(-process, SIGKILL)
    var status: Int32 = -1
    var usage = rusage()
    while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
    let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec + 500_000
    return (status, usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + Int(microseconds) / 1_000_000)
  }
}

/// Both ends of a pipe(7).
struct Pipe: ~Copyable {
  let reading: Int32
  private(set) var writing: Int32

  /// Nil, with errno(3) set, if the pipe cannot be made.
  init?() {
    var ends: [Int32] = [0, 0]
    guard dm_pipe(&ends) == 0 else { return nil }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    if writing >= 0 { close(writing) }
  }

  /// Closes the writing end, so that the reader gets the end of file after all other writers have closed it.
  mutating func closeWriting() {
    close(writing)
    writing = -1
  }
}
