internal import CSystem
internal import Glibc

/// A fault of the system about a file, with what it says itself.
func fileFault(_ code: DMError.Code, _ act: String, _ path: String, _ reason: Int32 = errno) -> DMError {
  DMError(code, "cannot \(act) '\(path)': \(String(cString: strerror(reason)))", subject: path)
}

/// The folder that a path stands in.
func folder(of path: String) -> String {
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
  return slash == path.utf8.startIndex ? "/" : String(Substring(path.utf8[..<slash]))
}

func fileName(of path: String) -> String {
  String(
    Substring(
      path.utf8[
        (path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.utf8.startIndex)...]))
}

/// Has a file or a folder on the disk before going on.
///
/// Never one that this process has as a database: closing it would drop SQLite's locks.
func syncToDisk(_ path: String) throws(DMError) {
  let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw fileFault(.inputOutput, "open", path) }
  defer { close(descriptor) }
  guard fsync(descriptor) == 0 else { throw fileFault(.inputOutput, "make durable", path) }
}

/// A new name in a folder, for its owner alone: an empty file, or a folder.
func temporaryName(in folder: String, _ prefix: String, isFolder: Bool = false) throws(DMError) -> String {
  var template = Array("\(folder)/\(prefix)XXXXXX".utf8CString)
  if isFolder {
    guard mkdtemp(&template) != nil else { throw fileFault(.cannotCreate, "create a folder in", folder) }
  } else {
    let descriptor = dm_temporary_file(&template)
    guard descriptor >= 0 else { throw fileFault(.cannotCreate, "create a file in", folder) }
    close(descriptor)
  }
  return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// Writes all of it, to what is called `path` where it fails.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: String) throws(DMError) {
  var done = 0
  while done < bytes.count {
    let count = write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { throw fileFault(.inputOutput, "write", path) }
    done += count
  }
}

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

  func append(_ bytes: [UInt8]) throws(DMError) {
    buffer += bytes
    if buffer.count >= Self.capacity { try flush() }
  }

  private func flush() throws(DMError) {
    try buffer.withUnsafeBufferPointer { (buffer) throws(DMError) in
      try writeAll(UnsafeRawBufferPointer(buffer), to: descriptor, "a temporary file")
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Goes back to the beginning, to be read.
  func rewind() throws(DMError) {
    try flush()
    lseek(descriptor, 0, SEEK_SET)
  }

  /// The next whole lines; nil at the end.
  func next() throws(DMError) -> [UInt8]? {
    while !isAtEnd {
      var chunk = [UInt8](repeating: 0, count: Self.capacity)
      let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw fileFault(.inputOutput, "read", "a temporary file") }
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
