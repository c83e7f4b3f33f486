/// A line that is edited at its end only, on a terminal without escape sequences: what is deleted is rubbed out.
package struct RubbedLine {
  private var shown = ""

  package init() {}

  /// Whether a key can be shown: the cursor stays at the end.
  package static func shows(_ key: Key) -> Bool {
    switch key {
    case .left, .right, .up, .down, .home, .end, .wordLeft, .wordRight, .delete, .newline: false
    default: true
    }
  }

  /// The bytes that show a line instead of the one that was shown.
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
