internal import DMCLI
internal import DMKit
internal import DMSystem
internal import DMUpkeep

/// A copy of the store, in which an import shows what it would do; it is removed with this.
final class Rehearsal {
  let messenger: Messenger
  private let work: WorkFolder
  /// A shell that removes the copy when this process has ended, however it has.
  private let remover: Child
  private let leash: StopSignal

  /// Copies what the store has now, without the contents of attachments.
  ///
  /// - Throws: an error of the store or of the disk.
  init(of messenger: Messenger) throws {
    let folder = try environment("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
    work = try WorkFolder(.restore, in: folder)
    leash = StopSignal()
    let script = "trap '' HUP INT TERM PIPE; exec >/dev/null 2>&1; cat; rm -rf \"$1\""
    do {
      remover = try Child(["sh", "-c", script, "sh", work.path], input: leash.descriptor)
    } catch {
      throw DMError(.cannotCreate, "cannot start sh(1), which removes the copy of the store at the end")
    }
    let copy = StoreLocation(directory: work.path + "/store", isNamed: false)
    do {
      if try messenger.hasStore() { try Upkeep(messenger.location).copyRows(to: copy) }
    } catch let error as DMError where error.code == .noStore {
      // An import would make it.
    }
    self.messenger = Messenger(copy, as: messenger.identity)
  }
}
