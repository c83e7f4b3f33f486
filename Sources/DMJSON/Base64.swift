private let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

/// The value of each digit; 255 for bytes that are not digits.
private let values: [UInt8] = {
  var values = [UInt8](repeating: 255, count: 256)
  for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
  return values
}()

/// Bytes as base64 with padding (RFC 4648, section 4).
package func base64(_ bytes: UnsafeRawBufferPointer) -> String {
  String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { text in
    var count = 0
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let size = min(3, bytes.count - start)
      var group: UInt32 = 0
      for digit in 0..<3 { group = group << 8 | (digit < size ? UInt32(bytes[start + digit]) : 0) }
      for digit in 0..<4 {
        text[count + digit] = digit > size ? UInt8(ascii: "=") : digits[Int(group >> (18 - 6 * UInt32(digit)) & 63)]
      }
      count += 4
    }
    return count
  }
}

/// The bytes of a base64 text; nil if it is not valid base64.
package func bytes(base64 text: String) -> [UInt8]? {
  var digits = Array(text.utf8)[...]
  guard digits.count % 4 == 0 else { return nil }
  for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(digits.count / 4 * 3 + 2)
  var (group, bits): (UInt32, UInt32) = (0, 0)
  for digit in digits {
    let value = values[Int(digit)]
    guard value < 64 else { return nil }
    (group, bits) = (group << 6 | UInt32(value), bits + 6)
    if bits >= 8 {
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: group >> bits))
    }
  }
  return bytes
}
