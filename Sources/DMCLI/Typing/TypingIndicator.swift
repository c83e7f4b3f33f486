internal import CSystem
package import DMKit
internal import DMSystem
internal import Glibc

/// Shows other users that the user is typing, and hides it at the end, also after a signal.
package struct TypingIndicator: ~Copyable {
  private let signal: TypingSignal?
  private let interrupts: Interrupts
  /// Restored before the program ends.
  private var terminal: KeyTerminal?
  private var isOn = false
  private var shown: Timestamp?
  private var refresh: Int64 = 0

  /// - Parameter signal: nil if no other user could see it.
  package init(_ signal: TypingSignal?) throws {
    self.signal = signal
    interrupts = try Interrupts()
  }

  deinit { if isOn { signal?.hide(unlessShownSince: shown) } }

  /// Shows typing, shows it again before it expires, or hides it.
  private mutating func show(_ isWanted: Bool) {
    let now = monotonicMicroseconds()
    if isWanted, !isOn || now >= refresh {
      shown = signal?.show()
      refresh = now + TypingSignal.refresh.microseconds
    } else if !isWanted, isOn {
      signal?.hide(unlessShownSince: shown)
    }
    isOn = isWanted
  }

  /// Waits as `listen` does; dies of a signal that ends the program.
  private mutating func wait(_ requests: inout [pollfd], until moment: Int64?) {
    for signal in listen(&requests, until: moment) { leave(signal.number) }
  }

  /// Waits until one of the streams is ready, a time comes, or typing must be shown again.
  ///
  /// - Returns: the signals that arrived and would end the program.
  private mutating func listen(_ requests: inout [pollfd], until moment: Int64?) -> [Interrupts.Signal] {
    requests.append(pollfd(fd: interrupts.descriptor, events: Int16(POLLIN), revents: 0))
    defer { requests.removeLast() }
    let due = min(moment ?? .max, isOn ? refresh : .max)
    guard poll(&requests, nfds_t(requests.count), milliseconds(until: due)) > 0 else { return [] }
    var endings: [Interrupts.Signal] = []
    while let signal = interrupts.next() {
      switch signal.number {
      case SIGCHLD: continue
      case SIGTSTP: pause()
      default: endings.append(signal)
      }
    }
    return endings
  }

  /// Stops the process for SIGTSTP, and goes on as before after SIGCONT.
  private mutating func pause() {
    show(false)
    terminal?.restore()
    raise(SIGSTOP)
    terminal?.take()
  }

  private mutating func leave(_ number: Int32) -> Never {
    show(false)
    terminal?.restore()
    dieOf(number)
  }

  // MARK: How long typing shows

  /// Shows typing for a time.
  package mutating func last(_ length: Duration) {
    let end = monotonicMicroseconds() + length.microseconds
    var nothing: [pollfd] = []
    while monotonicMicroseconds() < end {
      show(true)
      wait(&nothing, until: end)
    }
    show(false)
  }

  /// Shows typing until the end of standard input, which is copied to standard output unchanged and at once.
  ///
  /// - Throws: `io_error`.
  package mutating func passThrough() throws {
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    var waiting: ArraySlice<UInt8> = []
    while true {
      show(true)
      var streams = [
        pollfd(fd: waiting.isEmpty ? STDIN_FILENO : -1, events: Int16(POLLIN), revents: 0),
        pollfd(fd: STDOUT_FILENO, events: waiting.isEmpty ? 0 : Int16(POLLOUT), revents: 0),
      ]
      wait(&streams, until: nil)
      if waiting.isEmpty, hasGone(streams[1]) { leave(SIGPIPE) }
      if streams[1].revents != 0, !waiting.isEmpty {
        // PIPE_BUF bytes never block after poll(2) says so (pipe(7)), so that typing is shown again in time.
        waiting = waiting.dropFirst(try put(waiting.prefix(Int(PIPE_BUF)), to: STDOUT_FILENO))
      } else if streams[0].revents != 0 {
        let count = read(STDIN_FILENO, &chunk, chunk.count)
        if count == 0 { break }
        if count > 0 { waiting = chunk[..<count] }
        if count < 0, errno != EINTR, errno != EAGAIN {
          throw DMError(.inputOutput, "cannot read standard input: \(String(cString: strerror(errno)))")
        }
      }
    }
    show(false)
  }

  private mutating func put(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) throws -> Int {
    let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    if count >= 0 { return count }
    if errno == EPIPE { leave(SIGPIPE) }
    if errno == EINTR || errno == EAGAIN { return 0 }
    throw DMError(.inputOutput, "cannot write to standard output: \(String(cString: strerror(errno)))")
  }

  /// Shows typing while a command runs, and ends with its status.
  ///
  /// - Throws: `usage` when it cannot be run.
  package mutating func run(_ words: [String]) throws -> Never {
    let child = try Child(words)
    var nothing: [pollfd] = []
    while true {
      show(true)
      // The terminal sends its signals to the child too.
      for signal in listen(&nothing, until: nil) where !signal.isFromTerminal { child.send(signal.number) }
      if let status = child.ending() {
        show(false)
        end(as: status)
      }
    }
  }

  /// Shows typing while the user types on a terminal; each line goes to standard output, unless that is a terminal too.
  package mutating func keystrokes() throws {
    let terminal = try KeyTerminal()
    self.terminal = terminal
    var keys = KeystrokeClock()
    var line = KeyedLine()
    var byte: UInt8 = 0
    while true {
      let now = monotonicMicroseconds()
      show(keys.isShowing(at: now))
      var streams = [
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
      ]
      wait(&streams, until: keys.due(after: now))
      if hasGone(streams[1]) { leave(SIGPIPE) }
      guard streams[0].revents != 0 else { continue }
      guard read(STDIN_FILENO, &byte, 1) == 1 else { break }
      keys.strike(at: monotonicMicroseconds())
      switch line.take(byte) {
      case .echo(let bytes): terminal.show(bytes)
      case .line(let bytes):
        keys.stop()
        show(false)
        terminal.show([0x0A])
        if !isTerminal(.output) {
          var rest = (bytes + [0x0A])[...]
          while !rest.isEmpty { rest = rest.dropFirst(try put(rest, to: STDOUT_FILENO)) }
        }
      case .end:
        show(false)
        return
      }
    }
    show(false)
  }
}

/// Whether the other end of a stream is closed.
private func hasGone(_ request: pollfd) -> Bool { Int32(request.revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 }
