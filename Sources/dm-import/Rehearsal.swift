internal import DMKit
internal import DMUpkeep

/// A copy of the store for a dry run of an import; removed with this object.
final class Rehearsal {
  let messenger: Messenger
  private let folder: TemporaryFolder

  /// Copies the current rows of the store, without the contents of attachments.
  ///
  /// - Throws: an error of the store or of the disk.
  init(of messenger: Messenger) throws {
    folder = try TemporaryFolder("the copy of the store")
    let copy = StoreLocation(directory: folder.path + "/store", isNamed: false)
    do {
      if try messenger.hasStore() { try Upkeep(messenger.location).copyRows(to: copy) }
    } catch let error as DMError where error.code == .noStore {
      // The store does not exist, so there is nothing to copy: an import would create it.
    }
    self.messenger = Messenger(copy, as: messenger.identity)
  }
}
