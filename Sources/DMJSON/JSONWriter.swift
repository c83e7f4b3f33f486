package import DMModel

/// Writes compact JSON text into a buffer.
///
/// Strings are exact and safe: characters that could control a terminal, split a line or reorder it (`isHidden`), and
/// tags, are escaped. Most of them are written as `\u` and four digits, which RFC 8259, section 7, allows for any
/// character.
///
/// The type is `@usableFromInline`, because other targets do not inline the functions of a type that is only `package`.
@usableFromInline
package struct JSONWriter: Sendable {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  /// Empties the buffer and keeps its memory.
  package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Ends a record with one line feed.
  package mutating func endLine() {
    bytes.append(UInt8(ascii: "\n"))
    needsComma = false
  }

  /// Appends text that is not JSON, for programs that print both.
  package mutating func append(raw text: String) { bytes.append(contentsOf: text.utf8) }

  /// Appends lines that another writer has made.
  package mutating func append(lines: [UInt8]) { bytes.append(contentsOf: lines) }

  @inlinable
  package mutating func object(_ members: (inout JSONWriter) throws -> Void) rethrows {
    open(UInt8(ascii: "{"))
    try members(&self)
    close(UInt8(ascii: "}"))
  }

  /// Adds members to the object that was written last.
  package mutating func extendObject(_ members: (inout JSONWriter) throws -> Void) rethrows {
    bytes.removeLast()
    try members(&self)
    close(UInt8(ascii: "}"))
  }

  @inlinable
  package mutating func array(_ elements: (inout JSONWriter) throws -> Void) rethrows {
    open(UInt8(ascii: "["))
    try elements(&self)
    close(UInt8(ascii: "]"))
  }

  @usableFromInline
  mutating func open(_ bracket: UInt8) {
    append(atMost: 2) { $0.append(bracket) }
    needsComma = false
  }

  @usableFromInline
  mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  /// Appends a value, or a member's name, with the comma before it.
  ///
  /// The buffer is checked for room once, not for each byte.
  /// - Parameter count: the maximum number of bytes that `write` appends, plus one for the comma.
  @inline(__always)
  private mutating func append(atMost count: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
    let isNext = needsComma
    bytes.append(addingCapacity: count) { span in
      if isNext { span.append(UInt8(ascii: ",")) }
      write(&span)
    }
    needsComma = true
  }

  /// Writes the name of a member; the value must follow.
  ///
  /// Names are literals of plain ASCII.
  package mutating func key(_ name: StaticString) {
    append(atMost: name.utf8CodeUnitCount + 4) { span in
      span.append(UInt8(ascii: "\""))
      span.append(literal: name)
      span.append(UInt8(ascii: "\""))
      span.append(UInt8(ascii: ":"))
    }
    needsComma = false
  }

  /// Writes the name of a member; unlike names of `key(_:)`, it may need escapes.
  package mutating func key(name: String) {
    value(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func value(_ number: Int) { append(atMost: 21) { $0.append(decimal: number) } }

  /// Writes seconds with up to three decimals.
  package mutating func value(seconds duration: Duration) {
    value(thousandths: Int((duration / .milliseconds(1)).rounded()))
  }

  /// Writes a number of thousandths as a number with up to three decimals.
  package mutating func value(thousandths number: Int) {
    if number < 0, number > -1000 { append(atMost: 4) { $0.append(literal: "-0") } } else { value(number / 1000) }
    if number % 1000 == 0 { return }
    bytes.append(UInt8(ascii: "."))
    let rest = abs(number)
    var digits = [rest / 100 % 10, rest / 10 % 10, rest % 10]
    while digits.last == 0 { digits.removeLast() }
    for digit in digits { bytes.append(UInt8(48 + digit)) }
  }

  package mutating func value(_ flag: Bool) { append(atMost: 6) { $0.append(literal: flag ? "true" : "false") } }

  package mutating func null() { append(atMost: 5) { $0.append(literal: "null") } }

  package mutating func value(_ time: Timestamp) { append(atMost: 30) { $0.append(quoted: 27, time.write) } }

  package mutating func value(_ id: Identifier) { append(atMost: 39) { $0.append(quoted: 36, id.write) } }

  mutating func quoted(_ plain: UnsafeBufferPointer<UInt8>) {
    append(atMost: plain.count + 3) { span in
      span.append(UInt8(ascii: "\""))
      span.append(copying: plain)
      span.append(UInt8(ascii: "\""))
    }
  }

  package mutating func value(_ text: String) {
    var text = text
    text.withUTF8 { text in
      let plain = plainCount(text, from: 0)
      if plain == text.count { return quoted(text) }
      append(atMost: 2) { $0.append(UInt8(ascii: "\"")) }
      escape(text, plainUpTo: plain)
      bytes.append(UInt8(ascii: "\""))
    }
  }

  /// Writes `text:number` as one string, such as `bob:57`, without making a `String` of it first.
  package mutating func value(_ text: String, colon number: Int) {
    value(text)
    bytes.removeLast()
    bytes.append(addingCapacity: 22) { span in
      span.append(UInt8(ascii: ":"))
      span.append(decimal: number)
      span.append(UInt8(ascii: "\""))
    }
  }

  /// Copies the ranges that need no escape, and escapes the characters between them.
  private mutating func escape(_ text: UnsafeBufferPointer<UInt8>, plainUpTo end: Int) {
    var copied = 0
    var offset = end
    while offset < text.count {
      if let (scalar, length) = hiddenScalar(text, offset) {
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[copied..<offset]))
        append(escaped: scalar)
        offset += length
        copied = offset
      } else {
        offset += 1
      }
      offset = plainCount(text, from: offset)
    }
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[copied...]))
  }

  /// The character at an offset, and its length in bytes; nil if the character needs no escape.
  private func hiddenScalar(_ text: UnsafeBufferPointer<UInt8>, _ offset: Int) -> (UInt32, Int)? {
    let byte = UInt32(text[offset])
    if byte < 0x80 { return (byte, 1) }
    let length = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4
    guard offset + length <= text.count else { return nil }
    var value = byte & (0x7F >> UInt32(length))
    for next in text[(offset + 1)..<(offset + length)] { value = value << 6 | UInt32(next & 0x3F) }
    guard let scalar = Unicode.Scalar(value), isHidden(scalar) || isTag(scalar) else { return nil }
    return (value, length)
  }

  private mutating func append(escaped scalar: UInt32) {
    if scalar > 0xFFFF {
      append(escaped: 0xD7C0 + (scalar >> 10))
      return append(escaped: 0xDC00 | scalar & 0x3FF)
    }
    bytes.append(UInt8(ascii: "\\"))
    switch scalar {
    case 0x22, 0x5C: bytes.append(UInt8(scalar))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    default:
      bytes.append(UInt8(ascii: "u"))
      for shift in [12, 8, 4, 0] { bytes.append(hexDigit(UInt64(scalar >> UInt32(shift)))) }
    }
  }
}

