// Bytes of a text, without a String for each piece.

extension [UInt8] {
  mutating func add(_ text: String) { append(contentsOf: text.utf8) }

  mutating func add(_ number: Int) { add(String(number)) }

  /// Adds a text in which no character has a meaning in HTML, neither between tags nor in a quoted attribute.
  mutating func add(html text: some StringProtocol) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): add("&amp;")
      case UInt8(ascii: "<"): add("&lt;")
      case UInt8(ascii: ">"): add("&gt;")
      case UInt8(ascii: "\""): add("&quot;")
      case UInt8(ascii: "'"): add("&#39;")
      default: append(byte)
      }
    }
  }

  /// Adds a relative path as a part of a URL: all bytes but those of plain names are percent-encoded.
  mutating func add(path: String) { add(percent: path, also: "/") }

  /// Adds a text in which all bytes but ASCII letters, digits, `-`, `.`, `_` and those of `also` are percent-encoded.
  mutating func add(percent text: String, also: String = "", sign: UInt8 = UInt8(ascii: "%")) {
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: append(byte)
      case _ where also.utf8.contains(byte): append(byte)
      default:
        append(sign)
        add(hexadecimal: byte)
      }
    }
  }

  mutating func add(hexadecimal byte: UInt8) {
    for digit in [byte >> 4, byte & 15] { append(digit < 10 ? 48 + digit : 55 + digit) }
  }
}
