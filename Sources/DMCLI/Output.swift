package import DMKit
internal import DMSystem
internal import DMWire

/// Standard output: whole lines, every write checked.
///
/// A finite list is written in large pieces; a program that follows, or that reads lines, flushes after each batch.
package final class Output {
  private let descriptor: Int32
  private var json = JSONWriter()
  private let isPipe: Bool

  /// The most bytes that are buffered before a write.
  private static let capacity = 64 * 1024

  package init(descriptor: Int32 = Stream.output.rawValue) {
    self.descriptor = descriptor
    isPipe = FileStatus(descriptor: descriptor).map { $0.kind != .regular } ?? false
  }

  /// - Throws: `io_error` when the buffer cannot be written.
  package func write(_ record: some Record) throws {
    json.line(record)
    if json.bytes.count >= Self.capacity { try flush() }
  }

  /// Text that is written as it is.
  package func write(_ text: String) throws {
    json.append(raw: text)
    if json.bytes.count >= Self.capacity { try flush() }
  }

  /// Lines that are complete, each with its LF.
  package func write(lines: [UInt8]) throws {
    json.append(lines: lines)
    if json.bytes.count >= Self.capacity { try flush() }
  }

  /// Bytes of an attachment, which are not buffered.
  package func write(content bytes: UnsafeRawBufferPointer) throws {
    try flush()
    try write(bytes[...])
  }

  func write(_ document: JSONWriter) throws {
    try flush()
    json = document
    try flush()
  }

  /// Writes the buffer.
  ///
  /// A pipe gets pieces of whole lines that are written whole or not at all (`atomicPipeWrite`): a
  /// program that dies of a signal leaves no half line.
  package func flush() throws {
    try json.bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = isPipe ? Self.lines(of: rest) : rest
        try write(piece)
        rest = rest[piece.endIndex...]
      }
    }
    json.removeAll()
  }

  private static func lines(of bytes: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    let lineFeed = UInt8(ascii: "\n")
    if let end = bytes.prefix(atomicPipeWrite).lastIndex(of: lineFeed) { return bytes[...end] }
    // A longer line is written alone.
    return bytes[...(bytes.firstIndex(of: lineFeed) ?? bytes.endIndex - 1)]
  }

  private func write(_ bytes: Slice<UnsafeRawBufferPointer>) throws {
    var rest = UnsafeRawBufferPointer(rebasing: bytes)
    while !rest.isEmpty {
      do {
        rest = UnsafeRawBufferPointer(rebasing: rest[try writeSome(rest, to: descriptor)...])
      } catch {
        // The signal is blocked, or the caller's descriptor is odd: end as if it had come.
        if error.isBrokenPipe { Signal.brokenPipe.end() }
        json.removeAll()
        throw DMError(.inputOutput, "cannot write to standard output: \(error.text)")
      }
    }
  }
}

/// Prints one line on standard error, safe for a terminal.
package func printError(_ program: String, _ message: String) {
  writeOnce(Array("\(program): \(visible(message))\n".utf8), to: Stream.error.rawValue)
}
