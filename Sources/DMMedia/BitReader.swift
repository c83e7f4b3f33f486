internal import DMSystem

/// Reads bits from several ranges of a file, one range after the other; the lowest bit of each byte comes first.
struct BitReader {
  private let bytes: CheckedBytes
  private let parts: [Range<Int>]
  private var part = 0
  private var offset: Int
  private var buffer: UInt64 = 0
  private(set) var bufferedCount = 0

  init(_ bytes: CheckedBytes, in parts: [Range<Int>]) {
    self.bytes = bytes
    self.parts = parts
    offset = parts.first?.lowerBound ?? 0
  }

  /// Returns the next `count` bits, at most 32, and does not consume them; bits after the end are zeros.
  mutating func peek(_ count: Int) -> Int {
    while bufferedCount < count, let byte = nextByte() {
      buffer |= UInt64(byte) << UInt64(bufferedCount)
      bufferedCount += 8
    }
    return Int(truncatingIfNeeded: buffer & (1 << UInt64(count) &- 1))
  }

  /// Consumes bits that `peek` has returned.
  ///
  /// - Returns: whether there were enough bits.
  mutating func skip(_ count: Int) -> Bool {
    guard count <= bufferedCount else { return false }
    buffer >>= UInt64(count)
    bufferedCount -= count
    return true
  }

  /// Reads `count` bits; nil if fewer are left.
  mutating func bits(_ count: Int) -> Int? {
    let number = peek(count)
    return skip(count) ? number : nil
  }

  /// Skips to the next byte boundary.
  mutating func align() { _ = skip(bufferedCount & 7) }

  /// The number of whole bytes that are left.
  var byteCount: Int {
    let rest = parts.dropFirst(part + 1).reduce(0) { $0 + $1.count }
    return bufferedCount / 8 + (parts.indices.contains(part) ? parts[part].upperBound - offset : 0) + rest
  }

  /// Skips whole bytes, from a byte boundary.
  ///
  /// - Returns: whether there were enough bytes.
  mutating func skipBytes(_ count: Int) -> Bool {
    var left = count
    while left > 0, bufferedCount > 0 {
      _ = skip(8)
      left -= 1
    }
    while left > 0, part < parts.count {
      let step = min(left, parts[part].upperBound - offset)
      offset += step
      left -= step
      if offset == parts[part].upperBound { goOn() }
    }
    return left == 0
  }

  private mutating func nextByte() -> UInt8? {
    while part < parts.count {
      if offset < parts[part].upperBound {
        defer { offset += 1 }
        return bytes[offset]
      }
      goOn()
    }
    return nil
  }

  private mutating func goOn() {
    part += 1
    if part < parts.count { offset = parts[part].lowerBound }
  }
}
