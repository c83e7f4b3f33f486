internal import CSystem
package import DMModel
internal import Glibc

/// A fault of the system about a file, with what it says itself.
package func fileFault(_ code: DMError.Code, _ act: String, _ path: String, _ reason: Int32 = errno) -> DMError {
  DMError(code, "cannot \(act) '\(path)': \(String(cString: strerror(reason)))", subject: path)
}

/// The same of a file of the store that was to be written to.
package func storeFault(_ act: String, _ path: String, _ reason: Int32 = errno) -> DMError {
  fileFault(reason == EROFS || reason == EACCES ? .readOnlyStore : .inputOutput, act, path, reason)
}

/// The folder that a path stands in.
package func folder(of path: String) -> String {
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
  return slash == path.utf8.startIndex ? "/" : String(Substring(path.utf8[..<slash]))
}

package func fileName(of path: String) -> String {
  String(
    Substring(
      path.utf8[
        (path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.utf8.startIndex)...]))
}

/// Has a file or a folder on the disk before going on.
///
/// Never one that this process has as a database: closing it would drop SQLite's locks.
package func syncToDisk(_ path: String) throws(DMError) {
  let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw fileFault(.inputOutput, "open", path) }
  defer { close(descriptor) }
  guard fsync(descriptor) == 0 else { throw fileFault(.inputOutput, "make durable", path) }
}

/// The same of a large file, in slices that each take less than a second on a slow disk.
///
/// - Parameter waiting: called after each slice; what it throws ends that.
package func syncToDisk(_ path: String, waiting: () throws -> Void) throws {
  let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { throw fileFault(.inputOutput, "open", path) }
  defer { close(descriptor) }
  let slice = 16 << 20
  for start in stride(from: 0, to: fileSize(path), by: slice) {
    // Only an advance: it says nothing of the file's metadata, and some file systems do not have it.
    _ = dm_write_back(descriptor, off_t(start), off_t(slice))
    try waiting()
  }
  guard fsync(descriptor) == 0 else { throw fileFault(.inputOutput, "make durable", path) }
}

/// The same of all that was written to the file system of a folder: many files at once.
package func syncAllToDisk(_ folder: String) throws(DMError) {
  let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard descriptor >= 0 else { throw fileFault(.inputOutput, "open", folder) }
  defer { close(descriptor) }
  guard dm_sync_file_system(descriptor) == 0 else { throw fileFault(.inputOutput, "make durable", folder) }
}

/// A new name in a folder, for its owner alone: an empty file, or a folder.
package func temporaryName(in folder: String, _ prefix: String, isFolder: Bool = false) throws(DMError) -> String {
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

/// The names in a folder, in no order.
///
/// - Parameter mayBeAbsent: whether a folder that is not there counts as empty.
/// - Throws: `io_error` when it cannot be read.
package func names(in path: String, mayBeAbsent: Bool = false) throws(DMError) -> [String] {
  guard let folder = opendir(path) else {
    if mayBeAbsent, errno == ENOENT { return [] }
    throw fileFault(.inputOutput, "read the folder", path)
  }
  defer { closedir(folder) }
  var names: [String] = []
  while true {
    // The only way to tell the end from a fault: readdir(3).
    errno = 0
    guard let entry = readdir(folder) else { break }
    let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if name != ".", name != ".." { names.append(name) }
  }
  guard errno == 0 else { throw fileFault(.inputOutput, "read the folder", path) }
  return names
}

/// Removes a folder of files and of folders of files, as far as it can: a folder that cannot be read stays.
func removeFolder(_ path: String) {
  if case .success(let names) = Result(catching: { try names(in: path) }) {
    for name in names where unlink("\(path)/\(name)") != 0 { removeFolder("\(path)/\(name)") }
  }
  rmdir(path)
}

/// The next bytes of a descriptor, as many as there are and fit; 0 at the end.
package func readSome(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, _ name: String) throws -> Int {
  while true {
    let count = read(descriptor, buffer.baseAddress, buffer.count)
    if count >= 0 { return count }
    guard errno == EINTR else { throw fileFault(.inputOutput, "read", name) }
  }
}

/// The size of a file in bytes; 0 when it is not there.
package func fileSize(_ path: String) -> Int {
  var status = stat()
  return stat(path, &status) == 0 ? Int(status.st_size) : 0
}

package func fileExists(_ path: String) -> Bool {
  var status = stat()
  return lstat(path, &status) == 0
}

/// The first bytes of a small file; nil when it cannot be read.
///
/// Never of a database: closing it would drop SQLite's locks.
package func readFile(_ path: String, limit: Int) -> [UInt8]? {
  let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
  guard descriptor >= 0 else { return nil }
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: limit)
  let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
  return count < 0 ? nil : Array(bytes[..<count])
}

package func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ name: String) throws(DMError) {
  var rest = bytes
  while !rest.isEmpty {
    let count = write(descriptor, rest.baseAddress, rest.count)
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { throw fileFault(.inputOutput, "write", name) }
    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
  }
}
