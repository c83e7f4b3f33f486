internal import DMSystem

/// Reads untrusted bytes from the beginning, and never beyond their end.
struct ByteReader {
  /// There are fewer bytes than requested, or a number is larger than an `Int`.
  struct OutOfBytes: Error {}

  private let bytes: CheckedBytes
  /// The range of the bytes that were not read yet, as offsets in all bytes.
  private(set) var rest: Range<Int>
  var isLittleEndian: Bool

  init(_ bytes: CheckedBytes, isLittleEndian: Bool = false) {
    self.bytes = bytes
    rest = 0..<bytes.count
    self.isLittleEndian = isLittleEndian
  }

  var offset: Int { rest.lowerBound }

  /// The next byte, without consuming it; nil at the end.
  var next: UInt8? { rest.isEmpty ? nil : bytes[offset] }

  /// Reads a number of one to eight bytes.
  mutating func number(_ count: Int) throws(OutOfBytes) -> Int {
    var number: UInt64 = 0
    let part = try part(count).rest
    for step in 0..<count {
      let index = isLittleEndian ? part.upperBound &- 1 &- step : part.lowerBound &+ step
      number = number << 8 | UInt64(bytes[index])
    }
    guard let number = Int(exactly: number) else { throw OutOfBytes() }
    return number
  }

  /// Reads the four bytes of the name of a box or a chunk.
  mutating func name() throws(OutOfBytes) -> String {
    String(decoding: bytes[try part(4).rest], as: UTF8.self)
  }

  /// Consumes `count` bytes, and returns a reader of them.
  mutating func part(_ count: Int) throws(OutOfBytes) -> ByteReader {
    guard count >= 0, count <= rest.count else { throw OutOfBytes() }
    return part(upTo: count)
  }

  /// Consumes `count` bytes, or all if fewer are left, and returns a reader of them.
  mutating func part(upTo count: Int) -> ByteReader {
    var part = self
    part.rest = offset..<offset &+ min(max(count, 0), rest.count)
    rest = part.rest.upperBound..<rest.upperBound
    return part
  }

  mutating func skip(_ count: Int) throws(OutOfBytes) { _ = try part(count) }

  /// Whether the next bytes are this text; does not consume them.
  func has(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { rest.count >= $0.count && bytes[offset..<offset &+ $0.count].elementsEqual($0) }
  }

  /// Skips to the next byte with this value, or to the end if there is none.
  ///
  /// - Returns: whether there is such a byte.
  mutating func seek(_ byte: UInt8) -> Bool {
    let found = bytes.offset(of: byte, in: rest)
    rest = (found ?? rest.upperBound)..<rest.upperBound
    return found != nil
  }

  /// Whether the bytes that are left contain these bytes.
  func contains(_ wanted: [UInt8]) -> Bool {
    var rest = self
    while let first = wanted.first, rest.seek(first) {
      if rest.prefix(wanted.count) == wanted { return true }
      _ = rest.part(upTo: 1)
    }
    return false
  }

  /// Returns a copy of the next bytes, at most `count`, and does not consume them.
  func prefix(_ count: Int) -> [UInt8] { Array(bytes[rest].prefix(count)) }
}
