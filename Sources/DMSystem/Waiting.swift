internal import Glibc

/// Whether a descriptor has input or is at its end; waits for this at most as long as `milliseconds` says.
///
/// An error of poll(2) counts as input, because the next read reports the reason.
package func waitUntilReadable(_ descriptor: Int32, milliseconds: Int32) -> Bool {
  var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&request, 1, milliseconds) != 0
}

/// Waits until a time of `monotonicMicroseconds`, or until a signal comes.
package func rest(until deadline: Int64) { poll(nil, 0, milliseconds(until: deadline)) }

/// A descriptor to wait for, and the result of the wait.
package struct Awaited {
  package enum Purpose {
    case reading, writing
    /// The descriptor is ready only when the other end of a pipe is closed.
    case end

    fileprivate var events: Int32 {
      switch self {
      case .reading: POLLIN
      case .writing: POLLOUT
      case .end: 0
      }
    }
  }

  fileprivate var request: pollfd

  /// - Parameter descriptor: the descriptor; nil for none, and then `isReady` is never true.
  package init(_ descriptor: Int32?, for purpose: Purpose) {
    request = pollfd(fd: descriptor ?? -1, events: Int16(purpose.events), revents: 0)
  }

  /// Whether reading or writing would not block, even if only because the other end is closed.
  package var isReady: Bool { request.revents != 0 }

  /// Whether the other end is closed.
  package var hasEnded: Bool { Int32(request.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 }
}

/// Waits until one of the descriptors is ready: poll(2).
///
/// - Parameter deadline: the end of the wait, as a time of `monotonicMicroseconds`; `.max` for none.
/// - Returns: whether a descriptor is ready; false after the deadline or a signal.
package func waitForAny(of awaited: inout [Awaited], until deadline: Int64) -> Bool {
  var requests = awaited.map(\.request)
  let isReady = poll(&requests, nfds_t(requests.count), milliseconds(until: deadline)) > 0
  for (index, request) in requests.enumerated() { awaited[index].request = request }
  return isReady
}
