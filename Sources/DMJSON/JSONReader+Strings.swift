package import DMModel

extension JSONReader {
  /// Reads a string, whose opening quote is next.
  package mutating func string() throws(DMError) -> String {
    offset += 1
    let start = offset
    // Most strings have no escape and are taken in one piece.
    while let byte = peek(), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
      guard byte >= 0x20 else { throw control(byte) }
      offset += 1
    }
    if take(UInt8(ascii: "\"")) { return try text(bytes.extracting(start..<(offset - 1)).span) }
    var unescaped = Array(bytes[start..<offset])
    while let byte = peek() {
      guard byte >= 0x20 else { throw control(byte) }
      offset += 1
      switch byte {
      case UInt8(ascii: "\""):
        let text = try text(unescaped.span)
        guard isLenient || !unescaped.contains(0) else {
          throw DMError(.malformedLine, "not JSON: a NUL character in a string that ends at byte \(offset); remove it")
        }
        return text
      case UInt8(ascii: "\\"): try escape(into: &unescaped)
      default: unescaped.append(byte)
      }
    }
    throw fault("a string without an end")
  }

  private func control(_ byte: UInt8) -> DMError {
    byte == 0
      ? fault("a NUL character", advice: "remove it")
      : fault("a control character in a string", advice: "write it as an escape")
  }

  private func text(_ bytes: Span<UInt8>) throws(DMError) -> String {
    do throws(UTF8.ValidationError) {
      return String(copying: try UTF8Span(validating: bytes))
    } catch {
      throw DMError(.invalidUTF8, "not UTF-8: a string that ends at byte \(offset); convert it with iconv")
    }
  }

  private mutating func escape(into text: inout [UInt8]) throws(DMError) {
    guard let byte = peek() else { throw fault("a string without an end") }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "u"): text.append(contentsOf: String(try unicodeEscape()).utf8)
    default: throw fault("an unknown escape")
    }
  }

  private mutating func unicodeEscape() throws(DMError) -> Character {
    let first = try codeUnit()
    if let scalar = Unicode.Scalar(first) { return Character(scalar) }
    guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
      return try half()
    }
    let second = try codeUnit()
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { return try half() }
    return Character(scalar)
  }

  private func half() throws(DMError) -> Character {
    if isLenient { return "\u{FFFD}" }
    throw fault("half of a surrogate pair", advice: "write both halves, or the character")
  }

  private mutating func codeUnit() throws(DMError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek(), let digit = hexValue(byte) else { throw fault("a \\u without four digits") }
      value = value << 4 | UInt32(digit)
      offset += 1
    }
    return value
  }
}
