import Dispatch
import Foundation
import Glibc
import Synchronization

/// How a process ended.
enum Ending: Equatable, Sendable {
  case exit(Int32)
  case signal(Int32)
  /// The process did not end in time, and was killed.
  case overdue
}

struct SpawnError: Error, CustomStringConvertible {
  let description: String
}

/// A child process in its own process group, so that its children can be killed with it.
final class ToolProcess: Sendable {
  struct End: Sendable {
    let ending: Ending
    /// The processor seconds of the process, in user and in system mode.
    let cpu: Double
  }

  /// Held while a process starts.
  static let starting = Mutex(())

  let pid: pid_t
  private let end = Mutex<End?>(nil)
  private let ended = DispatchSemaphore(value: 0)

  /// Starts `path` with these three descriptors, which stay open here.
  init(_ path: String, _ arguments: [String], environment: [String: String], streams: [Int32]) throws {
    // A write to a program that has ended must not end the tests.
    signal(SIGPIPE, SIG_IGN)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in streams.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var all = sigset_t()
    sigfillset(&all)
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var argv: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for pointer in argv + envp { free(pointer) } }
    var pid: pid_t = 0
    let fault = Self.starting.withLock { _ in posix_spawn(&pid, path, &actions, &attributes, &argv, &envp) }
    guard fault == 0 else {
      throw SpawnError(description: "cannot start \(path): \(String(cString: strerror(fault)))")
    }
    self.pid = pid
    Thread.detachNewThread { self.reap() }
  }

  private func reap() {
    var info = siginfo_t()
    // WNOWAIT keeps the process id until the lock is held, so that no signal goes to another process with the same id.
    while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    end.withLock { end in
      var status: Int32 = 0
      var usage = rusage()
      while wait4(pid, &status, 0, &usage) < 0, errno == EINTR {}
      let signal = status & 0x7F
      let cpu =
        Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1_000_000
      end = End(ending: signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal), cpu: cpu)
    }
    ended.signal()
  }

  var isRunning: Bool { end.withLock { $0 == nil } }

  func send(_ signal: Int32, toGroup: Bool = false) {
    end.withLock { if $0 == nil { _ = kill(toGroup ? -pid : pid, signal) } }
  }

  /// Waits until the process ends, and kills it at the deadline.
  func wait(seconds: Double) -> End {
    if ended.wait(timeout: .now() + seconds) == .success {
      ended.signal()
      return end.withLock { $0 } ?? End(ending: .overdue, cpu: 0)
    }
    send(SIGKILL, toGroup: true)
    ended.wait()
    ended.signal()
    return End(ending: .overdue, cpu: 0)
  }
}
