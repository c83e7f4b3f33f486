package import DMJSON
package import DMModel
internal import DMStore
internal import DMSystem

extension Messenger {
  /// Whether the store is linked to a hub; if so, each other user has a store of their own.
  package var isLinked: Bool { get throws { try existingStore()?.isLinked ?? false } }

  /// The path of the lock that the sync process of the store holds.
  package var carrierLock: String { location.syncLock }

  /// How many conversations and messages are in the store; linear in their number.
  package func counts() throws -> (conversations: Int, messages: Int) {
    guard let store = try existingStore() else { return (0, 0) }
    return try store.read { try store.counts() }
  }

  /// Whether a sync process may be started for the store: the store is linked and has not left its hub, the hub has not
  /// refused it, and the file with its credentials belongs to the account of this process.
  package func mayCarry() throws -> Bool {
    guard let store = try existingStore(), let hub = try store.hub.row(), hub.leftAt == nil, hub.refusal == nil else {
      return false
    }
    SignalFile.make(location.syncLock)
    return FileStatus(itself: location.hub)?.isOwn == true
  }

  /// Waits until the hub has all operations that this messenger queued.
  ///
  /// - Parameters:
  ///   - end: the end of the wait, as a time of `monotonicMicroseconds`. The wait starts again whenever the transfer of a
  ///     file that the operations need makes progress.
  ///   - start: starts a sync process; called if the one that ran has ended.
  /// - Returns: when the hub accepts the operations, if the user is over their quota; nil if the hub has them.
  /// - Throws: `hub_unreachable` if the hub does not have the operations by then, or the error with which the hub
  ///   refused an operation.
  package func waitForHub(until end: Int64, start: () -> Void) throws -> Timestamp? {
    guard !queued.isEmpty, let store = try existingStore() else { return nil }
    let bell = Watch(location.bell)
    let timeout = max(0, end - monotonicMicroseconds())
    var (end, progress, prompts) = (end, FileProgress?.none, SyncPrompts())
    while true {
      let rows = try store.read { try queued.compactMap { try store.outbox.row(at: $0) } }
      if let now = FileProgress(path: location.liveFile), now != progress,
        try rows.contains(where: { try HubArguments(json: $0.arguments).files.contains(now.file) })
      {
        (end, progress) = (monotonicMicroseconds() + timeout, now)
      }
      if let refused = rows.first(where: { $0.state == .refused }) {
        let code = refused.fault.flatMap { DMError.Code(rawValue: $0) } ?? .refusedByHub
        throw DMError(
          code, "the hub refuses the operation \(refused.key.number) (\(refused.fault ?? "without a reason"))",
          remedy: .showPending)
      }
      if rows.allSatisfy({ $0.state == .done }) { return nil }
      if let until = try store.read({ try store.postponedUntil(of: rows.filter { $0.state == .queued }) }) {
        return until
      }
      if monotonicMicroseconds() >= end {
        throw DMError(
          .hubUnreachable, "the hub does not have it yet; it is queued, and sent later", remedy: .showHubStatus)
      }
      prompts.give(self, start: start)
      var awaited = [Awaited(bell.descriptor, for: .reading)]
      // Waits at most half a second at a time, in case the bell file cannot be watched.
      if waitForAny(of: &awaited, until: min(end, monotonicMicroseconds() + 500_000)) { bell.drain() }
    }
  }

  /// The current state of a message that was sent from this store; nil if the message no longer exists.
  package func sentMessage(_ id: Identifier) throws -> Message? {
    try reading(nil) { try $0.messageThatWaited(id) }
  }
}

/// What a program that waits for the hub does to have a sync process that tries to connect.
///
/// The sync process pauses for up to a minute after a fault. The program requests an attempt at once, and then at most
/// every four seconds, so that a hub that does not answer is not flooded.
private struct SyncPrompts {
  private static let longestPause: Int64 = 4_000_000
  /// Microseconds.
  private var pause: Int64 = 500_000
  private var due = monotonicMicroseconds()
  private var startsLeft = 3

  mutating func give(_ messenger: Messenger, start: () -> Void) {
    if startsLeft > 0, !messenger.hasCarrier {
      startsLeft -= 1
      start()
    }
    let (now, running) = (monotonicMicroseconds(), messenger.runningState)
    // A refused login is tried again only after a quarter of an hour.
    guard now >= due, running.fault != nil, running.state != .refused else { return }
    _ = SignalFile.advance(messenger.location.liveAsked)
    pause = min(2 * pause, Self.longestPause)
    due = now + pause
  }
}

