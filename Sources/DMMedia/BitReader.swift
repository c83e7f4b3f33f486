/// Reads bits, the lowest of each byte first, from parts of a file that follow one another.
struct BitReader {
  private let bytes: UnsafeRawBufferPointer
  private let parts: [Range<Int>]
  private var part = 0
  private var place: Int
  private var buffer: UInt64 = 0
  private(set) var bufferedCount = 0

  init(_ bytes: UnsafeRawBufferPointer, in parts: [Range<Int>]) {
    self.bytes = bytes
    self.parts = parts
    place = parts.first?.lowerBound ?? 0
  }

  /// The next bits, which stay the next ones, zeros where there are fewer; at most 32.
  mutating func peek(_ count: Int) -> Int {
    while bufferedCount < count, let byte = nextByte() {
      buffer |= UInt64(byte) << UInt64(bufferedCount)
      bufferedCount += 8
    }
    return Int(truncatingIfNeeded: buffer & (1 << UInt64(count) &- 1))
  }

  /// Goes beyond bits that were peeked at.
  ///
  /// - Returns: whether there were as many.
  mutating func skip(_ count: Int) -> Bool {
    guard count <= bufferedCount else { return false }
    buffer >>= UInt64(count)
    bufferedCount -= count
    return true
  }

  /// Nil when there are fewer.
  mutating func bits(_ count: Int) -> Int? {
    let number = peek(count)
    return skip(count) ? number : nil
  }

  /// Goes on to the next whole byte.
  mutating func align() { _ = skip(bufferedCount & 7) }

  /// How many whole bytes are left.
  var byteCount: Int {
    let rest = parts.dropFirst(part + 1).reduce(0) { $0 + $1.count }
    return bufferedCount / 8 + (parts.indices.contains(part) ? parts[part].upperBound - place : 0) + rest
  }

  /// Goes beyond whole bytes, from a byte's beginning.
  ///
  /// - Returns: whether there were as many.
  mutating func skipBytes(_ count: Int) -> Bool {
    var left = count
    while left > 0, bufferedCount > 0 {
      _ = skip(8)
      left -= 1
    }
    while left > 0, part < parts.count {
      let step = min(left, parts[part].upperBound - place)
      place += step
      left -= step
      if place == parts[part].upperBound { goOn() }
    }
    return left == 0
  }

  private mutating func nextByte() -> UInt8? {
    while part < parts.count {
      if place < parts[part].upperBound {
        defer { place += 1 }
        return bytes[place]
      }
      goOn()
    }
    return nil
  }

  private mutating func goOn() {
    part += 1
    if part < parts.count { place = parts[part].lowerBound }
  }
}
