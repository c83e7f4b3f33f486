internal import DMCLI
internal import DMModel
internal import DMUpkeep

/// Where the bytes of an export go: a file, or standard output.
final class Target {
  private enum End {
    case file(ExportFile)
    case output(Output)
  }

  /// The bytes that are not written yet.
  var bytes: [UInt8] = []
  private let end: End

  private static let capacity = 64 * 1024

  /// - Throws: `cannot_create`.
  init(file path: String) throws { end = .file(try ExportFile(path)) }

  init(_ output: Output) { end = .output(output) }

  /// Writes the bytes, if they are many.
  ///
  /// - Throws: `io_error`.
  func drain() throws { if bytes.count >= Self.capacity { try write() } }

  private func write() throws {
    switch end {
    case .file(let file): try file.write(bytes)
    case .output(let output): try output.write(lines: bytes)
    }
    bytes.removeAll(keepingCapacity: true)
  }

  /// Completes the file.
  ///
  /// - Returns: whether a file was made or changed.
  /// - Throws: `io_error`, `cannot_create`.
  func finish() throws -> Bool {
    try write()
    guard case .file(let file) = end else { return false }
    return try file.finish()
  }
}