/// An operation that waits for the hub, or that the hub has refused.
package struct OutboxItem: Equatable, Sendable {
  package enum State: String, CaseIterable, Sendable { case queued, sending, acknowledged, failed }

  /// The number of the operation in the outbox.
  package let id: Int64
  package let act: String
  package let state: State
  package let conversationID: Identifier?
  package let conversation: String?
  package let messageID: Identifier?
  /// The text of a message, or the new text of an edit; otherwise nil.
  package let text: String?
  package let createdAt: Timestamp
  package let attempts: Int
  package let notBefore: Timestamp?
  /// The error code, if the hub refused or postponed the operation.
  package let failure: String?
}

extension Messenger {
  /// The operations that wait for the hub or were refused, the oldest first.
  ///
  /// - Throws: `no_hub` for a store that is not linked.
  package func outbox() throws -> [OutboxItem] {
    let (store, hub) = try linkedStore()
    return try store.read {
      let session = Session(self, store, hub.user)
      return try pending(store).map { try item($0, session) }
    }
  }

  /// The operations that wait or were refused; while one is postponed, all queued ones count as postponed.
  private func pending(_ store: Store) throws -> [Outbox.Row] {
    let until = try store.outbox.postponedUntil()
    return try store.outbox.pending().map { row in
      var row = row
      if row.state == .queued { row.notBefore = try row.notBefore ?? until ?? store.filesPostponedUntil(row) }
      return row
    }
  }

  /// When the hub accepts the first operation or file that it has postponed; nil if it has postponed none.
  package func postponedUntil() throws -> Timestamp? {
    guard let store = try existingStore(), store.isLinked else { return nil }
    return try store.read(store.postponedUntil)
  }

  private func item(_ row: Outbox.Row, _ session: Session) throws -> OutboxItem {
    let state: OutboxItem.State =
      switch row.state {
      case .queued: .queued
      case .sending: .sending
      case .acknowledged, .done: .acknowledged
      case .refused: .failed
      }
    return OutboxItem(
      id: row.key.number, act: row.act.word, state: state,
      conversationID: try row.conversation.map(session.store.conversations.id),
      conversation: try row.conversation.map { try session.viewer.surroundings.label(of: $0).reference },
      messageID: row.target,
      text: HubPayload.text(row.payload)?.text, createdAt: row.createdAt, attempts: row.attempts,
      notBefore: row.notBefore, failure: row.fault ?? (row.isPostponed ? "over_quota" : nil))
  }

  /// Queues refused operations again, and makes postponed operations due at once.
  ///
  /// - Parameter names: outbox numbers or message ids; empty for all such operations.
  /// - Returns: the operations as they are now.
  /// - Throws: `no_hub`, `unknown_message` for a name that no such operation has.
  package func retry(_ names: [String]) throws -> [OutboxItem] {
    try change(names, where: { $0.state == .refused || $0.isPostponed }) { row, session in
      let messages = session.store.messages
      let isUndone = row.state == .refused && [.edit, .delete, .react].contains(row.act)
      let message = try isUndone ? row.target.flatMap(messages.address(of:)).flatMap(messages.row(at:)) : nil
      if let message { try session.store.hubBases.keep(message.key, for: session.me) }
      try session.store.outbox.postpone(row.key, until: nil)
      // The effect of the operation on the message is shown again.
      if let message, let id = row.target { try session.showWaitingActs(on: message, id) }
      if row.act == .say { _ = try session.uploadAgain(row, evenFailed: true) }
      if row.state == .refused, row.act == .say, let conversation = row.conversation {
        try session.logWaiting(.waitingChanged, row.key, in: conversation)
      }
      self.queued.append(row.key)
    }
  }

  /// Discards refused or postponed operations; a message that was never sent is removed.
  ///
  /// - Parameter names: outbox numbers or message ids; empty for all such operations.
  /// - Returns: the operations as they were.
  /// - Throws: `no_hub`, `unknown_message` for a name that no such operation has.
  package func drop(_ names: [String]) throws -> [OutboxItem] {
    try change(names, where: { $0.state == .refused || $0.isPostponed }) { row, session in
      switch row.act {
      case .say: try session.store.waiting.row(at: row.key).map(session.cancel) ?? session.store.outbox.cancel(row.key)
      case .profile: try session.dropProfile(row.key)
      // A finished report would be pushed again after a restore of the hub.
      case .report: try session.store.outbox.delete(row.key)
      default: try session.store.outbox.cancel(row.key)
      }
    }
  }

