internal import Glibc

/// A child process that shares our standard streams.
struct Child: ~Copyable {
  private let process: pid_t

  /// - Throws: `usage` when there is no such program.
  init(_ words: [String]) throws {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var standard = sigset_t()
    sigemptyset(&standard)
    for number in [SIGPIPE, SIGXFSZ] { sigaddset(&standard, number) }
    posix_spawnattr_setsigdefault(&attributes, &standard)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var argv = words.map { strdup($0) } + [nil]
    defer { for word in argv { free(word) } }
    var process = pid_t()
    let fault = posix_spawnp(&process, words[0], nil, &attributes, &argv, environ)
    guard fault == 0 else { throw usage("cannot run '\(words[0])': \(String(cString: strerror(fault)))") }
    self.process = process
  }

  func send(_ signal: Int32) { kill(process, signal) }

  /// Waits until the child ends.
  ///
  /// - Returns: the status that waitpid(2) reports.
  func wait() -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }

  /// The status that waitpid(2) reports; nil while the child runs.
  func ending() -> Int32? {
    var status: Int32 = 0
    return waitpid(process, &status, WNOHANG) == process ? status : nil
  }
}

/// Ends this process as another one ended: with the same exit status, or by the same signal.
func end(as status: Int32) -> Never {
  let number = status & 0x7F
  if number != 0 { dieOf(number) }
  exit(status >> 8 & 0xFF)
}
