package import DMModel
package import DMSystem

extension StoreLocation {
  package var database: String { directory + "/dm.sqlite" }
  /// The size of the WAL in bytes; 0 if there is none.
  package var logBytes: Int { fileSize(database + "-wal") }
  package var lock: String { directory + "/store.lock" }
  package var bell: String { directory + "/bell" }
  package var live: String { directory + "/live" }
  /// The folder of the files with the vectors of messages.
  package var vectors: String { directory + "/vectors" }
  /// The files with a linked store's credentials for its hub: `joiningHub` while the store joins, `movingHub` while the
  /// hub moves, `hub` at all other times.
  ///
  /// The properties whose names end with `Authority` are the files with the certificates of the hub's authorities.
  package var hub: String { directory + "/hub" }
  package var joiningHub: String { directory + "/hub.new" }
  package var movingHub: String { directory + "/hub.moved" }
  package var movingLock: String { movingHub + ".lock" }
  package var hubAuthority: String { hub + ".crt" }
  package var joiningAuthority: String { joiningHub + ".crt" }
  package var movingAuthority: String { movingHub + ".crt" }
  /// The lock that the sync process of a linked store holds.
  package var syncLock: String { directory + "/sync.lock" }
  /// `liveHub` is the file with the state of the sync process; other processes touch `liveAsked` to request a
  /// comparison with the hub.
  package var liveHub: String { live + "/hub" }
  package var liveAsked: String { live + "/hub.asked" }
  /// The lock of the process that exchanges files with the hub.
  ///
  /// `liveFile` is the file with the progress of that process.
  package var filesLock: String { directory + "/files.lock" }
  /// The lock of the process of an agent that makes a change, if its owner limits how many changes it makes.
  package var agentsLock: String { directory + "/agents.lock" }
  package var liveFile: String { live + "/hub.file" }
  /// The file that the sync process touches each time the hub has reported who is online.
  package var livePresence: String { live + "/hub.presence" }
  /// The file that programs touch while they follow the store, so that the sync process continues to run, and the hub
  /// notifies this machine of changes.
  package var liveFollowed: String { live + "/hub.followed" }
  /// The file that programs touch when they read the store, so that the hub notifies this machine for a while.
  package var liveRead: String { live + "/hub.read" }
  /// The folder with the copies of conversations that are made when the hub was restored from a backup.
  package var forks: String { directory + "/forks" }
  /// The folder with the copies of the database from before upgrades of its schema.
  package var upgrades: String { directory + "/upgrades" }
  package var contents: ContentFolder { ContentFolder(directory + "/attachments") }

  package enum State { case absent, present }

  /// The identity of the database file; nil if there is no such file.
  package func file() -> FileIdentity? { FileStatus(database)?.identity }

  /// Whether the store exists.
  ///
  /// No file is opened for this, because closing any descriptor of a database releases the locks that this process
  /// holds on it (sqlite.org/howtocorrupt.html, section 2.2).
  package func state() throws -> State {
    guard let folder = try status(of: directory) else { return .absent }
    guard folder.kind == .folder else {
      throw DMError(.storeForeign, "'\(directory)' is not a folder; a store is one", subject: directory)
    }
    try refuseNetworkFileSystem()
    guard let file = try status(of: database) else { return .absent }
    guard file.kind == .regular else {
      throw DMError(.storeForeign, "'\(database)' is not a regular file", subject: database, remedy: .nameStore)
    }
    return .present
  }

  /// A clause that says that there is no store: a folder with other files is hardly a future store.
  package var absence: String {
    var others: [String] = []
    // The file of a store without tables does not count.
    if !fileExists(database) {
      do { others = try names(in: directory, mayBeAbsent: true) } catch { others = ["?"] }
    }
    return others.isEmpty ? "there is no store at '\(directory)' yet" : "'\(directory)' is not a store"
  }

