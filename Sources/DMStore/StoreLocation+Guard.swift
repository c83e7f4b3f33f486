package import DMModel
internal import DMSystem

extension StoreLocation {
  /// Refuses a path directly in the folder of a store, or anywhere in its folders `attachments` and `live`.
  ///
  /// Every name there has a meaning: for example, if the lock file is replaced, two processes can write at once.
  ///
  /// - Throws: `cannot_create`.
  package static func refuse(insideStore path: String) throws(DMError) {
    // If the folder is absent, creating the file fails with an error that says so.
    guard var parent = wholePath(folder(of: path)) else { return }
    var child: String?
    while true {
      if isStore(parent), child.map({ ["attachments", "live"].contains($0) }) ?? true {
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