  private func change(
    _ names: [String], where isMeant: (Outbox.Row) -> Bool, _ body: (Outbox.Row, Session) throws -> Void
  ) throws -> [OutboxItem] {
    let (store, hub) = try linkedStore()
    return try store.write {
      if names.isEmpty { try store.hubFiles.hurry() }
      let session = Session(self, store, hub.user)
      let meant = try pending(store).filter(isMeant)
      let chosen = try names.isEmpty ? meant : names.flatMap { try Self.rows(named: $0, of: meant) }
      for row in chosen { try body(row, session) }
      return try chosen.map { try item(store.outbox.row(at: $0.key) ?? $0, session) }
    }
  }

  private static func rows(named name: String, of refused: [Outbox.Row]) throws -> [Outbox.Row] {
    let id = Identifier(name.hasPrefix("dm:") ? String(name.dropFirst(3)) : name)
    let rows = refused.filter { $0.key.number.description == name || $0.target != nil && $0.target == id }
    guard !rows.isEmpty else {
      throw DMError(
        .unknownMessage, "'\(name)' is not an operation that the hub has refused or postponed", subject: name,
        remedy: .showPending)
    }
    return rows
  }

  /// Records that the store has left its hub; the store is read-only from then on.
  ///
  /// - Throws: `no_hub` for a store that is not linked.
  package func leaveHub() throws {
    let (store, _) = try linkedStore()
    try store.write { try store.hub.set(leftAt: .now) }
  }
}

extension Store {
  /// When the hub accepts the files of a message, if the user is over their quota; nil if the user is within the quota.
  fileprivate func filesPostponedUntil(_ row: Outbox.Row) throws -> Timestamp? {
    guard row.act == .say else { return nil }
    return try HubArguments(json: row.arguments).files.flatMap(hubFiles.rows).compactMap(\.postponedUntil).max()
  }

  /// When the hub accepts queued operations, if it has postponed them or what they wait for; otherwise nil.
  ///
  /// A postponed operation holds back all later ones of its conversation, but a message that waits for its files holds
  /// back no other message.
  fileprivate func postponedUntil(of queued: [Outbox.Row]) throws -> Timestamp? {
    if queued.isEmpty { return nil }
    if try queued.contains(where: followsChange) { return try postponedUntil() }
    return try outbox.postponedUntil() ?? queued.compactMap(filesPostponedUntil).max()
  }

  /// Whether an operation changes its conversation, or waits for an operation that does.
  ///
  /// Such a change waits for the files of all earlier messages.
  private func followsChange(_ row: Outbox.Row) throws -> Bool {
    func isChange(_ row: Outbox.Row) -> Bool { ![.say, .read, .delivered].contains(row.act) && !row.act.isOnMessage }
    guard let conversation = row.conversation else { return isChange(row) }
    return try outbox.pending(in: conversation).contains { isChange($0) && $0.state == .queued && $0.key <= row.key }
  }

  /// When the hub accepts the first operation or file that it has postponed; nil if it has postponed none.
  func postponedUntil() throws -> Timestamp? {
    let files = try hubFiles.pending().compactMap(\.postponedUntil)
    return try (files + (outbox.postponedUntil().map { [$0] } ?? [])).min()
  }
}

extension HubFiles.Row {
  /// When the hub accepts the file, if the user is over their quota; nil if the user is within the quota.
  fileprivate var postponedUntil: Timestamp? {
    fault == Messenger.overQuota ? notBefore.flatMap { $0 > .now ? $0 : nil } : nil
  }
}

extension OutboxItem: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "outbox")
      json.member("id", Int(id))
      json.member("act", act)
      json.member("state", state.rawValue)
      json.member("conversation_id", conversationID)
      json.member("conversation", conversation)
      json.member("message_id", messageID)
      json.member("text", text)
      json.member("created_at", createdAt)
      json.member("attempts", attempts)
      json.member("next_attempt_at", notBefore)
      json.member("failure", failure)
    }
  }
}
