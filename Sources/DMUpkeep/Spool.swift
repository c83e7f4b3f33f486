internal import DMModel
internal import DMStore
internal import DMSystem

/// A temporary file, without a name, for lines that are printed after the transaction that reads them.
final class Spool {
  private let file: OpenFile
  private var buffer: [UInt8] = []
  private var isAtEnd = false

  private static let capacity = 64 * 1024

  /// The folder of the file if it is `spare`; otherwise nil.
  let spareFolder: String?

  /// - Parameters:
  ///   - folder: the folder of the file, which must be as private as the lines.
  ///   - spare: the folder to use if `folder` cannot be written to; nil for none.
  /// - Throws: `cannot_create`.
  init(in folder: String, orElse spare: String?) throws(DMError) {
    let path: String
    do {
      path = try temporaryName(in: folder, ".spool-")
      spareFolder = nil
    } catch {
      guard let spare else {
        throw DMError(
          error.code, "\(error.message); set TMPDIR to a folder for the lines, which are as private as the store",
          subject: error.subject)
      }
      path = try temporaryName(in: spare, ".dm-spool-")
      spareFolder = spare
    }
    file = try OpenFile(path, for: .readingAndWriting) { fileError(.inputOutput, "open", path, $0) }
    removeFile(path)
  }

  func append(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= Self.capacity { try flush() }
  }

  private func flush() throws {
    try buffer.withUnsafeBytes { try writeAll($0, to: file.descriptor, "a temporary file") }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Goes back to the beginning for reading.
  func rewind() throws {
    try flush()
    file.seek(to: 0)
  }

  /// The next whole lines; nil after the last.
  func next() throws -> [UInt8]? {
    while !isAtEnd {
      var chunk = [UInt8](repeating: 0, count: Self.capacity)
      let count = try chunk.withUnsafeMutableBytes { try readSome(file.descriptor, into: $0, "a temporary file") }
      if count == 0 { isAtEnd = true }
      buffer += chunk[..<count]
      guard let end = buffer.lastIndex(of: 0x0A) else { continue }
      let lines = Array(buffer[...end])
      buffer.removeFirst(lines.count)
      return lines
    }
    return nil
  }
}
