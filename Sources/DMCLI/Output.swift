package import DMKit
internal import DMWire
internal import Glibc

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
    var status = stat()
    isPipe = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
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
  /// A pipe gets pieces of whole lines that fit into PIPE_BUF, which POSIX writes whole or not at all (write(2)): a
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
    if let end = bytes.prefix(Int(PIPE_BUF)).lastIndex(of: lineFeed) { return bytes[...end] }
    // A longer line is written alone.
    return bytes[...(bytes.firstIndex(of: lineFeed) ?? bytes.endIndex - 1)]
  }

  private func write(_ bytes: Slice<UnsafeRawBufferPointer>) throws {
    var rest = UnsafeRawBufferPointer(rebasing: bytes)
    while !rest.isEmpty {
      let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        continue
      }
      if errno == EINTR { continue }
      // The signal is blocked, or the caller's descriptor is odd: end as if it had come.
      if errno == EPIPE { dieOf(SIGPIPE) }
      let reason = String(cString: strerror(errno))
      json.removeAll()
      throw DMError(.inputOutput, "cannot write to standard output: \(reason)")
    }
  }
}

/// Ends the process by a signal, so that its parent sees which signal it was.
func dieOf(_ number: Int32) -> Never {
  signal(number, SIG_DFL)
  var one = sigset_t()
  sigemptyset(&one)
  sigaddset(&one, number)
  sigprocmask(SIG_UNBLOCK, &one, nil)
  raise(number)
  _exit(128 + number)
}

/// Prints one line on standard error, safe for a terminal.
package func printError(_ program: String, _ message: String) {
  let line = "\(program): \(visible(message))\n"
  // There is nowhere to report a failure of this.
  _ = line.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
}
