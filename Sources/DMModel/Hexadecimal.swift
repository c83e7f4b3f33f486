package func hexDigit(_ value: UInt64) -> UInt8 {
  let value = UInt8(value & 15)
  return value < 10 ? 48 + value : 87 + value
}

package func hexValue(_ byte: UInt8) -> UInt64? {
  switch byte {
  case 48...57: UInt64(byte - 48)
  case 65...70: UInt64(byte - 55)
  case 97...102: UInt64(byte - 87)
  default: nil
  }
}

/// Two lower-case digits for each byte.
package func hexadecimal(_ bytes: [UInt8]) -> String {
  String(decoding: bytes.flatMap { [hexDigit(UInt64($0 >> 4)), hexDigit(UInt64($0))] }, as: UTF8.self)
}

/// The bytes of hexadecimal digits of either case; nil if the text is anything else.
package func bytes(hexadecimal text: String) -> [UInt8]? {
  let digits = Array(text.utf8)
  guard digits.count % 2 == 0 else { return nil }
  var bytes: [UInt8] = []
  for offset in stride(from: 0, to: digits.count, by: 2) {
    guard let high = hexValue(digits[offset]), let low = hexValue(digits[offset + 1]) else { return nil }
    bytes.append(UInt8(high << 4 | low))
  }
  return bytes
}
