internal import DMKit
internal import Glibc

/// A standard stream.
public enum Stream: Int32, Sendable {
  case input = 0
  case output = 1
  case error = 2
}

public func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

/// A count on standard error for what lasts over a second, when that is a terminal.
public final class Progress {
  private let name: String
  private let isShown: Bool
  private var next = Timestamp.now.microseconds + 1_000_000
  private var hasShown = false

  public init(_ call: Invocation) {
    name = call.command.name
    isShown = isTerminal(.error) && !call.isQuiet
  }

  /// Called as often as one likes; shown five times a second.
  public func show(_ text: @autoclosure () -> String) {
    guard isShown, case let now = Timestamp.now.microseconds, now >= next else { return }
    next = now + 200_000
    hasShown = true
    put("\r\(name): \(text())")
  }

  public func clear() { if hasShown { put("\r\u{1B}[K") } }

  private func put(_ text: String) { _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) } }
}

/// The text that a person writes in `$VISUAL` or `$EDITOR`, beginning with what is there.
///
/// It runs before anything of the store is opened, so that no editor ever holds a lock. The
/// corresponding C function is `system`, whose shell splits the editor's arguments as it does
/// anywhere else.
///
/// - Throws: `cannot_create`, `io_error`, `bad_field` when the editor fails, `invalid_utf8`.
public func editedText(_ text: String) throws -> String {
  var template = Array("\(environment("TMPDIR") ?? "/tmp")/dm-send-XXXXXX".utf8CString)
  let descriptor = mkstemp(&template)
  let path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
  guard descriptor >= 0 else {
    throw DMError(.cannotCreate, "cannot create '\(path)': \(String(cString: strerror(errno)))", subject: path)
  }
  defer { unlink(path) }
  let written = text.withCString { write(descriptor, $0, strlen($0)) }
  // Before the editor starts, which would inherit it.
  guard close(descriptor) == 0, written == text.utf8.count else {
    throw DMError(.inputOutput, "cannot write '\(path)'", subject: path)
  }
  let editor = environment("VISUAL") ?? environment("EDITOR") ?? "vi"
  setenv("DM_EDITED", path, 1)
  guard system("\(editor) \"$DM_EDITED\"") == 0 else {
    throw DMError(.badField, "the editor '\(editor)' failed; nothing was sent", subject: editor)
  }
  // An editor may have put another file in its place.
  let edited = open(path, O_RDONLY | O_CLOEXEC)
  guard edited >= 0 else { throw DMError(.inputOutput, "cannot read '\(path)' back", subject: path) }
  defer { close(edited) }
  var input = LineInput(descriptor: edited)
  return try input.text(limit: Outgoing.textLimit)
}
