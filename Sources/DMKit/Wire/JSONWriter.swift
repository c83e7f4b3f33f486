/// JSON text in a buffer: compact, in the order in which it is written.
///
/// Strings are exact and safe: whatever could act on a terminal, split a line or reorder it is written
/// as `\u` and four digits (the set is `isHidden`), which RFC 8259, section 7, allows anywhere.
public struct JSONWriter: Sendable {
  public private(set) var bytes: [UInt8] = []
  private var needsComma = false

  public init() {}

  /// Empties the buffer and keeps its memory.
  public mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Ends a record: one line feed, nothing before it.
  public mutating func endLine() {
    bytes.append(UInt8(ascii: "\n"))
    needsComma = false
  }

  /// Text that is no JSON, for those who print both.
  package mutating func append(raw text: String) { bytes.append(contentsOf: text.utf8) }

  /// Lines that another has written.
  package mutating func append(lines: [UInt8]) { bytes.append(contentsOf: lines) }

  public mutating func object(_ members: (inout JSONWriter) throws -> Void) rethrows {
    open(UInt8(ascii: "{"))
    try members(&self)
    close(UInt8(ascii: "}"))
  }

  public mutating func array(_ elements: (inout JSONWriter) throws -> Void) rethrows {
    open(UInt8(ascii: "["))
    try elements(&self)
    close(UInt8(ascii: "]"))
  }

  private mutating func open(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func close(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// A member's name; its value comes next.
  ///
  /// Names are literals of plain ASCII.
  public mutating func key(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// The same, for a name that is made at run time.
  mutating func key(name: String) {
    value(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  public mutating func value(_ number: Int) {
    separate()
    append(number)
  }

  private mutating func append(_ number: Int) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var place = 20
      var rest = number.magnitude
      repeat {
        place -= 1
        digits[place] = UInt8(truncatingIfNeeded: 48 + rest % 10)
        rest /= 10
      } while rest > 0
      if number < 0 { bytes.append(UInt8(ascii: "-")) }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[place...]))
    }
  }

  /// Seconds, with up to three decimals.
  mutating func value(seconds duration: Duration) {
    let milliseconds = duration / .milliseconds(1)
    let rounded = Int(milliseconds.rounded())
    value(rounded / 1000)
    if rounded % 1000 == 0 { return }
    bytes.append(UInt8(ascii: "."))
    var digits = [rounded / 100 % 10, rounded / 10 % 10, rounded % 10]
    while digits.last == 0 { digits.removeLast() }
    for digit in digits { bytes.append(UInt8(48 + digit)) }
  }

  public mutating func value(_ flag: Bool) {
    separate()
    bytes.append(contentsOf: flag ? "true".utf8 : "false".utf8)
  }

  public mutating func value(_ time: Timestamp) {
    separate()
    time.withRFC3339 { quoted($0) }
  }

  public mutating func value(_ id: Identifier) {
    separate()
    id.withText { quoted($0) }
  }

  private mutating func quoted(_ plain: UnsafeBufferPointer<UInt8>) {
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: plain)
    bytes.append(UInt8(ascii: "\""))
  }

  public mutating func value(_ text: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { escape($0) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// A text, a colon and a number as one string: what a reference is made of, without making it first.
  mutating func value(_ text: String, colon number: Int) {
    value(text)
    bytes.removeLast()
    bytes.append(UInt8(ascii: ":"))
    append(number)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Copies stretches that need no escape, and escapes what lies between them.
  private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
    var copied = 0
    var place = 0
    while place < text.count {
      let byte = text[place]
      guard isSuspect[Int(byte)] else {
        place += 1
        continue
      }
      guard let (scalar, length) = hiddenScalar(text, place) else {
        place += 1
        continue
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[copied..<place]))
      append(escaped: scalar)
      place += length
      copied = place
    }
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[copied...]))
  }

  /// The character at a place and its length, when it has to be escaped.
  private func hiddenScalar(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> (UInt32, Int)? {
    let byte = UInt32(text[place])
    if byte < 0x80 { return (byte, 1) }
    let length = byte < 0xE0 ? 2 : 3
    guard place + length <= text.count else { return nil }
    var value = byte & (length == 2 ? 0x1F : 0x0F)
    for next in text[(place + 1)..<(place + length)] { value = value << 6 | UInt32(next & 0x3F) }
    guard let scalar = Unicode.Scalar(value), isHidden(scalar) else { return nil }
    return (value, length)
  }

  private mutating func append(escaped scalar: UInt32) {
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

/// Bytes with which something may begin that has to be escaped: `"`, `\`, the controls, and the lead
/// bytes of the hidden characters beyond ASCII.
private let isSuspect: [Bool] = (0...255).map { byte in
  byte < 0x20 || [0x22, 0x5C, 0x7F, 0xC2, 0xD8, 0xE2, 0xEF].contains(byte)
}

// MARK: Members that may be absent

extension JSONWriter {
  public mutating func member(_ name: StaticString, _ text: String?) {
    guard let text else { return }
    key(name)
    value(text)
  }

  public mutating func member(_ name: StaticString, _ number: Int?) {
    guard let number else { return }
    key(name)
    value(number)
  }

  public mutating func member(_ name: StaticString, _ flag: Bool) {
    key(name)
    value(flag)
  }

  public mutating func member(_ name: StaticString, _ time: Timestamp?) {
    guard let time else { return }
    key(name)
    value(time)
  }

  public mutating func member(_ name: StaticString, _ id: Identifier?) {
    guard let id else { return }
    key(name)
    value(id)
  }

  mutating func member(_ name: StaticString, _ cursor: Cursor?) {
    guard let cursor else { return }
    key(name)
    separate()
    cursor.withText { quoted($0) }
  }
}
