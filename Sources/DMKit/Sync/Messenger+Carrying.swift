package import DMModel
internal import DMStore
internal import DMSystem

extension Messenger {
  /// Whether the store is linked to a hub, so that its other users act elsewhere.
  package var isLinked: Bool { get throws { try existingStore()?.isLinked ?? false } }

  /// Whether a process may be started that carries for the store: it is linked, lets itself be carried for, and belongs
  /// to the account of this process.
  package func mayCarry() throws -> Bool {
    guard let store = try existingStore(), let hub = try store.hub.row(), hub.leftAt == nil, hub.refusal == nil else {
      return false
    }
    SignalFile.make(location.syncLock)
    return FileStatus(itself: location.hub)?.isOwn == true
  }

  /// Waits until the hub has all that was queued by this messenger.
  ///
  /// - Parameter end: the end of the wait, as a time of `monotonicMicroseconds`.
  /// - Throws: `hub_unreachable` if it takes longer, or the reason why the hub refuses some of it.
  package func waitForHub(until end: Int64) throws {
    guard !queued.isEmpty, let store = try existingStore() else { return }
    let bell = Watch(location.bell)
    while true {
      let rows = try store.read { try queued.compactMap { try store.outbox.row(at: $0) } }
      if let refused = rows.first(where: { $0.state == .refused }) {
        let code = refused.fault.flatMap { DMError.Code(rawValue: $0) } ?? .refusedByHub
        throw DMError(
          code, "the hub refuses the operation \(refused.place.number) (\(refused.fault ?? "without a reason"))",
          remedy: .showPending)
      }
      if rows.allSatisfy({ $0.state == .done }) { return }
      if monotonicMicroseconds() >= end {
        throw DMError(
          .hubUnreachable, "the hub does not have it yet; it is queued, and carried later", remedy: .showHubStatus)
      }
      var awaited = [Awaited(bell.descriptor, for: .reading)]
      // Also where the bell cannot be watched.
      if waitForAny(of: &awaited, until: min(end, monotonicMicroseconds() + 500_000)) { bell.drain() }
    }
  }

  /// A message that was sent here, as it is now; nil if it is gone.
  package func sentMessage(_ id: Identifier) throws -> Message? {
    try reading(nil) { try $0.messageThatWaited(id) }
  }
}
