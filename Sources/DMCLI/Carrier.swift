package import DMKit
internal import DMSystem

/// Starts dm-sync processes for other programs whose store has a hub.
package enum Carrier {
  /// Whether other programs may start a dm-sync: the setting `sync` is not `off`.
  ///
  /// - Throws: `usage` for a wrong value of DM_SYNC.
  static func mayRun(_ settings: Settings) throws -> Bool { try settings[.sync] != "off" }

  /// Why no dm-sync may be started, as a clause; nil if one may be started.
  ///
  /// - Throws: `usage` for a wrong value of DM_SYNC.
  static func refusal(_ settings: Settings) throws -> String? {
    try mayRun(settings) ? nil : "\(settings.spelling(of: .sync)) is off"
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
  static func start(for messenger: Messenger, _ settings: Settings) -> Start {
    do {
      if let refusal = try refusal(settings) { return .mustNot(refusal) }
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
