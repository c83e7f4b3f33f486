internal import CSystem
package import DMModel
internal import Glibc
internal import Synchronization

/// A right that one process has at a time: to write to a store or to move its log, or to stream a consumer.
///
/// It waits in the kernel's queue, on a thread of its own, because flock(2) knows no time-out. The
/// descriptor is closed on exec: a child that inherited it would keep the lock.
package struct FileLock: ~Copyable {
  private let descriptor: Int32

  /// - Throws: `busy` after so long, and at once when that is 0.
  package init(path: String, milliseconds: Int, busy: @autoclosure () -> String) throws(DMError) {
    let descriptor = open(path, O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw storeFault("open", path)
    }
    if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let isShort = milliseconds < Self.short
      let reason =
        errno != EWOULDBLOCK
        ? errno
        : isShort
          ? Self.ask(for: descriptor, LOCK_EX, milliseconds: milliseconds)
          : Self.wait(for: descriptor, milliseconds: milliseconds)
      // Else the thread that waits has it, and closes it.
      if isShort || reason != ETIMEDOUT, reason != 0 { close(descriptor) }
      if reason == ETIMEDOUT { throw DMError(.busy, busy()) }
      if reason != 0 {
        throw DMError(.inputOutput, "cannot lock '\(path)': \(String(cString: strerror(reason)))", subject: path)
      }
    }
    self.descriptor = descriptor
  }

  /// The same without waiting; nil when another holds it, or it cannot be had.
  package init?(ifFree path: String) {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
  }

  /// A share in the right, of which there are many at a time: as long as one lives, nobody has it alone.
  ///
  /// - Parameter path: of a file or a folder; nil is returned when it is not there.
  /// - Throws: `busy` after so long.
  package init?(sharing path: String, milliseconds: Int, busy: @autoclosure () -> String) throws(DMError) {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw fileFault(.inputOutput, "open", path)
    }
    let reason = Self.ask(for: descriptor, LOCK_SH, milliseconds: milliseconds)
    guard reason == 0 else {
      close(descriptor)
      throw reason == ETIMEDOUT ? DMError(.busy, busy()) : fileFault(.inputOutput, "lock", path, reason)
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// The first bytes of the file; fewer when it is shorter.
  ///
  /// Only of a lock that was waited for, as `write` is.
  package borrowing func read(_ count: Int) throws(DMError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let length = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard length >= 0 else { throw fileFault(.inputOutput, "read", "store.lock") }
    return Array(bytes[..<length])
  }

  /// Writes bytes at the beginning of the file.
  package borrowing func write(_ bytes: [UInt8]) throws(DMError) {
    guard bytes.withUnsafeBytes({ pwrite(descriptor, $0.baseAddress, $0.count, 0) }) == bytes.count else {
      throw fileFault(.inputOutput, "write", "store.lock")
    }
  }

  private final class Waiter: Sendable {
    let descriptor: Int32
    let state = Atomic<Int>(waiting)
    /// What flock said in the end, 0 or an errno.
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
      // Nobody waits any more: the lock must not stay with this process.
      if before == Waiter.abandoned { close(descriptor) }
      sem_post(semaphore)
    }
  }

  /// Milliseconds below which one asks again and again: who does that every second must not leave a thread
  /// and a descriptor behind each time.
  private static let short = 1000

  /// Asks for the lock every few milliseconds.
  ///
  /// - Returns: as `wait`.
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
  /// - Returns: 0 when it is had, ETIMEDOUT, or why it cannot be had.
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
