internal import DMKit
internal import Glibc

/// A standard stream.
package enum Stream: Int32, Sendable {
  case input = 0
  case output = 1
  case error = 2
}

package func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

/// A progress line for work of over a second, when standard error is a terminal.
package final class Progress {
  private let name: String
  private let isShown: Bool
  private var next = Timestamp.now.microseconds + 1_000_000
  private var hasShown = false

  package init(_ call: Invocation) {
    name = call.command.name
    isShown = isTerminal(.error) && !call.isQuiet
  }

  /// May be called often; the text is shown at most five times a second.
  package func show(_ text: @autoclosure () -> String) {
    guard isShown, case let now = Timestamp.now.microseconds, now >= next else { return }
    next = now + 200_000
    hasShown = true
    put("\r\(name): \(visible(text()))")
  }

  package func clear() { if hasShown { put("\r\u{1B}[K") } }

  private func put(_ text: String) { _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) } }
}

/// A text that the user writes in `$VISUAL` or `$EDITOR`; its file stays when the text could not be sent.
package struct EditedText {
  package let path: String
  package let text: String

  /// Opens a text in the editor, and waits for the editor to end.
  ///
  /// Call it before the store is opened, so that no lock is held meanwhile. The corresponding C function is `system`,
  /// whose shell splits the editor's arguments.
  ///
  /// - Throws: `cannot_create`, `io_error`, `bad_field` when the editor fails, `invalid_utf8`.
  package init(_ text: String) throws {
    var template = Array(
      "\(try environment("TMPDIR") ?? "/tmp")/dm-send-\(String(repeating: "X", count: 6))".utf8CString)
    let descriptor = mkstemp(&template)
    let path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    guard descriptor >= 0 else {
      throw DMError(.cannotCreate, "cannot create '\(path)': \(String(cString: strerror(errno)))", subject: path)
    }
    let written = text.withCString { write(descriptor, $0, strlen($0)) }
    // Before the editor starts, because it would inherit the descriptor.
    guard close(descriptor) == 0, written == text.utf8.count else {
      throw DMError(.inputOutput, "cannot write '\(path)'", subject: path)
    }
    let editor = try environment("VISUAL") ?? environment("EDITOR") ?? "vi"
    setenv("DM_EDITED", path, 1)
    guard system("\(editor) \"$DM_EDITED\"") == 0 else {
      throw DMError(
        .badField, "the editor '\(editor)' failed and nothing was sent; what it left is in '\(path)'", subject: editor)
    }
    // The editor may have replaced the file.
    let edited = open(path, O_RDONLY | O_CLOEXEC)
    guard edited >= 0 else { throw DMError(.inputOutput, "cannot read '\(path)' back", subject: path) }
    defer { close(edited) }
    var input = LineInput(descriptor: edited)
    self.path = path
    do {
      self.text = try input.text(limit: Outgoing.textLimit)
    } catch let error as DMError {
      throw error.naming(path)
    }
  }

  /// Runs `body`, and removes the file unless it fails.
  package func keeping<T>(_ body: (String) throws -> T) throws -> T {
    do {
      let result = try body(text)
      unlink(path)
      return result
    } catch let error as DMError {
      if text.isEmpty {
        unlink(path)
        throw error
      }
      throw error.naming(path)
    }
  }
}

extension DMError {
  /// The same error, with the path of the text that could not be sent.
  fileprivate func naming(_ path: String) -> DMError {
    DMError(code, "\(message); what you wrote is in '\(path)'", subject: subject)
  }
}
