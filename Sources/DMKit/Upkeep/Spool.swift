internal import CSystem
internal import Glibc

/// Bytes of lines that wait in a file without a name until the transaction is over in which they were read.
final class Spool {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var isAtEnd = false

  private static let capacity = 64 * 1024

  /// In a folder that is as private as what is written, or where temporary files go.
  init(in folder: String) throws(DMError) {
    var path: String
    do {
      path = try temporaryName(in: folder, ".spool-")
    } catch {
      path = try temporaryName(in: "/tmp", "dm-spool-")
    }
    descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw fileFault(.inputOutput, "open", path) }
    unlink(path)
  }

  deinit { close(descriptor) }

  func append(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= Self.capacity { try flush() }
  }

  private func flush() throws {
    try buffer.withUnsafeBytes { try writeAll($0, to: descriptor, "a temporary file") }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Goes back to the beginning, to be read.
  func rewind() throws {
    try flush()
    lseek(descriptor, 0, SEEK_SET)
  }

  /// The next whole lines; nil at the end.
  func next() throws -> [UInt8]? {
    while !isAtEnd {
      var chunk = [UInt8](repeating: 0, count: Self.capacity)
      let count = try chunk.withUnsafeMutableBytes { try readSome(descriptor, into: $0, "a temporary file") }
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
