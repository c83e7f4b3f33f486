internal import DMKit
internal import DMSystem

/// Lines of standard input, for a program that must not block in a read, because it also waits for other events.
package struct LineBuffer {
  private var bytes: [UInt8] = []
  /// Whether the input has ended and `next` has returned all its lines.
  package var isAtEnd: Bool { hasEnded && bytes.isEmpty }
  private var hasEnded = false
  /// The number of the last line that `next` read, from 1.
  package private(set) var number = 0

  package init() {}

  /// Reads the available bytes without waiting.
  ///
  /// - Throws: `io_error`.
  package mutating func read() throws {
    guard !hasEnded, waitUntilReadable(Stream.input.rawValue, milliseconds: 0) else { return }
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    guard let count = try readInput(into: &chunk) else { return }
    if count == 0 { hasEnded = true }
    bytes += chunk[..<count]
  }

  /// The next line; nil if none is complete.
  ///
  /// The last line of the input may lack its LF.
  ///
  /// - Throws: `invalid_utf8` for a line that is not UTF-8; the next call returns the line after it.
  package mutating func next() throws -> String? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? (hasEnded && !bytes.isEmpty ? bytes.count : nil)
    else { return nil }
    let line = bytes[..<end]
    number += 1
    bytes.removeFirst(min(bytes.count, end + 1))
    guard let text = String(validating: line, as: UTF8.self) else {
      throw DMError(.invalidUTF8, "the line is not UTF-8; convert it with iconv")
    }
    return text
  }

  /// Waits for a line; nil at the end of the input.
  package mutating func wait() throws -> String? {
    while true {
      if let line = try next() { return line }
      if hasEnded { return nil }
      _ = waitUntilReadable(Stream.input.rawValue, milliseconds: -1)
      try read()
    }
  }
}

/// Reads the available bytes of standard input; nil if there are none now, for example because another process has read
/// them.
///
/// - Throws: `io_error`.
func readInput(into chunk: inout [UInt8]) throws -> Int? {
  do {
    return try readSome(Stream.input.rawValue, into: &chunk)
  } catch {
    if error.isTemporary { return nil }
    throw DMError(.inputOutput, "cannot read standard input: \(error.text)")
  }
}
