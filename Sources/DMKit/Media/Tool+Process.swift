internal import CSystem
internal import Glibc

extension Tool {
  /// Where programs are searched when nobody says otherwise.
  static var environmentPath: String { getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin" }

  /// The program's path.
  ///
  /// Not left to posix_spawnp(3), which knows this process's PATH only. Relative folders in it are left out: to the
  /// tool, which works elsewhere, they would be others.
  func find() -> String? {
    searchPath.split(separator: ":").lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
      .first { access($0, X_OK) == 0 }
  }

  /// Starts it in a group of its own, as a fresh shell would: no signal ignored or blocked, standard streams only.
  ///
  /// - Returns: 0, or why it cannot be started, as errno(3) has it.
  func spawn(
    _ program: String, _ arguments: [String], writing output: Int32, _ errors: Int32, as process: inout pid_t
  ) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    // Ours are closed on exec; those that were left open to us by whoever started us are not.
    dm_confine(&actions, folder)

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var argv = ([name] + arguments).map { strdup($0) } + [nil]
    var envp = variables().map { strdup($0) } + [nil]
    defer { for word in argv + envp { free(word) } }
    return posix_spawn(&process, program, &actions, &attributes, &argv, &envp)
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

  /// Sets the limits of a process that has just begun.
  ///
  /// posix_spawn(3) cannot, and lowering those of this process meanwhile would hit its other threads: so it is done
  /// from here, by prlimit(2), while the tool still looks for its libraries. Nor can posix_spawn(3) have the tool die
  /// with this process (PR_SET_PDEATHSIG of prctl(2)): one that is left behind ends by its processor time.
  ///
  /// Memory is what may be written (RLIMIT_DATA, since Linux 4.7), not RLIMIT_AS: of that the hundred libraries of
  /// vips and the address space that malloc(3) sets aside for each thread take more than any picture does.
  func limit(_ process: pid_t) {
    // A call fails only where the limit was lower already, which is as well.
    dm_limit(process, Int32(RLIMIT_CPU.rawValue), UInt(limits.processorSeconds))
    dm_limit(process, Int32(RLIMIT_DATA.rawValue), UInt(limits.memory))
    dm_limit(process, Int32(RLIMIT_FSIZE.rawValue), UInt(limits.fileSize))
    dm_limit(process, Int32(RLIMIT_CORE.rawValue), 0)
  }

  /// Ends a process and all of its group that still runs.
  ///
  /// - Returns: how it ended, as waitpid(2) tells, and what processor time it took, in whole seconds, rounded: the
  ///   limit's clock ticks a little apart.
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
