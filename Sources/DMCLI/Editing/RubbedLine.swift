/// A line that the user edits only at its end, for a terminal without escape sequences.
///
/// Deleted text is overwritten with spaces.
package struct RubbedLine {
  private var shown = ""

  package init() {}

  /// Whether a key can be used: keys that move the cursor from the end of the line, or begin a new line, cannot.
  package static func shows(_ key: Key) -> Bool {
    switch key {
    case .left, .right, .up, .down, .home, .end, .wordLeft, .wordRight, .delete, .newline: false
    default: true
    }
  }

  /// The bytes that show `line` in place of the line that is on the terminal.
  package mutating func draw(_ line: EditedLine) -> String {
    let text = visible(line.text, indent: nil)
    let common = zip(shown, text).prefix { $0 == $1 }.count
    let erased = columns(of: shown.dropFirst(common))
    defer { shown = text }
    return String(repeating: "\u{8} \u{8}", count: erased) + text.dropFirst(common)
  }

  package mutating func leave() -> String {
    shown = ""
    return "\r\n"
  }
}
