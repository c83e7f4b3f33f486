/// Turns the bytes of a terminal into keys.
///
/// Characters and sequences may be split over several reads. Unknown sequences, and bytes that are not UTF-8, are
/// ignored.
package struct KeyReader {
  private enum State {
    case text
    /// One ESC has arrived, or two.
    case escape(isDouble: Bool)
    /// Within a sequence, which begins with CSI (ESC [) or SS3 (ESC O): ECMA-48, sections 8.3.16 and 8.3.143.
    case sequence(isSS3: Bool, isDouble: Bool, parameters: [UInt8])
    /// After ESC [ [: the next byte completes a function key of the console of Linux.
    case functionKey
    /// Within a paste; `matched` bytes of its end sequence have arrived.
    case paste(matched: Int)
  }

  private var state = State.text
  /// The first bytes of an incomplete character.
  private var unfinished: [UInt8] = []
  private var pasted = ""
  private var keys: [Key] = []
  /// The attributes that the terminal has reported: DA1 (ECMA-48, section 8.3.24); nil if it has not.
  package private(set) var attributes: [Int]?

  private static let escape: UInt8 = 0x1B
  private static let pasteEnd = Array("\u{1B}[201~".utf8)

  package init() {}

  /// The keys that these bytes complete.
  ///
  /// The key Alt-A leaves the conversation. If a letter follows it in the same read, as in a text that a macro or a slow
  /// connection has put after Esc, the keys are Esc and `a`: otherwise the rest of the text would come into another
  /// conversation.
  package mutating func keys(_ bytes: some Sequence<UInt8>) -> [Key] {
    for byte in bytes { take(byte) }
    defer { keys = [] }
    guard keys.contains(.nextUnread) else { return keys }
    return keys.indices.flatMap { index -> [Key] in
      guard keys[index] == .nextUnread, index + 1 < keys.count, case .character = keys[index + 1] else {
        return [keys[index]]
      }
      return [.escape, .character("a")]
    }
  }

  /// True while the last ESC can still be either the Escape key or the start of a sequence.
  ///
  /// If no byte follows for 50 ms, call `finish`.
  package var isWaiting: Bool {
    if case .escape = state { return true }
    return false
  }

  /// Completes what is pending: an ESC becomes the Escape key, and a paste ends.
  ///
  /// More bytes may follow.
  package mutating func finish() -> [Key] {
    defer { keys = [] }
    switch state {
    case .escape(let isDouble): keys = isDouble ? [.escape, .escape] : [.escape]
    case .paste: finishPaste()
    case .text, .sequence, .functionKey: break
    }
    state = .text
    return keys
  }

  private mutating func take(_ byte: UInt8) {
    switch state {
    case .text: takeText(byte)
    case .escape(let isDouble): takeEscaped(byte, isDouble: isDouble)
    case .sequence(let isSS3, let isDouble, let parameters):
      take(byte, isSS3: isSS3, isDouble: isDouble, parameters: parameters)
    case .functionKey: state = .text
    case .paste(let matched): takePasted(byte, matched: matched)
    }
  }

  private mutating func takeText(_ byte: UInt8) {
    if byte == Self.escape {
      unfinished = []
      state = .escape(isDouble: false)
    } else if byte < 0x20 || byte == 0x7F {
      unfinished = []
      if let key = Key(control: byte) { keys.append(key) }
    } else if let scalar = scalar(byte), scalar.properties.generalCategory != .control {
      keys.append(.character(Character(scalar)))
    }
  }

  private mutating func takeEscaped(_ byte: UInt8, isDouble: Bool) {
    state = .text
    switch byte {
    case UInt8(ascii: "["), UInt8(ascii: "O"):
      state = .sequence(isSS3: byte == UInt8(ascii: "O"), isDouble: isDouble, parameters: [])
    case Self.escape:
      if isDouble { keys.append(.escape) }
      state = .escape(isDouble: true)
    default:
      if isDouble { keys.append(.escape) }
      if let key = Key(alt: byte) {
        keys.append(key)
      } else {
        // Alt with this character has no meaning, so the user typed two keys: Esc and the character.
        keys.append(.escape)
        takeText(byte)
      }
    }
  }

  private mutating func take(_ byte: UInt8, isSS3: Bool, isDouble: Bool, parameters: [UInt8]) {
    let isRxvtEnd = byte == UInt8(ascii: "$") && !parameters.isEmpty && parameters.allSatisfy { 0x30...0x39 ~= $0 }
    switch byte {
    case UInt8(ascii: "[") where parameters.isEmpty && !isSS3: state = .functionKey
    case 0x20...0x3F where !isRxvtEnd:
      state = .sequence(isSS3: isSS3, isDouble: isDouble, parameters: parameters + [byte])
    case 0x20...0x7E:
      state = .text
      finishSequence(String(decoding: parameters, as: UTF8.self), byte, isSS3: isSS3, isDouble: isDouble)
    default:
      // A byte that cannot be in a sequence, such as a control character, ends it.
      state = .text
      takeText(byte)
    }
  }

  private mutating func finishSequence(_ parameters: String, _ final: UInt8, isSS3: Bool, isDouble: Bool) {
    if !isSS3, final == UInt8(ascii: "~"), parameters == "200" {
      state = .paste(matched: 0)
    } else if !isSS3, final == UInt8(ascii: "c"), parameters.hasPrefix("?") {
      attributes = parameters.dropFirst().split(separator: ";").compactMap { Int($0) }
    } else if let key = Key(isSS3: isSS3, parameters: parameters, final: final) {
      // For a key with Alt, some terminals send an ESC before the sequence of the key.
      switch key {
      case .left where isDouble: keys.append(.wordLeft)
      case .right where isDouble: keys.append(.wordRight)
      default: keys.append(key)
      }
    }
  }

  private mutating func takePasted(_ byte: UInt8, matched: Int) {
    if byte == Self.pasteEnd[matched] {
      guard matched + 1 == Self.pasteEnd.count else {
        state = .paste(matched: matched + 1)
        return
      }
      return finishPaste()
    }
    // This ESC may be the start of the end sequence.
    let isBegun = byte == Self.escape
    for byte in Self.pasteEnd[..<matched] + (isBegun ? [] : [byte]) {
      if let scalar = scalar(byte) { pasted.unicodeScalars.append(scalar) }
    }
    state = .paste(matched: isBegun ? 1 : 0)
  }

  private mutating func finishPaste() {
    state = .text
    unfinished = []
    let text = cleaned(pasted)
    if !text.isEmpty { keys.append(.paste(text)) }
    pasted = ""
  }

  /// The scalar that a byte completes; nil if the scalar is still incomplete or is not valid.
  private mutating func scalar(_ byte: UInt8) -> Unicode.Scalar? {
    if byte & 0xC0 != 0x80 { unfinished = [] }
    unfinished.append(byte)
    let length =
      switch unfinished[0] {
      case 0..<0x80: 1
      case 0xC2..<0xE0: 2
      case 0xE0..<0xF0: 3
      case 0xF0..<0xF5: 4
      default: 0
      }
    if unfinished.count < length { return nil }
    defer { unfinished = [] }
    return String(validating: unfinished, as: UTF8.self)?.unicodeScalars.first
  }
}

/// A pasted text whose only control characters are LF, at line ends, and TAB.
private func cleaned(_ text: String) -> String {
  var result = String.UnicodeScalarView()
  var last: Unicode.Scalar?
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\r": result.append("\n")
    case "\n" where last == "\r": break
    case "\n", "\t": result.append(scalar)
    default: if scalar.properties.generalCategory != .control { result.append(scalar) }
    }
    last = scalar
  }
  return String(result)
}
