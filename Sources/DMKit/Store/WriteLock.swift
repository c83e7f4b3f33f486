internal import CSystem
internal import Glibc
internal import Synchronization

/// The right to write to a store or to move its log, held by one process at a time.
///
/// It waits in the kernel's queue, on a thread of its own, because flock(2) knows no time-out. The
/// descriptor is closed on exec: a child that inherited it would keep the lock.
struct WriteLock: ~Copyable {
  private let descriptor: Int32

  /// - Throws: `busy` after `seconds`.
  init(path: String, seconds: Int) throws(DMError) {
    let descriptor = open(path, O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason = errno
      throw DMError(
        reason == EROFS || reason == EACCES ? .readOnlyStore : .inputOutput,
        "cannot open '\(path)': \(String(cString: strerror(reason)))", subject: path)
    }
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
    } else {
      guard Self.wait(for: descriptor, seconds: seconds) else {
        throw DMError(.busy, "another process has been writing for \(seconds) s; try again")
      }
    }
    self.descriptor = descriptor
  }

  /// The same without waiting; nil when another holds it, or it cannot be had.
  init?(ifFree path: String) {
    descriptor = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  private final class Waiter: Sendable {
    let descriptor: Int32
    let state = Atomic<Int>(waiting)
    // NB: nonisolated(unsafe) because a pointer is not Sendable; semaphores are made to be shared.
    nonisolated(unsafe) let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    static let waiting = 0
    static let acquired = 1
    static let abandoned = 2

    init(_ descriptor: Int32) {
      self.descriptor = descriptor
      sem_init(semaphore, 0, 0)
    }

    deinit {
      sem_destroy(semaphore)
      semaphore.deallocate()
    }
  }

  private static func wait(for descriptor: Int32, seconds: Int) -> Bool {
    let waiter = Waiter(descriptor)
    var thread = pthread_t()
    let started = pthread_create(
      &thread, nil,
      { argument in
        guard let argument else { return nil }
        let waiter = Unmanaged<Waiter>.fromOpaque(argument).takeRetainedValue()
        while flock(waiter.descriptor, LOCK_EX) != 0, errno == EINTR {}
        let before = waiter.state.exchange(Waiter.acquired, ordering: .acquiringAndReleasing)
        if before == Waiter.abandoned { close(waiter.descriptor) }
        sem_post(waiter.semaphore)
        return nil
      }, Unmanaged.passRetained(waiter).toOpaque())
    guard started == 0 else {
      Unmanaged.passUnretained(waiter).release()
      close(descriptor)
      return false
    }
    pthread_detach(thread)
    var deadline = timespec()
    clock_gettime(CLOCK_MONOTONIC, &deadline)
    deadline.tv_sec += seconds
    while dm_sem_wait_until(waiter.semaphore, &deadline) != 0 {
      if errno == EINTR { continue }
      let (gaveUp, _) = waiter.state.compareExchange(
        expected: Waiter.waiting, desired: Waiter.abandoned, ordering: .acquiringAndReleasing)
      return !gaveUp
    }
    return true
  }
}
