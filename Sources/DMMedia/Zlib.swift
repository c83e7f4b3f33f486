internal import DMSystem

/// Measures a zlib stream (RFC 1950, RFC 1951) without decompressing it.
enum Zlib {
  struct Stream {
    /// The size of the decompressed data in bytes.
    var count: Int
    /// The number of bytes after the end of the stream.
    var rest: Int
  }

  /// - Parameter limit: the maximum number of decompressed bytes.
  /// - Returns: nil if the data is not a zlib stream, is truncated, or exceeds the limit.
  static func stream(_ bytes: CheckedBytes, in parts: [Range<Int>], limit: Int) -> Stream? {
    var reader = BitReader(bytes, in: parts)
    guard let method = reader.bits(8), let flags = reader.bits(8), method & 15 == 8, flags & 0x20 == 0,
      (method << 8 | flags) % 31 == 0
    else { return nil }
    var count = 0
    while true {
      guard let isLast = reader.bits(1), let kind = reader.bits(2) else { return nil }
      let isWhole =
        switch kind {
        case 0: stored(&reader, &count, limit)
        case 1: compressed(&reader, fixed, &count, limit)
        case 2: codes(&reader).map { compressed(&reader, $0, &count, limit) } ?? false
        default: false
        }
      guard isWhole else { return nil }
      if isLast == 1 { break }
    }
    reader.align()
    // Skips the checksum of the decompressed data.
    guard reader.skipBytes(4) else { return nil }
    return Stream(count: count, rest: reader.byteCount)
  }

  private typealias Codes = (lengths: PrefixCode, distances: PrefixCode?)

  private static func stored(_ reader: inout BitReader, _ count: inout Int, _ limit: Int) -> Bool {
    reader.align()
    guard let length = reader.bits(16), let inverse = reader.bits(16), length ^ inverse == 0xFFFF,
      length <= limit - count
    else { return false }
    count += length
    return reader.skipBytes(length)
  }

  private static func compressed(
    _ reader: inout BitReader, _ codes: Codes?, _ count: inout Int, _ limit: Int
  ) -> Bool {
    guard let codes else { return false }
    while true {
      guard let symbol = symbol(&reader, codes.lengths) else { return false }
      if symbol == 256 { return true }
      var length = 1
      if symbol > 256 {
        guard symbol < 286, let more = reader.bits(lengthBits[symbol - 257]), let distances = codes.distances,
          let distanceCode = self.symbol(&reader, distances), distanceCode < 30,
          let offset = reader.bits(distanceBits(distanceCode)),
          distance(distanceCode) + offset <= count
        else { return false }
        length = lengths[symbol - 257] + more
      }
      guard length <= limit - count else { return false }
      count += length
    }
  }

  @inline(__always)
  private static func symbol(_ reader: inout BitReader, _ code: PrefixCode) -> Int? {
    guard let (symbol, length) = code.symbol(reader.peek(15), of: 15), reader.skip(length) else { return nil }
    return symbol
  }

  /// Reads dynamic codes (RFC 1951, section 3.2.7).
  private static func codes(_ reader: inout BitReader) -> Codes? {
    guard let literals = reader.bits(5), let distances = reader.bits(5), let own = reader.bits(4), literals < 30
    else { return nil }
    var lengths = [Int](repeating: 0, count: 19)
    for index in order.prefix(own + 4) {
      guard let length = reader.bits(3) else { return nil }
      lengths[index] = length
    }
    guard let code = PrefixCode(lengths: lengths[...]) else { return nil }
    guard let found = self.lengths(&reader, code, count: literals + 257 + distances + 1),
      let first = PrefixCode(lengths: found[..<(literals + 257)]),
      let second = PrefixCode(lengths: found[(literals + 257)...])
    else { return nil }
    return (first, second)
  }

  /// Reads code lengths; a symbol may stand for several lengths.
  private static func lengths(_ reader: inout BitReader, _ code: borrowing PrefixCode, count: Int) -> [Int]? {
    var found: [Int] = []
    while found.count < count {
      guard let symbol = symbol(&reader, code) else { return nil }
      var (length, times) = (symbol, 1)
      switch symbol {
      case 16:
        guard let last = found.last, let more = reader.bits(2) else { return nil }
        (length, times) = (last, 3 + more)
      case 17, 18:
        guard let more = reader.bits(symbol == 17 ? 3 : 7) else { return nil }
        (length, times) = (0, (symbol == 17 ? 3 : 11) + more)
      default: break
      }
      found += [Int](repeating: length, count: times)
    }
    return found.count == count ? found : nil
  }

  /// The fixed codes (RFC 1951, section 3.2.6).
  private static let fixed: Codes? = {
    let lengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
    let distances = [Int](repeating: 5, count: 30)
    guard let first = PrefixCode(lengths: lengths[...]) else { return nil }
    return (first, PrefixCode(lengths: distances[...]))
  }()

  /// The number of extra bits of each length symbol, from 257 on (RFC 1951, section 3.2.5).
  private static let lengthBits = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
  ]
  private static let lengths = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
  ]
  private static func distanceBits(_ symbol: Int) -> Int { max(0, symbol / 2 - 1) }
  private static func distance(_ symbol: Int) -> Int {
    symbol < 2 ? symbol + 1 : (2 + symbol % 2) << (symbol / 2 - 1) + 1
  }

  private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
}