  private func status(of path: String) throws -> FileStatus? {
    if let status = FileStatus(path) { return status }
    let reason = SystemFailure.current
    if reason.isAbsence { return nil }
    throw fileError(.inputOutput, "look at", path, reason)
  }

  /// Refuses a network file system.
  ///
  /// The WAL needs memory that all processes share (sqlite.org/wal.html, section 1), which a network file system does
  /// not provide.
  private func refuseNetworkFileSystem(of folder: String? = nil) throws {
    if isOnNetwork(folder ?? directory) {
      throw DMError(
        .networkFileSystem,
        "'\(directory)' is on a network file system, where a store would be damaged; use a local folder",
        subject: directory)
    }
  }

  /// Refuses a folder in which no store can be created.
  ///
  /// Call this before anything is created.
  ///
  /// - Throws: `network_file_system`; `store_damaged` if the folder has a store without its database.
  package func refuseUnfit() throws {
    try refuseEmptied { try state() == .absent }
    try refuseNetworkFileSystem(of: nearestExisting(directory))
  }

  /// Creates the folder and the empty database.
  ///
  /// Only the owner can access them.
  ///
  /// Call this before a connection is opened, because SQLite gives the WAL the permissions of the database.
  package func create() throws {
    try createFolders()
    try refuseNetworkFileSystem()
    if case .failed(let reason) = createFile(database) { throw fileError(.cannotCreate, "create", database, reason) }
  }

  /// Creates the folder and runs `body`.
  ///
  /// If `body` throws, removes the folders that this call created.
  package func keepingFolders<T>(_ body: () throws -> T) throws -> T {
    if try state() == .present { return try body() }
    let made = try createFolders()
    do {
      return try body()
    } catch {
      // Another process may have put files into these folders. A folder that is not empty is not removed.
      if !made.isEmpty { removeEmptyFolder(contents.path) }
      for path in made.reversed() where !removeEmptyFolder(path) { break }
      throw error
    }
  }

  /// Creates the folder, and all folders above it that do not exist.
  ///
  /// - Returns: the folders that were created, the outermost first.
  @discardableResult
  package func createFolders() throws -> [String] {
    var made: [String] = []
    var path = ""
    // The path is split as bytes, because Swift treats a slash and a combining mark after it as one Character.
    for part in directory.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      path += String(Substring(part))
      if !path.isEmpty {
        switch createFolder(path, permissions: path == directory ? 0o700 : 0o777) {
        case .made:
          // A folder's name is stored in the folder above it, so fsync(2) of the new folder does not make the name
          // durable.
          try syncToDisk(folder(of: path))
          made.append(path)
        case .existed: break
        case .failed(let reason): throw fileError(.cannotCreate, "create", path, reason)
        }
      }
      path += "/"
    }
    return made
  }
}

extension StoreLocation {
  /// Refuses a path directly in the folder of a store, or anywhere in the folders `attachments`, `live` and `upgrades` of
  /// a store.
  ///
  /// A file at one of these paths may be a part of the store. For example, if the lock file were replaced, two
  /// processes could write at the same time.
  ///
  /// - Throws: `cannot_create`.
  ///
  /// - Parameter isDeep: whether to refuse all folders of a store, also those with copies of conversations.
  package static func refuse(insideStore path: String, isDeep: Bool = false) throws(DMError) {
    // If the folder does not exist, the path is accepted here; creating the file later fails with an error that names
    // the folder.
    guard var parent = wholePath(folder(of: path)) else { return }
    var child: String?
    while true {
      if isStore(parent), isDeep || child.map({ ["attachments", "live", "upgrades"].contains($0) }) ?? true {
        throw DMError(.cannotCreate, "'\(path)' is inside a store; name a file elsewhere", subject: path)
      }
      if parent == "/" { return }
      child = fileName(of: parent)
      parent = folder(of: parent)
    }
  }

  private static func isStore(_ folder: String) -> Bool {
    let location = StoreLocation(directory: folder, isNamed: true)
    return FileStatus(location.database) != nil || FileStatus(location.lock) != nil
  }
}
