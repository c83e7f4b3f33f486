/// A key that was typed on a terminal.
package enum Key: Equatable, Sendable {
  /// One scalar of a typed text; a combining character joins the character before it.
  case character(Character)
  /// A pasted text as a whole; its only control characters are LF, at line ends, and TAB.
  case paste(String)
  case enter
  /// Alt-Enter.
  case newline
  case tab, escape
  case left, right, up, down, home, end, pageUp, pageDown
  /// Alt-B and Alt-F, and the arrows to the left and right with Ctrl or Alt.
  case wordLeft, wordRight
  case backspace, delete
  /// Ctrl-W and Alt-Backspace.
  case deleteWordLeft
  /// Alt-D.
  case deleteWordRight
  /// Ctrl-U and Ctrl-K.
  case deleteToStart, deleteToEnd
  /// Ctrl-Y.
  case yank
  /// Ctrl-P and Ctrl-N.
  case previous, next
  /// Ctrl-D; in a line that is not empty, it deletes the next character.
  case endOfInput
  /// Ctrl-L.
  case redraw
  /// Ctrl-R.
  case searchHistory
  /// Alt-A.
  case nextUnread
}

extension Key {
  /// The key of a control character; nil for text, and for characters that do nothing.
  init?(control byte: UInt8) {
    switch byte {
    case 0x01: self = .home
    case 0x02: self = .left
    case 0x04: self = .endOfInput
    case 0x05: self = .end
    case 0x06: self = .right
    case 0x08, 0x7F: self = .backspace
    case 0x09: self = .tab
    case 0x0A, 0x0D: self = .enter
    case 0x0B: self = .deleteToEnd
    case 0x0C: self = .redraw
    case 0x0E: self = .next
    case 0x10: self = .previous
    case 0x12: self = .searchHistory
    case 0x15: self = .deleteToStart
    case 0x17: self = .deleteWordLeft
    case 0x19: self = .yank
    default: return nil
    }
  }

  /// The key of a byte after ESC: a terminal sends ESC and the byte for a key that is typed with Alt.
  init?(alt byte: UInt8) {
    switch byte {
    case 0x0A, 0x0D: self = .newline
    case 0x08, 0x7F: self = .deleteWordLeft
    case UInt8(ascii: "b"), UInt8(ascii: "B"): self = .wordLeft
    case UInt8(ascii: "f"), UInt8(ascii: "F"): self = .wordRight
    case UInt8(ascii: "d"), UInt8(ascii: "D"): self = .deleteWordRight
    case UInt8(ascii: "a"): self = .nextUnread
    default: return nil
    }
  }

  /// The key of an escape sequence of xterm, tmux, rxvt or the console of Linux.
  ///
  /// - Parameters:
  ///   - isSS3: true if the sequence began with ESC O, false if it began with ESC [.
  ///   - parameters: the digits and semicolons before `final`, such as `1;5`.
  init?(isSS3: Bool, parameters: String, final: UInt8) {
    // A sequence with other characters may be a reply of the terminal to a query, and is not a key.
    guard parameters.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == UInt8(ascii: ";") }) else { return nil }
    let numbers = parameters.split(separator: ";").map { UInt8($0) ?? 1 }
    // xterm sends 1 plus the sum of these numbers of the pressed keys: Shift 1, Alt 2, Ctrl 4 and Meta 8.
    var isByWord = ((numbers.last ?? 1) &- 1) & 14 > 0
    var letter = final
    // For the arrow keys, rxvt sends lower-case letters: after ESC [ with Shift, and after ESC O with Ctrl.
    if parameters.isEmpty, UInt8(ascii: "a")...UInt8(ascii: "d") ~= final {
      letter -= 0x20
      isByWord = isSS3
    }
    switch letter {
    case UInt8(ascii: "A"): self = .up
    case UInt8(ascii: "B"): self = .down
    case UInt8(ascii: "C"): self = isByWord ? .wordRight : .right
    case UInt8(ascii: "D"): self = isByWord ? .wordLeft : .left
    case UInt8(ascii: "H"): self = .home
    case UInt8(ascii: "F"): self = .end
    case UInt8(ascii: "M") where isSS3: self = .enter
    // For keys with Ctrl, Shift or both, rxvt sends ^, $ or @ instead of ~.
    case UInt8(ascii: "~"), UInt8(ascii: "^"), UInt8(ascii: "$"), UInt8(ascii: "@"):
      guard !isSS3, let key = Self.numbered(numbers.first) else { return nil }
      self = key
    default: return nil
    }
  }

  private static func numbered(_ number: UInt8?) -> Key? {
    switch number {
    case 1, 7: .home
    case 3: .delete
    case 4, 8: .end
    case 5: .pageUp
    case 6: .pageDown
    default: nil
    }
  }
}
