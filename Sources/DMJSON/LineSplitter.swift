internal import DMSystem

/// Splits bytes, as they arrive, into lines at LF only.
///
/// The bytes of a line over the limit are dropped as they arrive, so that it costs no memory.
package struct LineSplitter: Sendable {
  package enum Line: Sendable {
    /// A line without its LF.
    case whole(ArraySlice<UInt8>)
    case tooLong
  }

  /// The maximum number of bytes of a line.
  package static let limit = 1024 * 1024

  private var buffer: [UInt8] = []
  private var start = 0
  /// The index up to which the buffer was searched; from `start` to this index, it has no LF.
  private var searched = 0
  private var isSkipping = false

  package init() {}

  /// The number of bytes that were appended and not returned yet.
  package var pending: Int { buffer.count - start }

  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if start > 0 {
      buffer.removeFirst(start)
      searched -= start
      start = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// The next whole line; nil when more bytes are needed.
  package mutating func next() -> Line? {
    guard let end = buffer.withUnsafeBytes({ $0.offset(of: 0x0A, in: searched..<$0.count) }) else {
      searched = buffer.count
      if pending > Self.limit || isSkipping {
        isSkipping = true
        start = buffer.count
      }
      return nil
    }
    let line = buffer[start..<end]
    start = end + 1
    searched = start
    if isSkipping || line.count > Self.limit {
      isSkipping = false
      return .tooLong
    }
    return .whole(line)
  }

  /// Whether there is a line without its LF; at the end of the input, it may be incomplete.
  package var isUnfinished: Bool { pending > 0 || isSkipping }
}
