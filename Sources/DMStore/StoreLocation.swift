package import CSystem
package import DMMedia
internal import DMModel
internal import DMSystem
internal import Glibc

/// The folder of a store, and whether the user named it.
public struct StoreLocation: Hashable, Sendable {
  /// The path of the folder, absolute or relative to the working directory.
  public let directory: String
  /// Whether the user named it: a default store that is absent is empty, a named one that is absent is an error.
  package let isNamed: Bool
  /// The time that a write waits for the lock of the store before it fails with `busy`.
  package let busyTimeout: Duration

  package static let standardBusyTimeout = Duration.seconds(5)

  /// Makes a location; touches no file.
  ///
  /// - Parameters:
  ///   - directory: the path of the folder, absolute or relative to the working directory.
  ///   - isNamed: whether a store that is absent is an error (`no_store`) for readers; else it counts as empty.
  ///   - busyTimeout: the time that a write waits for the lock of the store before it fails with `busy`.
  public init(directory: String, isNamed: Bool, busyTimeout: Duration = .seconds(5)) {
    self.directory = directory
    self.isNamed = isNamed
    self.busyTimeout = busyTimeout
  }

  package var database: String { directory + "/dm.sqlite" }
  package var lock: String { directory + "/store.lock" }
  package var bell: String { directory + "/bell" }
  package var live: String { directory + "/live" }
  package var contents: ContentFolder { ContentFolder(directory + "/attachments") }

  package enum State { case absent, present }

  /// What tells one file from another that bears its name.
  package struct File: Equatable {
    package let device: dev_t
    package let number: ino_t

    package init(device: dev_t, number: ino_t) {
      self.device = device
      self.number = number
    }
  }

  /// Which file the database is; nil when there is none.
  package func file() -> File? {
    var status = stat()
    return stat(database, &status) == 0 ? File(device: status.st_dev, number: status.st_ino) : nil
  }

  /// Looks, without opening anything: closing any descriptor of a database drops the locks that this
  /// process holds on it (sqlite.org/howtocorrupt.html, section 2.2).
  package func state() throws -> State {
    guard let folder = try status(of: directory) else { return .absent }
    guard folder & S_IFMT == S_IFDIR else {
      throw DMError(.storeForeign, "'\(directory)' is not a folder; a store is one", subject: directory)
    }
    try refuseNetworkFileSystem()
    guard let file = try status(of: database) else { return .absent }
    guard file & S_IFMT == S_IFREG else {
      throw DMError(.storeForeign, "'\(database)' is not a regular file", subject: database, remedy: .nameStore)
    }
    return .present
  }

  private func status(of path: String) throws -> mode_t? {
    var status = stat()
    guard stat(path, &status) != 0 else { return status.st_mode }
    let reason = errno
    if reason == ENOENT || reason == ENOTDIR { return nil }
    throw DMError(.inputOutput, "cannot look at '\(path)': \(String(cString: strerror(reason)))", subject: path)
  }

  /// The write-ahead log needs memory that all processes share (sqlite.org/wal.html, section 1).
  ///
  /// The numbers are those of statfs(2): NFS, SMB, CIFS, SMB2, 9P, AFS, Coda, NCP and Ceph.
  private func refuseNetworkFileSystem(of folder: String? = nil) throws {
    let remote: [UInt32] = [
      0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997, 0x5346_414F, 0x7375_7245, 0x564C,
      0x00C3_6400,
    ]
    if remote.contains(UInt32(truncatingIfNeeded: dm_file_system(folder ?? directory))) {
      throw DMError(
        .networkFileSystem,
        "'\(directory)' is on a network file system, where a store would be damaged; use a local folder",
        subject: directory)
    }
  }

  /// Refuses, before anything is made, a place where a store cannot be.
  ///
  /// - Throws: `store_damaged` where one was that lost its database, `network_file_system`.
  package func refuseUnfit() throws {
    try refuseEmptied { try state() == .absent }
    var nearest = directory
    while nearest != "/", nearest != ".", access(nearest, F_OK) != 0 { nearest = folder(of: nearest) }
    try refuseNetworkFileSystem(of: nearest)
  }

  /// Makes the folder and the empty database, both for their owner alone, before any connection:
  /// SQLite copies the mode of the database to the log.
  package func create() throws {
    try createFolders()
    try refuseNetworkFileSystem()
    let descriptor = open(database, O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_RDWR, 0o600)
    if descriptor >= 0 {
      close(descriptor)
    } else if errno != EEXIST {
      throw cannotCreate(database, errno)
    }
  }

  /// Runs `body` with the folder in place; when it fails, removes the folders that were made for it.
  package func keepingFolders<T>(_ body: () throws -> T) throws -> T {
    if try state() == .present { return try body() }
    let made = try createFolders()
    do {
      return try body()
    } catch {
      // Another process may have put something into them meanwhile; what is not empty stays.
      if !made.isEmpty { rmdir(contents.path) }
      for path in made.reversed() where rmdir(path) != 0 { break }
      throw error
    }
  }

  /// Makes the folder and those that it stands in, as far as they are missing.
  ///
  /// - Returns: those that were made, the outermost first.
  @discardableResult
  package func createFolders() throws -> [String] {
    var made: [String] = []
    var path = ""
    // By bytes: a slash that bears a combining mark divides all the same.
    for part in directory.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      path += String(Substring(part))
      if !path.isEmpty {
        if mkdir(path, path == directory ? 0o700 : 0o777) == 0 {
          // Its name is in the folder above, which fsync(2) of the new one does not make durable.
          try syncToDisk(folder(of: path))
          made.append(path)
        } else if errno != EEXIST, errno != EISDIR {
          throw cannotCreate(path, errno)
        }
      }
      path += "/"
    }
    return made
  }

  private func cannotCreate(_ path: String, _ reason: Int32) -> DMError {
    DMError(.cannotCreate, "cannot create '\(path)': \(String(cString: strerror(reason)))", subject: path)
  }
}
