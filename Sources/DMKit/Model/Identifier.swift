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
    var system = SystemRandomNumberGenerator()
    self.init(at: time, using: &system)
  }

  /// The same with random bits from a supply.
  init(at time: Timestamp, using random: inout some RandomNumberGenerator) {
    // It cannot tell times before 1970 apart; they sort first.
    let (milliseconds, rest) = max(time.microseconds, 0).flooredDivision(by: 1000)
    let fraction = UInt64(rest) * 4096 / 1000
    high = UInt64(truncatingIfNeeded: milliseconds) << 16 | 0x7000 | fraction
    low = UInt64.random(in: 0..<(1 << 62), using: &random) | 1 << 63
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
      let text = UnsafeMutableRawBufferPointer(buffer)
      func put(_ digits: UInt64, at place: Int) {
        text.storeBytes(of: UInt32(truncatingIfNeeded: digits >> 32).bigEndian, toByteOffset: place, as: UInt32.self)
      }
      let (first, second) = (hexDigits(high >> 32), hexDigits(high))
      let (third, fourth) = (hexDigits(low >> 32), hexDigits(low))
      put(first, at: 0)
      put(first << 32, at: 4)
      put(second, at: 9)
      put(second << 32, at: 14)
      put(third, at: 19)
      put(third << 32, at: 24)
      put(fourth, at: 28)
      put(fourth << 32, at: 32)
      let hyphen = UInt8(ascii: "-")
      (buffer[8], buffer[13], buffer[18], buffer[23]) = (hyphen, hyphen, hyphen, hyphen)
      return body(UnsafeBufferPointer(buffer))
    }
  }
}

extension Identifier: CustomStringConvertible {
  public var description: String { withText { String(decoding: $0, as: UTF8.self) } }
}

/// The lower 32 bits as 8 characters, the first in the highest byte; all at once, for a line has several identifiers.
private func hexDigits(_ value: UInt64) -> UInt64 {
  var digits = (value & 0xFFFF_0000) << 16 | value & 0xFFFF
  digits = (digits << 8 | digits) & 0x00FF_00FF_00FF_00FF
  digits = (digits << 4 | digits) & 0x0F0F_0F0F_0F0F_0F0F
  // 6 more takes the digits from ten on over 15.
  let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
  return digits + 0x3030_3030_3030_3030 + letters * 39
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
