internal import Glibc

/// A folder for what one process prepares, gone with all that is in it when it is done.
///
/// Its owner holds a lock on it: where nobody does, he was killed, and a purge removes it.
struct WorkFolder: ~Copyable {
  let path: String
  private let descriptor: Int32

  private static let prefix = ".work-"

  init(in folder: String) throws {
    while true {
      let path = try temporaryName(in: folder, Self.prefix, isFolder: true)
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      if descriptor >= 0 {
        // A purge may have come between the two.
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0, isThere(path, descriptor) {
          self.path = path
          self.descriptor = descriptor
          return
        }
        close(descriptor)
      } else if errno != ENOENT {
        throw fileFault(.cannotCreate, "create", path)
      }
    }
  }

  deinit {
    removeFolder(path)
    close(descriptor)
  }

  /// Removes what those who were killed have left.
  static func removeAbandoned(in folder: String) {
    for name in names(in: folder) where name.hasPrefix(prefix) {
      let path = "\(folder)/\(name)"
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { continue }
      removeFolder(path)
    }
  }
}

/// Whether a name still means what a descriptor was opened by it for.
private func isThere(_ path: String, _ descriptor: Int32) -> Bool {
  var (named, opened) = (stat(), stat())
  return lstat(path, &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_ino == opened.st_ino
    && named.st_dev == opened.st_dev
}
