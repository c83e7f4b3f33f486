package import DMKit
internal import DMSystem

extension Invocation {
  /// Makes a small picture of a file, and shows the progress on a terminal; '-' is standard input.
  package func picture(_ file: String) throws -> Picture {
    let messenger = try messenger()
    return try Interruption.heeded(Progress(self)) { step in
      try messenger.preparePicture(AttachmentSource(operand: file), progress: step)
    }
  }

  /// Writes the bytes of a picture to standard output.
  ///
  /// - Throws: `usage` if standard output is a terminal.
  package func write(_ picture: Picture) throws {
    if isTerminal(.output) { throw usage("a picture is bytes; write standard output to a file, with '>'") }
    try picture.bytes.withUnsafeBytes { try output.write(content: $0) }
  }
}
