package import DMModel
internal import DMSystem
internal import Glibc

extension StoreLocation {
  /// Refuses a path directly in the folder of a store, or anywhere in its folders `attachments` and `live`.
  ///
  /// Every name there has a meaning: for example, if the lock file is replaced, two processes can write at once.
  ///
  /// - Throws: `cannot_create`.
  package static func refuse(insideStore path: String) throws(DMError) {
    // If the folder is absent, creating the file fails with an error that says so.
    guard var parent = realPath(folder(of: path)) else { return }
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
    return access(location.database, F_OK) == 0 || access(location.lock, F_OK) == 0
  }

  /// The path without symbolic links; nil if it does not exist.
  private static func realPath(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
  }
}
