package import DMKit
internal import DMSystem

/// Starts dm-sync processes for other programs whose store has a hub.
package enum Carrier {
  /// The values of DM_SYNC: with `off`, no other program starts a dm-sync; with `wait`, programs wait for the hub as with
  /// --wait.
  enum Mode: String, CaseIterable { case off, wait }

  /// The value of DM_SYNC; nil if it is not set.
  ///
  /// - Throws: `usage`.
  static var mode: Mode? {
    get throws {
      guard let word = try environment("DM_SYNC") else { return nil }
      guard let mode = Mode(rawValue: word) else {
        throw usage("'\(word)' is not a value of DM_SYNC; write off or wait, or leave it out")
      }
      return mode
    }
  }

  /// The result of `start`: a dm-sync runs now, or none was started, for a reason that the text says as a clause.
  enum Start {
    case runs
    case mustNot(String)
    case failed(String)

    var fault: String? {
      switch self {
      case .runs: nil
      case .mustNot(let reason), .failed(let reason): reason
      }
    }
  }

  /// Starts a dm-sync that uploads and fetches files and then ends, unless such a dm-sync runs for the store already.
  ///
  /// - Throws: `SystemFailure`.
  package static func startFiles(for messenger: Messenger) throws {
    guard let store = wholePath(messenger.location.directory), let folder = ownFolder,
      let lock = messenger.filesLock()
    else { return }
    try startApart("\(folder)/dm-sync", ["--store", store, "--files"], handingOn: lock)
  }

  /// Starts a dm-sync, unless a dm-sync runs for the store already.
  ///
  /// The new process ends after a minute without work, if no program follows the store then.
  static func start(for messenger: Messenger) -> Start {
    do {
      if try mode == .off { return .mustNot("DM_SYNC is off") }
      guard try messenger.mayCarry() else { return .mustNot("no dm-sync can be started for this store") }
      guard let store = wholePath(messenger.location.directory), let folder = ownFolder else {
        return .failed("cannot find dm-sync")
      }
      guard let lock = FileLock(ifFree: messenger.carrierLock) else { return .runs }
      try messenger.noteStartOfCarrier()
      try startApart("\(folder)/dm-sync", ["--store", store, "--linger"], handingOn: lock)
      return .runs
    } catch let failure as SystemFailure {
      return .failed("cannot start dm-sync: \(failure.text)")
    } catch let error as DMError {
      return .failed(error.text)
    } catch {
      return .failed("cannot start dm-sync")
    }
  }
}
