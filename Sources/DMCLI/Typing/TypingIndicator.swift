package import DMKit
internal import DMSystem

/// Shows other users that the user is typing, and hides the typing signal at the end, even if a signal such as SIGTERM
/// ends the program.
package struct TypingIndicator: ~Copyable {
  var typing: ShownTyping
  private let interrupts: Interrupts
  /// The line that the user types; its terminal is restored before the program ends.
  var line: TypedLine?

  /// - Parameter signal: nil if no other user could see the typing signal.
  package init(_ signal: TypingSignal?, of messenger: Messenger) throws {
    typing = ShownTyping(signal, of: messenger)
    interrupts = try Interrupts()
  }

  /// Waits as `listen` does; if a signal arrives that ends programs, hides typing and ends this program.
  mutating func wait(for streams: inout [Awaited], until deadline: Int64?) {
    for ending in listen(for: &streams, until: deadline) { leave(ending.signal) }
  }

  /// Waits until a stream is ready, the deadline passes, or typing must be shown again.
  ///
  /// - Returns: the signals that have arrived and that should end the program.
  private mutating func listen(
    for streams: inout [Awaited], until deadline: Int64?
  ) -> [(signal: Signal, isFromTerminal: Bool)] {
    streams.append(Awaited(interrupts.descriptor, for: .reading))
    defer { streams.removeLast() }
    let due = min(deadline ?? .max, typing.due)
    guard waitForAny(of: &streams, until: due) else { return [] }
    var endings: [(signal: Signal, isFromTerminal: Bool)] = []
    while let arrived = interrupts.next() {
      switch arrived.signal {
      case .childEnded, .resize: continue
      case .suspend: pause()
      default: endings.append(arrived)
      }
    }
    return endings
  }

  /// Stops the process after SIGTSTP; SIGCONT continues it.
  private mutating func pause() {
    typing.show(false)
    line?.leave()
    Signal.stop.raise()
    line?.resume()
  }

  mutating func leave(_ signal: Signal) -> Never {
    typing.show(false)
    line?.leave()
    signal.end()
  }

  // MARK: How long typing is shown

  /// Shows typing for the given time.
  package mutating func last(_ length: Duration) {
    let end = monotonicMicroseconds() + length.microseconds
    var nothing: [Awaited] = []
    while monotonicMicroseconds() < end {
      typing.show(true)
      wait(for: &nothing, until: end)
    }
    typing.show(false)
  }

  /// Shows typing until the end of standard input, and copies standard input to standard output unchanged and at once.
  ///
  /// - Throws: `io_error`.
  package mutating func passThrough() throws {
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    var waiting: ArraySlice<UInt8> = []
    while true {
      typing.show(true)
      var streams = [
        Awaited(waiting.isEmpty ? Stream.input.rawValue : nil, for: .reading),
        Awaited(Stream.output.rawValue, for: waiting.isEmpty ? .end : .writing),
      ]
      wait(for: &streams, until: nil)
      if waiting.isEmpty, streams[1].hasEnded { leave(.brokenPipe) }
      if streams[1].isReady, !waiting.isEmpty {
        // After poll(2), a write of at most PIPE_BUF bytes does not block (pipe(7)), so the loop renews the typing signal
        // before it expires.
        waiting = waiting.dropFirst(try put(waiting.prefix(atomicPipeWrite)))
      } else if streams[0].isReady, let count = try readInput(into: &chunk) {
        if count == 0 { break }
        waiting = chunk[..<count]
      }
    }
    typing.show(false)
  }

  /// Writes bytes to standard output; returns how many of them were written.
  mutating func put(_ bytes: ArraySlice<UInt8>) throws -> Int {
    do {
      return try writeSome(bytes, to: Stream.output.rawValue)
    } catch {
      if error.isBrokenPipe { leave(.brokenPipe) }
      if error.isTemporary { return 0 }
      throw DMError(.inputOutput, "cannot write to standard output: \(error.text)")
    }
  }

  /// Shows typing while a command runs, and ends this program with the status of the command.
  ///
  /// - Throws: `usage` when the command cannot be run.
  package mutating func run(_ words: [String]) throws -> Never {
    let child: Child
    do {
      child = try Child(words)
    } catch {
      throw usage("cannot run '\(words[0])': \(error.text)")
    }
    var nothing: [Awaited] = []
    while true {
      typing.show(true)
      // Signals from the terminal are not passed on, because the terminal sends them to the child, too.
      for ending in listen(for: &nothing, until: nil) where !ending.isFromTerminal { child.send(ending.signal) }
      if let ending = child.ending() {
        typing.show(false)
        ending.repeated()
      }
    }
  }
}

extension TypingIndicator {
  /// The time in microseconds in which an ESC may begin a sequence; a terminal sends the bytes of a sequence together.
  private static let escapeTimeout: Int64 = 50_000

  /// Shows typing while the user types on a terminal.
  ///
  /// Each line is written to standard output, unless standard output is a terminal.
  ///
  /// - Parameter isPlain: whether to redraw nothing, for screen readers.
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

  /// Writes the lines of a text to standard output; leaves out empty lines, because they are not valid messages.
  private mutating func enter(_ text: String) throws {
    if isTerminal(.output) { return }
    let lines = text.split(whereSeparator: \.isLineFeed).map { $0 + "\n" }
    var rest = Array(lines.joined().utf8)[...]
    while !rest.isEmpty { rest = rest.dropFirst(try put(rest)) }
  }
}
