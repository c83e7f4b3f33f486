package import DMModel
internal import Glibc

/// The result of creating a file or folder.
package enum Creation {
  case made
  /// A file or folder of that name existed.
  case existed
  case failed(SystemFailure)
}

/// Makes a folder.
///
/// - Parameter permissions: as in mkdir(2); by default, only the owner of the folder can access it.
package func createFolder(_ path: String, permissions: UInt32 = 0o700) -> Creation {
  if mkdir(path, permissions) == 0 { return .made }
  return errno == EEXIST || errno == EISDIR ? .existed : .failed(.current)
}

/// Makes an empty file that only its owner can access.
package func createFile(_ path: String) -> Creation {
  let descriptor = open(path, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_RDWR, 0o600)
  guard descriptor >= 0 else { return errno == EEXIST ? .existed : .failed(.current) }
  close(descriptor)
  return .made
}

/// Renames a file, and replaces a file that has the new name: rename(2).
///
/// - Throws: `cannot_create`.
package func moveFile(_ path: String, to target: String) throws(DMError) {
  guard rename(path, target) == 0 else { throw fileError(.cannotCreate, "create", target) }
}

/// Renames a folder, and replaces an empty folder that has the new name: rename(2).
///
/// - Returns: false if a file, or a folder that is not empty, has the new name.
/// - Throws: `cannot_create`.
package func moveFolder(_ path: String, to target: String) throws(DMError) -> Bool {
  if rename(path, target) == 0 { return true }
  let reason = SystemFailure.current
  guard [EEXIST, ENOTEMPTY, ENOTDIR, EBUSY].contains(reason.number) else {
    throw fileError(.cannotCreate, "create", target, reason)
  }
  return false
}

/// Gives a file a second name.
///
/// Unlike rename(2), link(2) replaces nothing, even if another process creates the file at the same time.
package func linkFile(_ path: String, as name: String) throws(SystemFailure) {
  guard link(path, name) == 0 else { throw .current }
}

/// - Returns: whether the file was removed.
@discardableResult
package func removeFile(_ path: String) -> Bool { unlink(path) == 0 }

/// - Returns: whether the folder was removed; false if it is not empty.
@discardableResult
package func removeEmptyFolder(_ path: String) -> Bool { rmdir(path) == 0 }

/// Lets only the owner of a file access it.
///
/// - Throws: `cannot_create`.
package func makePrivate(_ path: String) throws(DMError) {
  guard chmod(path, 0o600) == 0 else { throw fileError(.cannotCreate, "protect", path) }
}

/// Refuses a folder in which this process cannot make files.
///
/// - Throws: `read_only_store`, `io_error`.
package func refuseUnwritable(folder path: String) throws(DMError) {
  guard access(path, W_OK | X_OK) == 0 else { throw storeError("write to", path) }
}

/// The absolute path without symbolic links; nil if the file does not exist.
package func wholePath(_ path: String) -> String? {
  guard let whole = realpath(path, nil) else { return nil }
  defer { free(whole) }
  return String(cString: whole)
}

/// The path itself if it exists, otherwise the innermost existing folder above it.
package func nearestExisting(_ path: String) -> String {
  var nearest = path
  while nearest != "/", nearest != ".", FileStatus(nearest) == nil { nearest = folder(of: nearest) }
  return nearest
}
