internal import CSystem
package import DMModel
internal import Glibc

/// A folder for unfinished files of one process; it is removed with its contents when this value's lifetime ends.
///
/// The process holds a lock on the folder. A folder that is not locked was left by a process that was killed, and is
/// removed.
package struct WorkFolder: ~Copyable {
  /// The kind of the unfinished files; the folder's name begins with the raw value.
  package enum Kind: String {
    /// For an attachment, in the store's folder of contents.
    case attachment = ".work-"
    /// For a backup, in the folder that will contain the backup.
    case backup = ".dm-backup-"
    /// For a restore, in the parent folder of the future store.
    case restore = ".dm-restore-"
  }

  package let path: String
  private let descriptor: Int32
  /// The path of a link to the folder; nil if there is none.
  private let trace: String?

  private static let tracePrefix = ".trace-"

  /// - Parameter other: a folder that gets a link to the work folder, so that a purge finds the work folder. If the
  ///   link cannot be made, for example in a read-only folder, there is none.
  package init(_ kind: Kind, in folder: String, tracedIn other: String? = nil) throws {
    while true {
      let path = try temporaryName(in: folder, kind.rawValue, isFolder: true)
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      if descriptor >= 0 {
        let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0
        let reason = SystemFailure.current
        // A purge may have removed the folder before it was locked.
        if isLocked, isThere(path, descriptor) {
          self.path = path
          self.descriptor = descriptor
          trace = other.flatMap { Self.makeTrace(of: path, in: $0) }
          return
        }
        close(descriptor)
        if !isLocked, reason.number != EWOULDBLOCK {
          rmdir(path)
          throw fileError(.inputOutput, "lock", path, reason)
        }
      } else if errno != ENOENT {
        throw fileError(.cannotCreate, "create", path)
      }
    }
  }

  deinit {
    removeFolder(path)
    if let trace { unlink(trace) }
    close(descriptor)
  }

  private static func makeTrace(of path: String, in folder: String) -> String? {
    guard let whole = wholePath(path) else { return nil }
    let trace = "\(folder)/\(tracePrefix)\(path.suffix(6))"
    return symlink(whole, trace) == 0 ? trace : nil
  }

  /// Removes the folders of processes that were killed.
  ///
  /// - Throws: `io_error` if `folder` cannot be read.
  package static func removeAbandoned(_ kind: Kind, in folder: String) throws(DMError) {
    for name in try names(in: folder, mayBeAbsent: true) where isName(name, of: kind) {
      removeIfAbandoned(kind, "\(folder)/\(name)")
    }
  }

  /// Whether a name may be that of a work folder, made by mkdtemp(3): a folder for backups may also contain other
  /// files.
  private static func isName(_ name: String, of kind: Kind) -> Bool {
    name.hasPrefix(kind.rawValue) && name.utf8.count == kind.rawValue.utf8.count + 6
  }

  /// Removes backup folders of killed processes, wherever they are: links in `folder` lead to them.
  package static func removeAbandoned(tracedIn folder: String) throws(DMError) {
    for name in try names(in: folder) where name.hasPrefix(tracePrefix) {
      let trace = "\(folder)/\(name)"
      if let path = wholePath(trace), isName(fileName(of: path), of: .backup) { removeIfAbandoned(.backup, path) }
      if FileStatus(trace) == nil, SystemFailure.current == .notFound { unlink(trace) }
    }
  }

  private static func removeIfAbandoned(_ kind: Kind, _ path: String) {
    var status = stat()
    // Outside of stores, other users may make such folders too, so only our own are removed.
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      kind == .attachment || status.st_uid == geteuid(), let lock = FileLock(ifFree: path)
    else { return }
    removeFolder(path)
    _ = consume lock
  }
}

/// Whether a path still leads to the file that a descriptor was opened for.
private func isThere(_ path: String, _ descriptor: Int32) -> Bool {
  guard let named = FileStatus(itself: path), let opened = FileStatus(descriptor: descriptor) else { return false }
  return named.identity == opened.identity
}
