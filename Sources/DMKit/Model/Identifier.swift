/// A UUID of version 7 (RFC 9562, section 5.7), which sorts by the moment it was made for.
///
/// The 12 bits after the version hold the fraction of the millisecond (method 3 of section 6.2),
/// so two of one conversation sort as their messages do.
public struct Identifier: Hashable, Comparable, Sendable {
  let high: UInt64
  let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  public static func < (a: Identifier, b: Identifier) -> Bool { (a.high, a.low) < (b.high, b.low) }

  /// A new one for that moment, with 62 random bits.
  public init(at time: Timestamp) {
    // It cannot tell times before 1970 apart; they sort first.
    let (milliseconds, rest) = max(time.microseconds, 0).flooredDivision(by: 1000)
    let fraction = UInt64(rest) * 4096 / 1000
    high = UInt64(truncatingIfNeeded: milliseconds) << 16 | 0x7000 | fraction
    low = UInt64.random(in: 0..<(1 << 62)) | 1 << 63
  }

  /// Reads 8-4-4-4-12 hexadecimal digits of either case.
  public init?(_ text: some StringProtocol) {
    var digits = 0
    var high: UInt64 = 0
    var low: UInt64 = 0
    for (place, byte) in text.utf8.enumerated() {
      if place == 8 || place == 13 || place == 18 || place == 23 {
        guard byte == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard digits < 32, let value = hexValue(byte) else { return nil }
      if digits < 16 { high = high << 4 | value } else { low = low << 4 | value }
      digits += 1
    }
    guard digits == 32 else { return nil }
    self.init(high: high, low: low)
  }

  /// Its 16 bytes, as the store keeps them.
  var bytes: [UInt8] {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
  }

  /// The 36 bytes of its text, in lower case.
  func withText<T>(_ body: (UnsafeBufferPointer<UInt8>) -> T) -> T {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { buffer in
      var place = 0
      for digit in 0..<32 {
        if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
          buffer[place] = UInt8(ascii: "-")
          place += 1
        }
        let word = digit < 16 ? high : low
        buffer[place] = hexDigit(word >> UInt64(60 - digit % 16 * 4))
        place += 1
      }
      return body(UnsafeBufferPointer(buffer))
    }
  }
}

extension Identifier: CustomStringConvertible {
  public var description: String { withText { String(decoding: $0, as: UTF8.self) } }
}

func hexDigit(_ value: UInt64) -> UInt8 {
  let value = UInt8(value & 15)
  return value < 10 ? 48 + value : 87 + value
}

func hexValue(_ byte: UInt8) -> UInt64? {
  switch byte {
  case 48...57: UInt64(byte - 48)
  case 65...70: UInt64(byte - 55)
  case 97...102: UInt64(byte - 87)
  default: nil
  }
}
