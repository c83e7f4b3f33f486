/// A canonical Huffman code, as in Deflate (RFC 1951, section 3.2.2) and JPEG (ITU-T T.81, annex C).
struct PrefixCode {
  /// The number of codes of each length, from 0 bits on.
  private let counts: [Int]
  /// The symbols in the order of their codes, the shortest first.
  private let symbols: [UInt16]
  /// The symbol and the length of its code for each value of the next `tableBits` bits; 0 if the code is longer.
  private var table: [UInt16]
  private let isLowFirst: Bool

  static let tableBits = 9

  /// - Parameters:
  ///   - counts: the numbers of codes with 0, 1, 2 … bits.
  ///   - isLowFirst: whether the first bit of a code is the lowest of the peeked bits; otherwise it is the highest.
  /// - Returns: nil if there are more codes than these lengths allow.
  init?(counts: [Int], symbols: [UInt16], isLowFirst: Bool) {
    self.counts = counts
    self.symbols = symbols
    self.isLowFirst = isLowFirst
    table = [UInt16](repeating: 0, count: 1 << Self.tableBits)
    var (code, index) = (0, 0)
    for length in counts.indices.dropFirst() {
      code <<= 1
      guard code + counts[length] <= 1 << length, index + counts[length] <= symbols.count else { return nil }
      for _ in 0..<counts[length] {
        if length <= Self.tableBits, symbols[index] < 1 << 12 { enter(code, length, symbols[index]) }
        code += 1
        index += 1
      }
    }
  }

  /// Makes a code from the code lengths of the symbols 0, 1, 2 …; a symbol with the length 0 has no code (RFC 1951,
  /// section 3.2.2).
  init?(lengths: ArraySlice<Int>) {
    var counts = [Int](repeating: 0, count: 16)
    for length in lengths where length > 0 { counts[length] += 1 }
    let symbols = lengths.enumerated().filter { $0.element > 0 }.sorted {
      ($0.element, $0.offset) < ($1.element, $1.offset)
    }
    self.init(counts: counts, symbols: symbols.map { UInt16($0.offset) }, isLowFirst: true)
  }

  private mutating func enter(_ code: Int, _ length: Int, _ symbol: UInt16) {
    let entry = symbol << 4 | UInt16(length)
    let free = Self.tableBits - length
    for rest in 0..<(1 << free) {
      let index = code << free | rest
      table[isLowFirst ? Self.reversed(index) : index] = entry
    }
  }

  private static func reversed(_ index: Int) -> Int {
    var (index, result) = (index, 0)
    for _ in 0..<tableBits {
      result = result << 1 | index & 1
      index >>= 1
    }
    return result
  }

  /// The symbol of the next code, and the number of its bits; nil if the bits are not a code.
  ///
  /// - Parameter next: the next bits, as many as the longest code has.
  @inline(__always)
  func symbol(_ next: Int, of count: Int) -> (symbol: Int, length: Int)? {
    let entry = table[isLowFirst ? next & (1 << Self.tableBits - 1) : next >> (count - Self.tableBits)]
    return entry != 0 ? (Int(entry >> 4), Int(entry & 15)) : longSymbol(next, of: count)
  }

  private func longSymbol(_ next: Int, of count: Int) -> (symbol: Int, length: Int)? {
    var (code, first, index) = (0, 0, 0)
    for length in counts.indices.dropFirst() where length <= count {
      code = code << 1 | next >> (isLowFirst ? length - 1 : count - length) & 1
      if code - first < counts[length] { return (Int(symbols[index + code - first]), length) }
      index += counts[length]
      first = (first + counts[length]) << 1
    }
    return nil
  }
}
