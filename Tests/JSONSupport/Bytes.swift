import Foundation
import Glibc

/// The next offset of a byte, by memchr(3).
package func nextOffset(of byte: UInt8, in buffer: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
  guard start < buffer.count, let base = buffer.baseAddress,
    let found = memchr(base + start, Int32(byte), buffer.count - start)
  else { return nil }
  return UnsafeRawPointer(found) - UnsafeRawPointer(base)
}

/// The text of bytes; nil if they are not valid UTF-8.
package func exactText(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
  var text = String(decoding: bytes, as: UTF8.self)
  let isSame = text.withUTF8 { decoded in
    guard let one = decoded.baseAddress, let other = bytes.baseAddress else { return decoded.count == bytes.count }
    return decoded.count == bytes.count && memcmp(one, other, bytes.count) == 0
  }
  return isSame ? text : nil
}

/// All control characters of ASCII, and the first bytes of the other hidden characters.
///
/// NUL only ends the list, because strcspn(3) stops at it anyway.
private let suspects: [CChar] =
  (Array(1...0x1F) + [0x7F, 0xC2, 0xD8, 0xE2, 0xEF, 0]).map { CChar(bitPattern: $0) }

/// The characters of a text that could act on a terminal or split a line: C0, DEL, C1, U+2028/9, the bidi controls and
/// U+FEFF; or `invalid UTF-8`.
package func hiddenBytes(in bytes: [UInt8], allowing allowed: Set<UInt8> = []) -> [String] {
  let text = bytes.withUnsafeBufferPointer(exactText)
  guard let text else { return ["invalid UTF-8"] }
  // Most lines have none of these bytes, so their characters need not be checked.
  let clear = (bytes + [0]).withUnsafeBufferPointer { buffer in
    buffer.withMemoryRebound(to: CChar.self) { $0.baseAddress.map { strcspn($0, suspects) } ?? 0 }
  }
  if clear == bytes.count { return [] }
  var found: [String] = []
  for scalar in text.unicodeScalars {
    switch scalar.value {
    case 0...0x1F: if !allowed.contains(UInt8(scalar.value)) { fallthrough }
    case 0x7F...0x9F, 0x61C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
      found.append("U+" + String(scalar.value, radix: 16, uppercase: true))
    default: break
    }
  }
  return found
}
