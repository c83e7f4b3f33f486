internal import Glibc

/// Runs `body` on a new, detached thread.
///
/// - Returns: 0, or the error number of pthread_create(3).
package func startThread(_ body: @escaping @Sendable () -> Void) -> Int32 {
  final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  let work = Unmanaged.passRetained(Work(body))
  var thread = pthread_t()
  let fault = pthread_create(
    &thread, nil,
    { argument in
      if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
      return nil
    }, work.toOpaque())
  if fault == 0 { pthread_detach(thread) } else { work.release() }
  return fault
}
