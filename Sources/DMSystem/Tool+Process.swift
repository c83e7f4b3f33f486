package import CSystem
internal import Glibc

extension Tool {
  /// Where programs are searched when nobody says otherwise.
  package static var environmentPath: String {
    getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
  }

  /// The program's path.
  ///
  /// Relative folders in it are left out: to the tool, which works elsewhere, they would be others.
  package func find() -> String? {
    searchPath.split(separator: ":").lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
      .first { access($0, X_OK) == 0 }
  }

  /// Starts it in a group of its own: no signal ignored or blocked, standard streams only, and with its limits, among
  /// which is this process's own life.
  ///
  /// - Returns: the process; negative, with errno(3) set, when there cannot be one.
  package func start(_ program: String, _ arguments: [String], writing output: Int32, _ errors: Int32) -> pid_t {
    var argv = ([name] + arguments).map { strdup($0) } + [nil]
    var envp = variables().map { strdup($0) } + [nil]
    defer { for word in argv + envp { free(word) } }
    return dm_start(
      program, &argv, &envp, folder, output, errors, UInt(limits.processorSeconds), UInt(limits.memory),
      UInt(limits.fileSize))
  }

  /// This process's environment with the tool's own in it.
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

  /// Ends a process and all of its group that still runs.
  ///
  /// - Returns: how it ended, as waitpid(2) tells, and what processor time it took, in whole seconds, rounded: the
  ///   limit's clock ticks a little apart.
  package func end(_ process: pid_t) -> (status: Int32, processorSeconds: Int) {
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

  /// Nil, with errno(3) set, where there cannot be one.
  init?() {
    var ends: [Int32] = [0, 0]
    guard dm_pipe(&ends) == 0 else { return nil }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    if writing >= 0 { close(writing) }
  }

  /// So that the end is told to the reader once all other writers are gone.
  mutating func closeWriting() {
    close(writing)
    writing = -1
  }
}
