internal import DMModel
internal import DMSystem

/// An upgrade of the schema of a store.
struct Upgrade {
  let location: StoreLocation
  let schema: Int
  /// The path of the copy of the database from before the upgrade; nil if the user wanted none.
  let copy: String?

  /// A clause that says to the user what happened.
  var notice: String {
    let kept = copy.map { "the copy from before is '\($0)', and is removed after 30 days" } ?? "no copy was kept"
    return "the store '\(location.directory)' was upgraded to schema \(schema), and earlier versions of dm cannot open "
      + "it; \(kept)"
  }
}

extension Store {
  /// Copies the database to the folder `upgrades`, if it has tables of an earlier schema.
  ///
  /// Call this under the write lock, and outside of a transaction. The copy has all commits, also those that are only in
  /// the WAL, and is on the disk when this function returns.
  ///
  /// - Returns: nil if the store is new, or has the present schema already.
  /// - Throws: `read_only_store`; `io_error`, for example if the disk is full. No copy is left then.
  func copyBeforeUpgrade() throws -> Upgrade? {
    guard case .version(let version) = try identity(), version < Migration.version else { return nil }
    let target = Migration.version
    switch location.upgrading {
    case .refused:
      throw DMError(
        .readOnlyStore, "the store '\(location.directory)' has schema \(version), and this process does not upgrade it",
        subject: location.directory)
    case .keepsNothing: return Upgrade(location: location, schema: target, copy: nil)
    case .keepsCopy: return try Upgrade(location: location, schema: target, copy: copyDatabase(schema: version))
    }
  }

  private func copyDatabase(schema: Int) throws -> String {
    let size = try pragma("PRAGMA page_size") * pragma("PRAGMA page_count")
    if let free = freeBytes(location.directory), free < size { throw uncopied(size, "too little is free") }
    if case .failed(let reason) = createFolder(location.upgrades, permissions: 0o700) {
      throw storeError("create", location.upgrades, reason)
    }
    // A process that was killed while it copied has left its file.
    for name in try names(in: location.upgrades) where name.hasPrefix(".new-") {
      removeFile("\(location.upgrades)/\(name)")
    }
    let building = try temporaryName(in: location.upgrades, ".new-")
    do throws(DMError) {
      try connection.copyPages(to: building)
      try syncToDisk(building)
      let path = unusedPath(schema: schema)
      try moveFile(building, to: path)
      try syncToDisk(location.upgrades)
      try syncToDisk(location.directory)
      return path
    } catch {
      removeFile(building)
      throw error.code == .inputOutput ? uncopied(size, error.message) : error
    }
  }

  /// `schema-15.sqlite`, or `schema-15-2.sqlite` and so on if the store was upgraded from that schema before.
  private func unusedPath(schema: Int) -> String {
    let start = "\(location.upgrades)/schema-\(schema)"
    var path = "\(start).sqlite"
    var number = 2
    while fileExists(path) {
      path = "\(start)-\(number).sqlite"
      number += 1
    }
    return path
  }

  private func uncopied(_ bytes: Int64, _ reason: String) -> DMError {
    DMError(
      .inputOutput,
      "cannot copy the store '\(location.directory)' before its upgrade, which needs \(bytes / (1 << 20) + 1) MiB "
        + "(\(reason)); nothing was changed", subject: location.directory, remedy: .makeRoomForCopy)
  }
}
