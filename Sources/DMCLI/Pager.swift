internal import DMKit
internal import DMSystem

extension Invocation {
  /// Runs `body`, whose text a user at a terminal gets in `$PAGER`, or in less(1), as from git(1), if it does not fit.
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

  /// Starts it.
  ///
  /// - Returns: where it reads; nil if it cannot be started.
  func begin() -> Int32? {
    guard let pipe = pipeEnds() else { return nil }
    defer { closeDescriptor(pipe.reading) }
    do {
      process = try Child(["sh", "-c", command], input: pipe.reading)
    } catch {
      closeDescriptor(pipe.writing)
      return nil
    }
    // Ctrl-C is for the pager, which goes on.
    Signal.interrupt.ignore()
    Signal.brokenPipe.ignore()
    input = pipe.writing
    return input
  }

  /// Tells it that this was all, and waits for it.
  func end() {
    if let input { closeDescriptor(input) }
    if let process = process.take() { _ = process.wait() }
  }
}
