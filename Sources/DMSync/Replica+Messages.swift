internal import DMKit
internal import DMStore

// The messages of a log.

extension Replica {
  func say(_ entry: HubEntry, as actor: UserKey, _ operation: Outbox.Row?, in log: inout Log) throws {
    guard let id = entry.id else { throw LogFault(conversation: entry.conversation) }
    try takeNumber(entry, in: &log)
    let waiting = try operation.flatMap { try store.waiting.row(at: $0.key) }
    // Followers already got the message when it was queued here.
    let isNew = store.logsChanges && waiting == nil
    let message = try store.logging(isNew) { try insert(entry, id, as: actor, waiting, in: &log) }
    if let operation { try store.outbox.finish(operation.key, rev: entry.rev) }
    try restoreOwnState(entry, id, at: message, in: &log)
    guard let waiting else { return }
    try order(waiting, as: id, at: message)
    guard entry.payload != nil, try hasActs(waiting, id) else { return }
    try endSending(in: &log)
    try showActs(on: message, id)
  }

  /// Updates the conversation and its members for the messages that were inserted.
  ///
  /// This is done for many messages at once, because each write to another table makes SQLite write out the pending
  /// full-text index.
  func endSending(in log: inout Log) throws {
    for said in log.said.values.sorted(by: { $0.row.lastSeq < $1.row.lastSeq }) {
      try said.session.endSending([(said.row, coalesced(said.seqs))])
    }
    log.said = [:]
  }

  private func insert(
    _ entry: HubEntry, _ id: Identifier, as actor: UserKey, _ waiting: Waiting.Row?, in log: inout Log
  ) throws -> Messages.Address {
    let payload = HubPayload.text(entry.payload)
    var message = try newMessage(entry, id, as: actor, in: log.row)
    if let text = payload?.text { message.mentions = try MentionFinders(store).users(in: text, of: log.row.key) }
    message.attachments = try attachments(of: payload, by: actor, waiting)
    _ = try store.messages.insert(message, into: &log.row)
    let seq = log.row.lastSeq
    let seqs = log.said.removeValue(forKey: actor)?.seqs ?? []
    log.said[actor] = (try session(entry, as: actor), log.row, seqs + [seq...seq])
    let address = Messages.Address(conversation: log.row.key, seq: seq)
    if payload == nil, let stored = try store.messages.row(at: address) {
      try endSending(in: &log)
      try keepContents(of: entry, stored)
    }
    return address
  }

  /// A message that is to be inserted, without its attachments and mentions.
  func newMessage(_ entry: HubEntry, _ id: Identifier, as actor: UserKey, in row: Conversations.Row) throws
    -> Messages.NewMessage
  {
    let payload = HubPayload.text(entry.payload)
    var message = Messages.NewMessage(
      id: try freeID(id), sender: actor, text: payload?.text,
      origin: .hub(at: entry.at.clamped, expiresAt: entry.expiresAt?.clamped))
    message.replyTo = payload?.replyTo
    message.preview = payload?.preview
    message.forwardedFrom = try payload?.forwardedFrom.flatMap(store.users.key)
    if let nonce = payload?.nonce, try store.messages.address(of: nonce, from: actor, in: row.key) == nil {
      message.nonce = nonce
    }
    return message
  }

  /// Stores the payload of a message if this version of dm cannot read it; makes a message without a payload a tombstone.
  func keepContents(of entry: HubEntry, _ stored: Messages.Row) throws {
    if HubPayload.text(entry.payload) != nil { return }
    if let unread = entry.payload { return try store.hubUnreadable.insert(unread, of: stored.key) }
    // The message was deleted or had expired before it arrived.
    try store.messages.makeTombstone(of: stored, at: (entry.expiresAt ?? entry.at).clamped)
  }

  /// The attachments for a message that is inserted: those of the waiting message, or new ones if another machine has sent
  /// the message with other contents, such as another image of a preview.
  ///
  /// Small contents are fetched at once, unless the message is history or is from a blocked user.
  private func attachments(
    of payload: HubPayload.Text?, by actor: UserKey, _ waiting: Waiting.Row?
  ) throws -> [Attachments.Row] {
    let received = payload?.attachments ?? []
    let attachments = try waiting.map { try store.hubAttachments.waiting($0.key) } ?? []
    let isSame = attachments.map(\.attachment.sha256) == received.map(\.attachment.sha256)
    if let waiting, payload == nil || isSame {
      try store.hubAttachments.release(waiting.key)
      // If another machine of the user has sent the message, its files have other ids.
      for (row, other) in zip(attachments, received) { try Session(messenger, store, me).setFiles(of: row, to: other) }
      return attachments
    }
    if received.isEmpty { return [] }
    let fetches = try waiting != nil || store.logsChanges && !store.blocks.hasBlocked(actor, by: me)
    return try Session(messenger, store, actor).receive(received, fetches: fetches, at: .now)
  }

  /// Removes a waiting message, because the same message was stored with the number that the hub gave it.
  func order(_ waiting: Waiting.Row, as id: Identifier, at address: Messages.Address) throws {
    try store.hubAttachments.discard(waiting.key)
    try store.waiting.delete(waiting.key)
    try store.waiting.record(id, asHubIdOf: waiting.id)
    try store.changes.append(
      .ordered, conversation: address.conversation, user: me, seqs: address.seq...address.seq, at: .now)
  }

  /// Whether queued operations refer to a message that was waiting.
  func hasActs(_ waiting: Waiting.Row, _ id: Identifier) throws -> Bool {
    try !store.outbox.pending(about: id).isEmpty
      || waiting.id != id && !store.outbox.pending(about: waiting.id).isEmpty
  }

  /// Shows the effects of queued operations on a message that the hub has numbered.
  func showActs(on address: Messages.Address, _ id: Identifier) throws {
    guard let stored = try store.messages.row(at: address) else { return }
    try store.hubBases.keep(stored.key, for: me)
    try Session(messenger, store, me).showWaitingActs(on: stored, id)
  }
}
