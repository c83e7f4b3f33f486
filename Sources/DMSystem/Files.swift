internal import CSystem
package import DMModel
internal import Glibc

/// An error about a file, with the system's reason.
package func fileError(_ code: DMError.Code, _ act: String, _ path: String, _ reason: SystemFailure = .current)
  -> DMError
{
  DMError(code, "cannot \(act) '\(path)': \(reason.text)", subject: path)
}

/// An error about writing to a file of the store: `read_only_store` or `io_error`.
package func storeError(_ act: String, _ path: String, _ reason: SystemFailure = .current) -> DMError {
  fileError(reason.isReadOnly ? .readOnlyStore : .inputOutput, act, path, reason)
}

/// The path of the folder of a file; `.` if the path has no slash.
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

/// Syncs a file or a folder to the disk.
///
/// Must not be used for a database that this process has open: closing a descriptor of the file would release SQLite's
/// locks.
package func syncToDisk(_ path: String) throws(DMError) {
  try OpenFile(path, for: .reading) { fileError(.inputOutput, "open", path, $0) }.sync()
}

/// Syncs a large file to the disk, in slices that each take less than a second on a slow disk.
///
/// - Parameter onTick: called after each slice; an error that it throws ends the sync.
package func syncToDisk(_ path: String, onTick: () throws -> Void) throws {
  let file = try OpenFile(path, for: .reading) { fileError(.inputOutput, "open", path, $0) }
  let slice = 16 << 20
  for start in stride(from: 0, to: fileSize(path), by: slice) {
    // This call only shortens the fsync(2) below: it writes no metadata, and some file systems do not support it.
    _ = dm_write_back(file.descriptor, off_t(start), off_t(slice))
    try onTick()
  }
  try file.sync()
}

/// Syncs the whole file system of a folder to the disk, for many files at once.
package func syncAllToDisk(_ folder: String) throws(DMError) {
  let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard descriptor >= 0 else { throw fileError(.inputOutput, "open", folder) }
  defer { close(descriptor) }
  guard dm_sync_file_system(descriptor) == 0 else { throw fileError(.inputOutput, "make durable", folder) }
}

/// Replaces a file with a new one that has these bytes and that only its owner can access.
///
/// - Parameter isDurable: whether the file is complete even after a crash of the machine.
/// - Throws: `cannot_create` or `io_error`; the file is then unchanged.
package func replaceFile(_ path: String, with bytes: [UInt8], isDurable: Bool = true) throws(DMError) {
  let temporary = try temporaryName(in: folder(of: path), ".dm-")
  do throws(DMError) {
    let file = try OpenFile(temporary, for: .writing) { fileError(.inputOutput, "open", temporary, $0) }
    try file.write(bytes)
    if isDurable { try file.sync() }
    try moveFile(temporary, to: path)
  } catch {
    removeFile(temporary)
    throw error
  }
  if isDurable { try syncToDisk(folder(of: path)) }
}

/// Makes an empty file or a folder that has a new name and that only its owner can access; returns its path.
package func temporaryName(in folder: String, _ prefix: String, isFolder: Bool = false) throws(DMError) -> String {
  var template = Array("\(folder)/\(prefix)XXXXXX".utf8CString)
  if isFolder {
    guard mkdtemp(&template) != nil else { throw fileError(.cannotCreate, "create a folder in", folder) }
  } else {
    let descriptor = dm_temporary_file(&template)
    guard descriptor >= 0 else { throw fileError(.cannotCreate, "create a file in", folder) }
    close(descriptor)
  }
  return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The names in a folder, in no particular order.
///
/// - Parameter mayBeAbsent: whether a folder that does not exist counts as empty.
/// - Throws: `io_error` if the folder cannot be read.
package func names(in path: String, mayBeAbsent: Bool = false) throws(DMError) -> [String] {
  guard let folder = opendir(path) else {
    if mayBeAbsent, errno == ENOENT { return [] }
    throw fileError(.inputOutput, "read the folder", path)
  }
  defer { closedir(folder) }
  var names: [String] = []
  while true {
    // Only errno distinguishes the end of the folder from an error: readdir(3).
    errno = 0
    guard let entry = readdir(folder) else { break }
    let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    if name != ".", name != ".." { names.append(name) }
  }
  guard errno == 0 else { throw fileError(.inputOutput, "read the folder", path) }
  return names
}

/// Removes a folder and its contents, as far as possible: a folder that cannot be read stays.
func removeFolder(_ path: String) {
  if case .success(let names) = Result(catching: { try names(in: path) }) {
    for name in names where unlink("\(path)/\(name)") != 0 { removeFolder("\(path)/\(name)") }
  }
  rmdir(path)
}

/// Reads the next bytes of a descriptor, as many as are available and fit; returns their number, which is 0 at the end.
package func readSome(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, _ name: String) throws -> Int {
  while true {
    let count = read(descriptor, buffer.baseAddress, buffer.count)
    if count >= 0 { return count }
    guard errno == EINTR else { throw fileError(.inputOutput, "read", name) }
  }
}

/// The size of a file in bytes; 0 if it does not exist.
package func fileSize(_ path: String) -> Int { FileStatus(path)?.size ?? 0 }

package func fileExists(_ path: String) -> Bool { FileStatus(itself: path) != nil }

/// The first `limit` bytes of a small file; nil if it cannot be read.
///
/// Must not be used for a database: closing a descriptor of the file would release SQLite's locks.
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
    guard count > 0 else { throw fileError(.inputOutput, "write", name) }
    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
  }
}
