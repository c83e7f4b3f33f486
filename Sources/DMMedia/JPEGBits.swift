internal import DMSystem

/// Reads the entropy-coded data of a scan (ITU-T T.81, annexes F.2 and G.2).
struct JPEGBits {
  /// The codes of each block of a minimum coded unit.
  struct Codes {
    fileprivate var all: [(direct: PrefixCode, other: PrefixCode)] = []

    init?(_ blocks: [(component: Int, direct: PrefixCode?, other: PrefixCode?)]) {
      for block in blocks {
        guard let direct = block.direct, let other = block.other else { return nil }
        all.append((direct, other))
      }
    }
  }

  private let bytes: CheckedBytes
  private var rest: Range<Int>
  private let restartInterval: Int
  private var buffer: UInt64 = 0
  private var count = 0
  /// How many of the next blocks have no more coefficients in this scan.
  private var emptyCount = 0

  init(_ bytes: CheckedBytes, in range: Range<Int>, every restartInterval: Int) {
    self.bytes = bytes
    rest = range
    self.restartInterval = restartInterval
  }

  /// Fills the buffer with bytes up to the next marker; a 0xFF in the data is followed by a 0, which is skipped
  /// (section B.1.1.5).
  private mutating func fill() {
    while count <= 48, let byte = rest.first.map({ bytes[$0] }) {
      if byte == 0xFF, rest.count < 2 || bytes[rest.lowerBound + 1] != 0 { return }
      rest = rest.dropFirst(byte == 0xFF ? 2 : 1)
      buffer = buffer << 8 | UInt64(byte)
      count += 8
    }
  }

  /// Returns the next 16 bits and does not consume them; bits after the end are zeros.
  private mutating func peek() -> Int {
    if count < 16 { fill() }
    let next = count >= 16 ? buffer >> UInt64(count - 16) : buffer << UInt64(16 - count)
    return Int(truncatingIfNeeded: next & 0xFFFF)
  }

  private mutating func skip(_ number: Int) -> Bool {
    if count < number { fill() }
    count -= number
    return count >= 0
  }

  private mutating func symbol(_ code: borrowing PrefixCode) -> Int? {
    guard let (symbol, length) = code.symbol(peek(), of: 16), skip(length) else { return nil }
    return symbol
  }

  /// Whether only fill bits are left.
  mutating func isAtEnd() -> Bool {
    fill()
    return count >= 0 && count < 8 && rest.isEmpty
  }

  /// Skips the restart marker before a minimum coded unit that needs one (section E.2.4).
  ///
  /// - Returns: false if a needed marker is missing.
  mutating func begin(_ unit: Int) -> Bool {
    guard restartInterval > 0, unit > 0, unit % restartInterval == 0 else { return true }
    fill()
    let number = (unit / restartInterval - 1) & 7
    guard count < 8, rest.count >= 2, bytes[rest.lowerBound] == 0xFF,
      bytes[rest.lowerBound + 1] == UInt8(0xD0 + number)
    else { return false }
    rest = rest.dropFirst(2)
    (count, emptyCount) = (0, 0)
    return true
  }

  /// Reads all coefficients of the blocks of a unit (section F.2.2).
  mutating func sequential(_ codes: borrowing Codes) -> Bool {
    for index in 0..<codes.all.count {
      guard direct(codes.all[index].direct) else { return false }
      var coefficient = 1
      while coefficient < 64 {
        guard let symbol = symbol(codes.all[index].other) else { return false }
        if symbol & 15 == 0 {
          if symbol != 0xF0 { break }
          coefficient += 16
        } else {
          coefficient += symbol >> 4
          guard coefficient < 64, skip(symbol & 15) else { return false }
          coefficient += 1
        }
      }
      if coefficient > 64 { return false }
    }
    return true
  }

  /// Reads the first coefficient of a block or, if `code` is nil, one more bit of this coefficient (sections F.2.2.1,
  /// G.1.2.1).
  mutating func direct(_ code: PrefixCode?) -> Bool {
    guard let code else { return skip(1) }
    guard let symbol = symbol(code), symbol <= 16 else { return false }
    return skip(symbol)
  }

  /// Reads a range of a block's AC coefficients, or one more bit of each (sections G.1.2.2, G.1.2.3).
  mutating func band(_ range: ClosedRange<Int>, _ code: borrowing PrefixCode, _ isFirst: Bool, _ filled: inout UInt64)
    -> Bool
  {
    var coefficient = range.lowerBound
    while emptyCount == 0, coefficient <= range.upperBound {
      guard let symbol = symbol(code) else { return false }
      var zeros = symbol >> 4
      let isNew = symbol & 15 != 0
      if !isNew, zeros < 15 {
        emptyCount = 1 << zeros
        guard zeros == 0 || bits(zeros).map({ emptyCount += $0 }) != nil else { return false }
        break
      }
      guard skip(symbol & 15) else { return false }
      guard pass(&zeros, upTo: range.upperBound, from: &coefficient, refining: isFirst ? 0 : filled) else {
        return false
      }
      if isNew {
        guard coefficient <= range.upperBound else { return false }
        filled |= 1 << UInt64(coefficient)
      }
      coefficient += 1
    }
    guard emptyCount > 0 else { return true }
    emptyCount -= 1
    if isFirst { return true }
    var zeros = 64
    return pass(&zeros, upTo: range.upperBound, from: &coefficient, refining: filled)
  }

  /// Moves past coefficients until `zeros` of them were zeros.
  ///
  /// Only coefficients that are still 0 count as zeros; each of the others gets one more bit.
  private mutating func pass(_ zeros: inout Int, upTo end: Int, from coefficient: inout Int, refining filled: UInt64)
    -> Bool
  {
    while coefficient <= end {
      if filled & 1 << UInt64(coefficient) != 0 {
        guard skip(1) else { return false }
      } else if zeros == 0 {
        return true
      } else {
        zeros -= 1
      }
      coefficient += 1
    }
    return true
  }

  private mutating func bits(_ number: Int) -> Int? {
    let next = peek() >> (16 - number)
    return skip(number) ? next : nil
  }
}
