/// A line that is edited only at its end, on a terminal without escape sequences: deleted text is overwritten with
/// spaces.
package struct RubbedLine {
  private var shown = ""

  package init() {}

  /// Whether a key is allowed: the cursor must stay at the end.
  package static func shows(_ key: Key) -> Bool {
    switch key {
    case .left, .right, .up, .down, .home, .end, .wordLeft, .wordRight, .delete, .newline: false
    default: true
    }
  }

  /// The bytes that replace the shown line with this one.
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
