internal import DMSystem

extension TypingIndicator {
  /// The time that ESC may be the first byte of a sequence; a terminal sends those at once.
  private static let escapeTimeout: Int64 = 50_000

  /// Shows typing while the user types on a terminal; each line goes to standard output, unless that is a terminal too.
  ///
  /// - Parameter isPlain: draws nothing again.
  /// - Throws: `io_error`.
  package mutating func keystrokes(isPlain: Bool) throws {
    line = try TypedLine(isPlain: isPlain)
    var clock = KeystrokeClock()
    var reader = KeyReader()
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      line?.draw()
      let now = monotonicMicroseconds()
      typing.show(clock.isShowing(at: now))
      var streams = [
        Awaited(Stream.input.rawValue, for: .reading), Awaited(Stream.output.rawValue, for: .end),
      ]
      let escapeEnd = reader.isWaiting ? now + Self.escapeTimeout : .max
      wait(for: &streams, until: min(clock.due(after: now) ?? .max, escapeEnd))
      if streams[1].hasEnded { leave(.brokenPipe) }
      var keys: [Key] = []
      if streams[0].isReady, let count = try readInput(into: &chunk) {
        if count == 0 { break }
        keys = reader.keys(chunk[..<count])
        clock.strike(at: monotonicMicroseconds())
      } else if monotonicMicroseconds() >= escapeEnd {
        keys = reader.finish()
      }
      for key in keys {
        switch line?.take(key) {
        case .entry(let text):
          clock.stop()
          typing.show(false)
          try enter(text)
        case .end:
          typing.show(false)
          return
        case .edited, nil: continue
        }
      }
    }
    typing.show(false)
  }

  /// Writes the lines of a text to standard output; an empty one would be no message.
  private mutating func enter(_ text: String) throws {
    if isTerminal(.output) { return }
    let lines = text.split(whereSeparator: \.isLineFeed).map { $0 + "\n" }
    var rest = Array(lines.joined().utf8)[...]
    while !rest.isEmpty { rest = rest.dropFirst(try put(rest)) }
  }
}
