internal import DMSystem

/// A line that the user types on the terminal of standard input.
struct TypedLine {
  private let terminal: KeyTerminal
  private var line = EditedLine()
  private var drawn = DrawnLine()
  /// Used instead of `drawn` on a terminal without escape sequences, and for a screen reader.
  private var rubbed: RubbedLine?

  enum Outcome {
    case edited
    /// The user has entered a text, which is not empty.
    case entry(String)
    case end
  }

  /// - Throws: `io_error`.
  init(isPlain: Bool) throws {
    rubbed = try isPlain || environment("TERM") ?? "dumb" == "dumb" ? RubbedLine() : nil
    terminal = try KeyTerminal(bracketsPastes: rubbed == nil)
  }

  mutating func take(_ key: Key) -> Outcome {
    switch key {
    case .enter where !line.isEmpty:
      draw()
      goBelow()
      return .entry(line.take())
    case .endOfInput where line.isEmpty:
      draw()
      return .end
    case .redraw where rubbed == nil:
      drawn = DrawnLine()
      terminal.show(Screen.clearing)
    case .tab: _ = line.apply(.character("\t"))
    default: if rubbed == nil || RubbedLine.shows(key) { _ = line.apply(key) }
    }
    return .edited
  }

  mutating func draw() {
    let size = terminal.size
    terminal.show(rubbed?.draw(line) ?? drawn.draw(line, width: size.columns, height: size.rows))
  }

  private mutating func goBelow() { terminal.show(rubbed?.leave() ?? drawn.leave()) }

  /// Restores the terminal, with the cursor below the line.
  mutating func leave() {
    if !line.isEmpty { goBelow() }
    terminal.restore()
  }

  /// Sets the terminal up again; the next `draw` shows the line.
  func resume() { terminal.take() }
}
