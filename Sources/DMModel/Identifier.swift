/// A UUID of version 7 (RFC 9562, section 5.7), which sorts by its time.
///
/// The 12 bits after the version contain the fraction of the millisecond (method 3 of section 6.2), so two ids of the
/// same millisecond also sort by time.
public struct Identifier: Hashable, Comparable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Compares the 128 bits, and so the times of UUIDs of version 7.
  public static func < (a: Identifier, b: Identifier) -> Bool { (a.high, a.low) < (b.high, b.low) }

  /// A new UUID for a time, with 62 random bits.
  package init(at time: Timestamp) {
    self.init(at: time, random: .random(in: 0...UInt64.max))
  }

  /// A new UUID for a time, with 62 of the given 64 random bits.
  package init(at time: Timestamp, random: UInt64) {
    // A time before 1970 becomes the start of 1970, because a UUID cannot express it; such UUIDs sort first.
    let (milliseconds, rest) = max(time.microseconds, 0).flooredDivision(by: 1000)
    let fraction = UInt64(rest) * 4096 / 1000
    high = UInt64(truncatingIfNeeded: milliseconds) << 16 | 0x7000 | fraction
    low = random >> 2 | 1 << 63
  }

  /// Reads 8-4-4-4-12 hexadecimal digits of either case.
  public init?(_ text: some StringProtocol) {
    var digits = 0
    var high: UInt64 = 0
    var low: UInt64 = 0
    for (offset, byte) in text.utf8.enumerated() {
      if offset == 8 || offset == 13 || offset == 18 || offset == 23 {
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

  /// Makes a UUID from its 16 bytes; ignores all bytes after the first 16.
  package init(bytes: [UInt8]) {
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(high: number(bytes.prefix(8)), low: number(bytes.dropFirst(8).prefix(8)))
  }

  /// The 16 bytes of the UUID, as the store contains them.
  package var bytes: [UInt8] {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
  }

  /// Writes the UUID as text, 36 bytes in lower case.
  package func write(to text: UnsafeMutableBufferPointer<UInt8>) {
    let raw = UnsafeMutableRawBufferPointer(text)
    func put(_ digits: UInt64, at offset: Int) {
      raw.storeBytes(of: UInt32(truncatingIfNeeded: digits >> 32).bigEndian, toByteOffset: offset, as: UInt32.self)
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
    (text[8], text[13], text[18], text[23]) = (hyphen, hyphen, hyphen, hyphen)
  }
}

extension Identifier: CustomStringConvertible {
  /// 36 characters: 8-4-4-4-12 lower-case hexadecimal digits.
  public var description: String {
    String(unsafeUninitializedCapacity: 36) { text in
      write(to: text)
      return 36
    }
  }
}

/// The lower 32 bits as 8 hexadecimal digits, the first in the highest byte.
///
/// All digits are computed at once, because a printed line contains several identifiers.
private func hexDigits(_ value: UInt64) -> UInt64 {
  var digits = (value & 0xFFFF_0000) << 16 | value & 0xFFFF
  digits = (digits << 8 | digits) & 0x00FF_00FF_00FF_00FF
  digits = (digits << 4 | digits) & 0x0F0F_0F0F_0F0F_0F0F
  // Adding 6 sets bit 4 of each digit that is 10 or more.
  let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
  return digits + 0x3030_3030_3030_3030 + letters * 39
}
