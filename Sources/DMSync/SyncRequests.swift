package import DMKit
internal import DMModel
internal import DMStore
internal import DMSystem

/// What other programs last requested of the sync process, by the modification times of files.
package struct SyncRequests: Equatable {
  /// When a comparison with the hub was requested.
  private(set) var comparison: Timestamp?
  /// When the credentials were replaced, as joining again does.
  private var credentials: Timestamp?

  init() {}

  init(at location: StoreLocation) {
    comparison = FileStatus(location.liveAsked)?.modified
    credentials = FileStatus(location.hub)?.modified
  }

  /// Asks the sync process to compare the store with the hub now, and waits for the result.
  ///
  /// - Throws: `hub_unreachable` if the store is not compared within 30 seconds or the sync process ends, `hub_refused`.
  package static func ask(_ messenger: Messenger) throws {
    let end = monotonicMicroseconds() + 30_000_000
    let fault = try messenger.compareWithHub(until: end, evenOffline: true) {
      "the process that synchronized the store has ended"
    }
    guard let fault else { return }
    let running = messenger.runningState
    if running.isRefused {
      let text = running.fault ?? fault
      throw (running.state == .refused ? HubFault.refused(text) : .turnedAway(text)).error
    }
    throw DMError(.hubUnreachable, fault, remedy: .showHubStatus)
  }
}
