package import CSystem
package import DMMedia
internal import DMModel
internal import DMSystem
internal import Glibc

/// The folder of a store, and whether the user named it.
public struct StoreLocation: Hashable, Sendable {
  /// The path of the folder, absolute or relative to the working directory.
  public let directory: String
  /// Whether the user named the store: an absent default store is empty, an absent named store is an error.
  package let isNamed: Bool
  /// The time that a write waits for the lock of the store before it fails with `busy`.
  package let busyTimeout: Duration

  package static let standardBusyTimeout = Duration.seconds(5)

  /// Makes a location; touches no file.
  ///
  ///
  /// - Parameters:
  ///   - directory: the path of the folder, absolute or relative to the working directory.
  ///   - isNamed: whether an absent store is an error (`no_store`) for readers; otherwise it counts as empty.
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

  /// The identity of a file, which differs from that of another file with the same name.
  package struct File: Equatable {
    package let device: dev_t
    package let number: ino_t

    package init(device: dev_t, number: ino_t) {
      self.device = device
      self.number = number
    }
  }

  /// The identity of the database file; nil if there is none.
  package func file() -> File? {
    var status = stat()
    return stat(database, &status) == 0 ? File(device: status.st_dev, number: status.st_ino) : nil
  }

  /// Whether the store exists, determined without opening a file: closing any descriptor of a database drops the locks
  /// that this process holds on it (sqlite.org/howtocorrupt.html, section 2.2).
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

  /// Refuses a network file system, because the WAL needs memory that all processes share (sqlite.org/wal.html, section
  /// 1).
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

  /// Refuses a folder in which no store can be made, before anything is created.
  ///
  /// - Throws: `store_damaged` if a store there has lost its database, `network_file_system`.
  package func refuseUnfit() throws {
    try refuseEmptied { try state() == .absent }
    var nearest = directory
    while nearest != "/", nearest != ".", access(nearest, F_OK) != 0 { nearest = folder(of: nearest) }
    try refuseNetworkFileSystem(of: nearest)
  }

  /// Creates the folder and the empty database, both accessible to their owner only.
  ///
  /// Call it before any connection is opened: SQLite copies the mode of the database to the WAL.
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

  /// Runs `body` with the folder in place; if `body` fails, removes the folders that were created for it.
  package func keepingFolders<T>(_ body: () throws -> T) throws -> T {
    if try state() == .present { return try body() }
    let made = try createFolders()
    do {
      return try body()
    } catch {
      // Another process may have put files into them since; folders that are not empty stay.
      if !made.isEmpty { rmdir(contents.path) }
      for path in made.reversed() where rmdir(path) != 0 { break }
      throw error
    }
  }

  /// Creates the folder and those of its parents that are missing.
  ///
  /// - Returns: the folders that were created, the outermost first.
  @discardableResult
  package func createFolders() throws -> [String] {
    var made: [String] = []
    var path = ""
    // Split as bytes: a slash followed by a combining mark is one Character, but still a separator.
    for part in directory.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      path += String(Substring(part))
      if !path.isEmpty {
        if mkdir(path, path == directory ? 0o700 : 0o777) == 0 {
          // The name of a folder is stored in its parent, and fsync(2) of the new folder does not make that durable.
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
