internal import CSystem
package import DMModel
internal import Glibc
internal import Synchronization

/// A lock that one process has at a time, for example to write to a store, to checkpoint its WAL, or to stream a
/// consumer.
///
/// A separate thread waits for the lock in the kernel's queue, because flock(2) has no timeout. The descriptor is
/// closed on exec, because a child process that inherited it would keep the lock.
package struct FileLock: ~Copyable {
  let descriptor: Int32

  /// - Throws: `busy` after the timeout, or at once if the timeout is 0; `io_error` or `read_only_store` if the file
  ///   cannot be opened or locked.
  package init(path: String, milliseconds: Int, busy: @autoclosure () -> DMError) throws(DMError) {
    let descriptor = open(path, O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw storeError("open", path)
    }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let isShort = milliseconds < Self.short
      let reason =
        errno != EWOULDBLOCK
        ? errno
        : isShort
          ? Self.ask(for: descriptor, LOCK_EX, milliseconds: milliseconds)
          : Self.wait(for: descriptor, milliseconds: milliseconds)
      // After a timeout of `wait` the waiter thread still uses the descriptor, and closes it.
      if isShort || reason != ETIMEDOUT, reason != 0 { close(descriptor) }
      if reason == ETIMEDOUT { throw busy() }
      if reason != 0 {
        throw fileError(.inputOutput, "lock", path, SystemFailure(number: reason))
      }
    }
    self.descriptor = descriptor
  }

  /// Takes the lock without waiting; nil if another process has it, or if the file cannot be opened.
  package init?(ifFree path: String) {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
  }

  /// Takes over a lock that this process inherited as a descriptor; nil if there is none.
  package init?(handedOn descriptor: Int32, of path: String) {
    guard let file = FileStatus(path), FileStatus(descriptor: descriptor)?.identity == file.identity,
      flock(descriptor, LOCK_EX | LOCK_NB) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
    else { return nil }
    self.descriptor = descriptor
  }

  /// Takes a lock that makes this process the only one to do some work: a lock that it inherited, or a new lock.
  ///
  /// - Returns: nil if another process has the lock.
  /// - Throws: `io_error`.
  package init?(leading path: String) throws(DMError) {
    if let handedOn = FileLock(handedOn: 3, of: path) {
      self = handedOn
      return
    }
    do throws(DMError) {
      self = try FileLock(path: path, milliseconds: 0, busy: DMError(.busy, "another process has it"))
    } catch {
      if error.code == .busy { return nil }
      throw error
    }
  }

  /// Takes a shared lock, which many processes may have at a time; meanwhile no process gets the exclusive lock.
  ///
  /// - Parameter path: a file or a folder; the result is nil if it does not exist.
  /// - Throws: `busy` after the timeout.
  package init?(sharing path: String, milliseconds: Int, busy: @autoclosure () -> DMError) throws(DMError) {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw fileError(.inputOutput, "open", path)
    }
    let reason = Self.ask(for: descriptor, LOCK_SH, milliseconds: milliseconds)
    guard reason == 0 else {
      close(descriptor)
      throw reason == ETIMEDOUT ? busy() : fileError(.inputOutput, "lock", path, SystemFailure(number: reason))
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// The first `count` bytes of the file, or all bytes if the file is shorter.
  ///
  /// `read` and `write` are only for locks that `init(path:milliseconds:busy:)` has made.
  package borrowing func read(_ count: Int) throws(DMError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let length = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard length >= 0 else { throw fileError(.inputOutput, "read", "store.lock") }
    return Array(bytes[..<length])
  }

  /// Writes bytes at the beginning of the file.
  package borrowing func write(_ bytes: [UInt8]) throws(DMError) {
    guard bytes.withUnsafeBytes({ pwrite(descriptor, $0.baseAddress, $0.count, 0) }) == bytes.count else {
      throw fileError(.inputOutput, "write", "store.lock")
    }
  }

  private final class Waiter: Sendable {
    let descriptor: Int32
    let state = Atomic<Int>(waiting)
    /// The result of flock(2): 0 or an errno.
    let reason = Atomic<Int32>(0)
    // NB: nonisolated(unsafe) because a pointer is not Sendable; semaphores are made to be shared.
    nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    static let waiting = 0
    static let ended = 1
    static let abandoned = 2

    init(_ descriptor: Int32) {
      self.descriptor = descriptor
      sem_init(semaphore, 0, 0)
    }

    deinit {
      sem_destroy(semaphore)
      semaphore.deallocate()
    }

    func lock() {
      while flock(descriptor, LOCK_EX) != 0 {
        if errno == EINTR { continue }
        reason.store(errno, ordering: .releasing)
        break
      }
      let before = state.exchange(Waiter.ended, ordering: .acquiringAndReleasing)
      // The wait has timed out: this process must not keep the lock.
      if before == Waiter.abandoned { close(descriptor) }
      sem_post(semaphore)
    }
  }

  /// For a timeout below this number of milliseconds, the lock is polled, and no waiter thread is started.
  ///
  /// A waiter thread that times out goes on, and keeps its descriptor, until it gets the lock.
  private static let short = 1000

  /// Tries to take the lock every 5 ms.
  ///
  /// - Returns: like `wait`.
  private static func ask(for descriptor: Int32, _ operation: Int32, milliseconds: Int) -> Int32 {
    for left in (0...milliseconds / 5).reversed() {
      if flock(descriptor, operation | LOCK_NB) == 0 { return 0 }
      if errno != EWOULDBLOCK, errno != EINTR { return errno }
      if left > 0 { usleep(5000) }
    }
    return ETIMEDOUT
  }

  /// Waits for the lock.
  ///
  /// - Returns: 0 if the lock was taken, ETIMEDOUT, or the errno of the failure.
  private static func wait(for descriptor: Int32, milliseconds: Int) -> Int32 {
    let waiter = Waiter(descriptor)
    let fault = startThread { waiter.lock() }
    guard fault == 0 else { return fault }
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    deadline.tv_nsec += milliseconds % 1000 * 1_000_000
    deadline.tv_sec += milliseconds / 1000 + deadline.tv_nsec / 1_000_000_000
    deadline.tv_nsec %= 1_000_000_000
    while dm_sem_wait_until(waiter.semaphore, &deadline) != 0 {
      if errno == EINTR { continue }
      let (gaveUp, _) = waiter.state.compareExchange(
        expected: Waiter.waiting, desired: Waiter.abandoned, ordering: .acquiringAndReleasing)
      if gaveUp { return ETIMEDOUT }
      break
    }
    return waiter.reason.load(ordering: .acquiring)
  }
}
