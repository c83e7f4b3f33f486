internal import CSystem
internal import DMKit
internal import Glibc

/// The signals that end or stop a program, taken one by one, for whoever has something to put in order first; and the one
/// that tells of a child's end.
///
/// The corresponding facility is signalfd(2).
struct Interrupts: ~Copyable {
  let descriptor: Int32

  /// Those that are ignored stay so: who was started by nohup(1) goes on.
  init() throws {
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGCHLD)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] {
      var action = sigaction()
      sigaction(number, nil, &action)
      let isIgnored =
        unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
      if !isIgnored { sigaddset(&set, number) }
    }
    sigprocmask(SIG_BLOCK, &set, nil)
    // write(2) tells itself of a reader who has gone.
    signal(SIGPIPE, SIG_IGN)
    descriptor = signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK))
    guard descriptor >= 0 else {
      throw DMError(.inputOutput, "cannot wait for signals: \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  /// The next one that has come.
  func next() -> Int32? {
    var information = signalfd_siginfo()
    let size = MemoryLayout<signalfd_siginfo>.size
    return read(descriptor, &information, size) == size ? Int32(information.ssi_signo) : nil
  }
}

/// A program that runs with this one's standard streams.
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
    sigaddset(&standard, SIGPIPE)
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

  /// How it ended, as waitpid(2) tells; nil while it runs.
  func ending() -> Int32? {
    var status: Int32 = 0
    return waitpid(process, &status, WNOHANG) == process ? status : nil
  }
}

/// Ends this process as another has ended.
func end(as status: Int32) -> Never {
  let number = status & 0x7F
  if number != 0 { dieOf(number) }
  exit(status >> 8 & 0xFF)
}
