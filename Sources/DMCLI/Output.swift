internal import DMJSON
package import DMKit
internal import DMSystem

/// Standard output, written in whole lines; a write that fails is an error.
///
/// A finite list is written in large pieces. A program that follows a stream or reads lines flushes after each batch.
package final class Output {
  private var descriptor: Int32
  /// How many more lines fit on the screen, and a function that starts a pager for more lines; nil for no pager.
  private var pages: (room: Int, begin: () -> Int32?)?
  /// Whether output goes to a pager; an early end of the pager is not an error.
  private var isPaged = false
  private var json = JSONWriter()
  private let isPipe: Bool
  /// The time at which the store was last compared with the hub.
  ///
  /// If this time is set, each printed record contains it.
  var asOf: Timestamp?
  /// Whether each record has all its members, with null for those that it would leave out.
  package var hasAllFields = false

  /// The number of bytes in the buffer at which the buffer is written.
  private static let capacity = 64 * 1024

  package init(descriptor: Int32 = Stream.output.rawValue) {
    self.descriptor = descriptor
    isPipe = FileStatus(descriptor: descriptor).map { $0.kind != .regular } ?? false
  }

  /// - Throws: `io_error` when the buffer cannot be written.
  package func write(_ record: some Record) throws {
    if hasAllFields { try json.completeLine(record, asOf: asOf) } else { json.line(record, asOf: asOf) }
    if json.bytes.count >= Self.capacity { try flush() }
  }

  /// Writes a text unchanged.
  package func write(_ text: String) throws {
    json.append(raw: text)
    if json.bytes.count >= Self.capacity { try flush() }
  }

  /// Writes complete lines, each with its LF.
  package func write(lines: [UInt8]) throws {
    json.append(lines: lines)
    if pages != nil { countLines(lines.count { $0 == UInt8(ascii: "\n") }) }
    if json.bytes.count >= Self.capacity { try flush() }
  }

  /// Writes bytes of an attachment without buffering.
  package func write(content bytes: UnsafeRawBufferPointer) throws {
    try flush()
    try write(bytes)
  }

  func write(_ document: JSONWriter) throws {
    try flush()
    json = document
    try flush()
  }

  /// Makes the output go to a pager if it has more lines than fit on the screen.
  ///
  /// - Parameter begin: starts the pager, and returns the descriptor to write to.
  func setPages(of room: Int, _ begin: @escaping () -> Int32?) { pages = (room, begin) }

  private func countLines(_ count: Int) {
    guard let (room, begin) = pages else { return }
    pages = count < room ? (room - count, begin) : nil
    if pages == nil, let descriptor = begin() { (self.descriptor, isPaged) = (descriptor, true) }
  }

  /// Writes the buffer.
  ///
  /// A pipe gets whole lines, in pieces that are atomic (`atomicPipeWrite`), so that a signal leaves a partial line only
  /// if the line is longer than such a piece.
  package func flush() throws {
    try json.bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let end = isPipe ? Self.endOfLines(in: bytes, from: written) : bytes.count
        try write(UnsafeRawBufferPointer(rebasing: bytes[written..<end]))
        written = end
      }
    }
    json.removeAll()
  }

  /// The end of the lines to write next; a line that is too long for an atomic write is written alone.
  private static func endOfLines(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    let lineFeed = UInt8(ascii: "\n")
    let limit = min(start + atomicPipeWrite, bytes.count)
    var end = start
    while let last = bytes.offset(of: lineFeed, in: end..<limit) { end = last + 1 }
    if end > start { return end }
    return bytes.offset(of: lineFeed, in: limit..<bytes.count).map { $0 + 1 } ?? bytes.count
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws {
    var rest = bytes
    while !rest.isEmpty {
      do {
        rest = UnsafeRawBufferPointer(rebasing: rest[try writeSome(rest, to: descriptor)...])
      } catch {
        // SIGPIPE has not ended the process, for example because it is ignored, so the process ends here. If the user
        // has left a pager, the status is 0.
        if error.isBrokenPipe { isPaged ? endProcess(0) : Signal.brokenPipe.end() }
        json.removeAll()
        throw DMError(.inputOutput, "cannot write to standard output: \(error.text)")
      }
    }
  }
}

/// Prints one line on standard error, escaped for a terminal.
package func printError(_ program: String, _ message: String) {
  writeOnce(Array("\(program): \(visible(message))\n".utf8), to: Stream.error.rawValue)
}
