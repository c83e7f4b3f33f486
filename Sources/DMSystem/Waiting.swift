internal import Glibc

/// Whether a descriptor has input, or the end of it; waits for that for at most some milliseconds.
///
/// An error of poll(2) counts as input, because the read then reports the reason.
package func waitUntilReadable(_ descriptor: Int32, milliseconds: Int32) -> Bool {
  var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
  return poll(&request, 1, milliseconds) != 0
}

/// Waits for input, or for the end of a reader: poll(2).
///
/// - Parameters:
///   - inputs: descriptors; nil for one that never has input.
///   - output: a descriptor whose other end a reader has; nil for none.
///   - moment: the end of the wait, as a time of `monotonicMicroseconds`.
/// - Returns: which descriptors have input, and whether the reader has gone; nil after the time or a signal.
package func waitForInput(
  _ inputs: [Int32?], orReaderGone output: Int32?, until moment: Int64
) -> (isReadable: [Bool], isReaderGone: Bool)? {
  var requests =
    [pollfd(fd: output ?? -1, events: 0, revents: 0)]
    + inputs.map { pollfd(fd: $0 ?? -1, events: Int16(POLLIN), revents: 0) }
  guard poll(&requests, nfds_t(requests.count), milliseconds(until: moment)) > 0 else { return nil }
  return (requests.dropFirst().map { $0.revents != 0 }, requests[0].revents != 0)
}
