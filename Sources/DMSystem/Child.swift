internal import CSystem
internal import Glibc

/// A child process that shares the standard streams of this one.
package struct Child: ~Copyable {
  /// How a process ended: the status of waitpid(2).
  package struct Ending {
    fileprivate let status: Int32

    package var isSuccess: Bool { status == 0 }

    /// The exit status; nil if a signal ended the process.
    package var exitStatus: Int32? { status & 0x7F == 0 ? status >> 8 & 0xFF : nil }

    /// Ends this process in the same way: with the same exit status, or by the same signal.
    package func repeated() -> Never {
      let number = status & 0x7F
      if number != 0 { Signal(number: number).end() }
      exit(status >> 8 & 0xFF)
    }
  }

  private let process: pid_t

  /// Starts a program with no signal blocked; looks it up on PATH, as a shell does.
  ///
  /// - Parameters:
  ///   - input: the program's standard input; nil for that of this process.
  ///   - output: the program's standard output; nil for that of this process.
  ///   - isApart: whether the program has a session of its own, and `/dev/null` for its standard streams, so that it
  ///     neither uses the terminal of this process nor ends with it.
  /// - Throws: if there is no such program, or if it cannot be run.
  package init(
    _ words: [String], input: Int32? = nil, output: Int32? = nil, isApart: Bool = false
  ) throws(SystemFailure) {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = Signal.set([])
    posix_spawnattr_setsigmask(&attributes, &none)
    var standard = Signal.set([.brokenPipe, .fileTooLarge])
    posix_spawnattr_setsigdefault(&attributes, &standard)
    // POSIX_SPAWN_SETSID, which glibc has since version 2.26, but declares only with _GNU_SOURCE.
    let newSession: Int32 = isApart ? 0x80 : 0
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | newSession))
    var argv = words.map { strdup($0) } + [nil]
    defer { for word in argv { free(word) } }
    var process = pid_t()
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input { posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
    if let output { posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
    if isApart {
      for stream in 0...2 { posix_spawn_file_actions_addopen(&actions, Int32(stream), "/dev/null", O_RDWR, 0) }
    }
    let number = posix_spawnp(&process, words[0], &actions, &attributes, &argv, environ)
    guard number == 0 else { throw SystemFailure(number: number) }
    self.process = process
  }

  /// Starts a program whose standard output becomes the standard input of this process.
  ///
  /// - Throws: if there is no such program, or if it cannot be run.
  package init(feeding words: [String]) throws(SystemFailure) {
    guard let pipe = Pipe() else { throw .current }
    try self.init(words, output: pipe.writing)
    while dup2(pipe.reading, STDIN_FILENO) < 0, errno == EINTR {}
  }

  package func send(_ signal: Signal) { kill(process, signal.number) }

  /// Waits until the child ends.
  package func wait() -> Ending {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return Ending(status: status)
  }

  /// How the child ended; nil while it runs.
  package func ending() -> Ending? {
    var status: Int32 = 0
    return waitpid(process, &status, WNOHANG) == process ? Ending(status: status) : nil
  }
}

/// Runs a shell command, with a variable in its environment, and waits for it: system(3).
///
/// - Returns: whether the command succeeded.
package func runShell(_ command: String, with variable: String, _ value: String) -> Bool {
  setEnvironment(variable, value)
  return system(command) == 0
}

/// The folder of the program that this process runs (proc(5)); nil if it is unknown.
package var ownFolder: String? { wholePath("/proc/self/exe").map(folder(of:)) }

/// Starts a program that outlives this process, with `/dev/null` for its standard streams.
///
/// - Parameters:
///   - program: the path of the program.
///   - lock: a lock that the program takes over, as its descriptor 3.
/// - Throws: the reason why no process can be started. It is no error if the new process then cannot run the program.
package func startApart(
  _ program: String, _ arguments: [String], handingOn lock: borrowing FileLock
) throws(SystemFailure) {
  guard access(program, X_OK) == 0 else { throw .current }
  var argv = ([program] + arguments).map { strdup($0) } + [nil]
  defer { for word in argv { free(word) } }
  guard dm_start_apart(program, &argv, environ, lock.descriptor) == 0 else { throw .current }
}