/// The offset of the first byte, from `offset` on, that may begin a character to escape; `text.count` if there is none.
private func plainCount(_ text: UnsafeBufferPointer<UInt8>, from offset: Int) -> Int {
  var offset = offset
  let raw = UnsafeRawBufferPointer(text)
  while offset + 8 <= text.count, isPlain(raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)) { offset += 8 }
  let last = text.count - 8
  // Fewer than eight bytes are left: they are checked together with some of the bytes before them.
  if last >= 0, offset > last, isPlain(raw.loadUnaligned(fromByteOffset: last, as: UInt64.self)) { return text.count }
  while offset < text.count, !isSuspect(text[offset]) { offset += 1 }
  return offset
}

/// Whether a byte is `"`, `\`, a control character, or the lead byte of a hidden character beyond ASCII.
private func isSuspect(_ byte: UInt8) -> Bool {
  switch byte {
  case 0..<0x20, 0x22, 0x5C, 0x7F, 0xC2, 0xD8, 0xE2, 0xEF, 0xF3: true
  default: false
  }
}

/// Whether all of eight bytes are ASCII, and `isSuspect` is false for all of them.
private func isPlain(_ word: UInt64) -> Bool {
  let ones: UInt64 = 0x0101_0101_0101_0101
  // Each term sets the highest bit of certain bytes: in this order, those beyond ASCII, control characters, ", \ and
  // DEL. Only a suspect byte can cause a borrow from the byte after it.
  let suspects =
    word | (word &- 0x20 * ones) | ((word ^ 0x22 * ones) &- ones) | ((word ^ 0x5C * ones) &- ones)
    | (word &+ ones)
  return suspects & (0x80 * ones) == 0
}

extension OutputSpan<UInt8> {
  /// Appends at most 20 bytes.
  fileprivate mutating func append(decimal number: Int) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var power: UInt = 1
    while number.magnitude / power > 9 { power *= 10 }
    while power > 0 {
      append(UInt8(truncatingIfNeeded: 48 + number.magnitude / power % 10))
      power /= 10
    }
  }

  /// Appends a string of `count` plain bytes, all of which `write` writes.
  @inline(__always)
  fileprivate mutating func append(quoted count: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
    withUnsafeMutableBufferPointer { buffer, filled in
      let text = UnsafeMutableBufferPointer(rebasing: buffer[filled..<filled + count + 2])
      text[0] = UInt8(ascii: "\"")
      write(UnsafeMutableBufferPointer(rebasing: text[1..<count + 1]))
      text[count + 1] = UInt8(ascii: "\"")
      filled += count + 2
    }
  }

  @inline(__always)
  fileprivate mutating func append(literal: StaticString) {
    append(copying: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
  }

  @inline(__always)
  fileprivate mutating func append(copying bytes: UnsafeBufferPointer<UInt8>) {
    withUnsafeMutableBufferPointer { buffer, count in
      _ = UnsafeMutableBufferPointer(rebasing: buffer[count...]).initialize(fromContentsOf: bytes)
      count += bytes.count
    }
  }
}
