internal import CSQLite
internal import DMSystem

/// The file system of a connection: that of SQLite, except that it opens a WAL with frames without the flag to create it
/// (sqlite.org/vfs.html).
///
/// With this flag, SQLite syncs the folder of the WAL in the first commit of each connection, because the file may be
/// new. A program that commits once would wait for the disk twice. Instead, `syncCommits` syncs the folder before the
/// first frame of a WAL is written, so a WAL with frames needs no sync of its folder.
enum LogFiles {
  /// The name for sqlite3_open_v2(); nil for SQLite's own file system, if that cannot be copied.
  static var name: UnsafePointer<CChar>? { own.map { UnsafePointer($0.pointee.zName) } }

  // NB: unsafe, because the compiler does not know that nobody writes to the structure after it was registered.
  nonisolated(unsafe) private static let own: UnsafeMutablePointer<sqlite3_vfs>? = {
    guard let standard = sqlite3_vfs_find(nil) else { return nil }
    let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    own.initialize(to: standard.pointee)
    own.pointee.zName = UnsafeRawPointer(("dm" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
    own.pointee.pNext = nil
    own.pointee.xOpen = { _, path, file, flags, given in
      guard let standard = sqlite3_vfs_find(nil), let open = standard.pointee.xOpen else { return SQLITE_CANTOPEN }
      let hasFrames = flags & SQLITE_OPEN_WAL != 0 && path.map { fileSize(String(cString: $0)) > 0 } ?? false
      return open(standard, path, file, hasFrames ? flags & ~SQLITE_OPEN_CREATE : flags, given)
    }
    guard sqlite3_vfs_register(own, 0) == SQLITE_OK else { return nil }
    return own
  }()
}
