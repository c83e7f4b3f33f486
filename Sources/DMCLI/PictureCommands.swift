package import DMKit
internal import DMSystem

extension Invocation {
  /// Makes a small picture of a file, and shows the progress on a terminal; '-' is standard input.
  package func picture(_ file: String) throws -> Picture {
    let messenger = try messenger()
    let progress = Progress(self)
    return try Interruption.heeded(progress) { interruption in
      try messenger.preparePicture(file == "-" ? .descriptor(Stream.input.rawValue) : .file(file)) { doing in
        progress.show(doing)
        try interruption.check()
      }
    }
  }

  /// Writes the bytes of a picture to standard output, unless that is a terminal.
  package func write(_ picture: Picture) throws {
    if isTerminal(.output) { throw usage("a picture is bytes; write standard output to a file, with '>'") }
    try picture.bytes.withUnsafeBytes { try output.write(content: $0) }
  }
}
