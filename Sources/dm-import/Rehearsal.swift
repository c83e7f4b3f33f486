internal import DMCLI
internal import DMKit
internal import DMSystem
internal import DMUpkeep

/// A folder in TMPDIR, which is removed with this object.
final class TemporaryFolder {
  private let work: WorkFolder
  /// A shell that removes the folder after this process ends, even if this process was killed.
  private let remover: Child
  private let leash: StopSignal

  var path: String { work.path }

  /// - Parameter content: what the folder is for, for the error.
  /// - Throws: `cannot_create`.
  init(_ content: String) throws {
    let folder = try environment("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    work = try WorkFolder(.restore, in: folder)
    leash = StopSignal()
    let script = "trap '' HUP INT TERM PIPE; exec >/dev/null 2>&1; cat; rm -rf \"$1\""
    do {
      remover = try Child(["sh", "-c", script, "sh", work.path], input: leash.descriptor)
    } catch {
      throw DMError(.cannotCreate, "cannot start sh(1), which removes \(content) at the end")
    }
  }
}

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
