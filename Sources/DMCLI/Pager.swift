internal import DMKit
internal import DMSystem

extension Invocation {
  /// Runs `body`; on a terminal, its output is shown in `$PAGER` or less(1) if it does not fit, as git(1) does.
  ///
  /// If the user leaves the pager before the end, the program ends.
  package func inPages(_ body: () throws -> Void) throws {
    let command = try environment("PAGER") ?? "if command -v less >/dev/null; then exec less; else exec cat; fi"
    guard !isJSON, !isQuiet, command != "cat", try screen().canRenew, let rows = try screen().rows else {
      return try body()
    }
    if try environment("LESS") == nil { setEnvironment("LESS", "FRX") }
    let pager = Pager(command)
    output.setPages(of: rows, pager.begin)
    try body()
    try output.flush()
    pager.end()
  }
}

/// A program that shows text in pages.
private final class Pager {
  private let command: String
  private var process: Child?
  private var input: Int32?

  init(_ command: String) { self.command = command }

  /// Starts the pager.
  ///
  /// - Returns: the descriptor to write to; nil if the pager cannot be started.
  func begin() -> Int32? {
    guard let pipe = pipeEnds() else { return nil }
    defer { closeDescriptor(pipe.reading) }
    do {
      process = try Child(["sh", "-c", command], input: pipe.reading)
    } catch {
      closeDescriptor(pipe.writing)
      return nil
    }
    // This process ignores SIGINT, because Ctrl-C is for the pager.
    Signal.interrupt.ignore()
    Signal.brokenPipe.ignore()
    input = pipe.writing
    return input
  }

  /// Closes the pager's input, and waits until the pager ends.
  func end() {
    if let input { closeDescriptor(input) }
    if let process = process.take() { _ = process.wait() }
  }
}
