internal import DMKit
internal import DMSystem

/// A standard stream.
package enum Stream: Int32, Sendable {
  case input = 0
  case output = 1
  case error = 2
}

package func isTerminal(_ stream: Stream) -> Bool { isTerminal(descriptor: stream.rawValue) }

/// Rings the terminal's bell through standard error; does nothing if standard error is not a terminal.
package func ringBell() { if isTerminal(.error) { writeOnce([7], to: Stream.error.rawValue) } }

/// A progress line for work that takes over a second, if standard error is a terminal.
package final class Progress {
  private let name: String
  private let isShown: Bool
  private var next = Timestamp.now.microseconds + 1_000_000
  private var hasShown = false

  package init(_ call: Invocation) {
    name = call.command.name
    isShown = isTerminal(.error) && !call.isQuiet
  }

  /// Shows a text; this may be called often, but a text is shown at most five times a second.
  package func show(_ text: @autoclosure () -> String) {
    guard isShown, case let now = Timestamp.now.microseconds, now >= next else { return }
    next = now + 200_000
    hasShown = true
    put("\r\(name): \(visible(text()))")
  }

  package func clear() { if hasShown { put("\r\u{1B}[K") } }

  private func put(_ text: String) { writeOnce(Array(text.utf8), to: Stream.error.rawValue) }
}

/// A text that the user has written in `$VISUAL` or `$EDITOR`; the file with the text is kept if the text cannot be
/// used.
package struct EditedText {
  package let path: String
  package let text: String

  /// Opens a text in the editor, and waits until the editor ends.
  ///
  /// The name of the file begins with the name of the program.
  ///
  /// Call this before the store is opened, so that no lock is held while the user writes. The editor is run as
  /// system(3) runs commands: a shell splits the command into words.
  ///
  /// - Throws: `cannot_create`, `io_error`, `bad_field` when the editor fails, `invalid_utf8`, `text_too_long`.
  package init(_ text: String, for command: Command) throws {
    path = try temporaryName(in: environment("TMPDIR") ?? "/tmp", "\(command.name)-")
    try Self.write(text, to: path)
    let editor = try environment("VISUAL") ?? environment("EDITOR") ?? "vi"
    guard runShell("\(editor) \"$DM_EDITED\"", with: "DM_EDITED", path) else {
      throw DMError(
        .badField, "the editor '\(editor)' failed, so its text was not used; it is in '\(path)'", subject: editor)
    }
    // Opens the path again, because the editor may have replaced the file.
    let edited = try OpenFile(path, for: .reading) { [path] _ in
      DMError(.inputOutput, "cannot read '\(path)' back", subject: path)
    }
    var input = LineInput(descriptor: edited.descriptor)
    do {
      self.text = try input.text(limit: Outgoing.textLimit)
    } catch let error as DMError {
      throw error.naming(path)
    }
    _ = consume edited
  }

  /// Writes and closes the file, so that the editor does not inherit its descriptor.
  private static func write(_ text: String, to path: String) throws(DMError) {
    try OpenFile(path, for: .writing) { fileError(.inputOutput, "write", path, $0) }.write(Array(text.utf8))
  }

  /// Runs `body` with the text, and removes the file if `body` succeeds or the text is empty.
  package func keeping<T>(_ body: (String) throws -> T) throws -> T {
    do {
      let result = try body(text)
      removeFile(path)
      return result
    } catch let error as DMError {
      if text.isEmpty {
        removeFile(path)
        throw error
      }
      throw error.naming(path)
    }
  }
}

extension DMError {
  /// This error, with the path of the text that could not be used.
  fileprivate func naming(_ path: String) -> DMError {
    DMError(code, "\(message); what you wrote is in '\(path)'", subject: subject)
  }
}
