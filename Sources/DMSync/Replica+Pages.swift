internal import DMKit
internal import DMStore

// Conversations of which this store keeps only the last messages.

extension Replica {
  /// Begins a conversation at its floor: sets its members and settings, and applies the members' receipts for earlier
  /// messages, and the pins of such messages.
  ///
  /// The floor is the number of the first message that the store keeps. The messages below it are not pulled, and count
  /// as read by the user.
  func begin(_ start: HubStart, _ comparison: HubComparison.Conversation?, members: [HubMember]) throws {
    guard start.floor.seq > 1, let first = start.entries.first else { return }
    var log = try self.log(of: start.conversation, first, comparison, members)
    guard log.row.lastSeq == 0, log.state.rev < first.rev else { return }
    // After a restore of the hub, operations may wait for messages below the floor. In this case, all messages are pulled.
    if try store.outbox.pending(in: log.row.key).contains(where: \.act.isOnMessage) { return }
    log.isWithoutMessages = true
    try store.logging(false) {
      let later: [HubEntry.Kind?] = [.read, .delivered, .pinned]
      for entry in start.entries where !later.contains(entry.kind) { try apply(entry, to: &log) }
      let last = start.floor.seq - 1
      guard log.row.lastSeq <= last else { throw LogFault(conversation: start.conversation) }
      log.row.lastSeq = last
      try store.conversations.update(log.row, added: 0, readBy: nil, sender: nil)
      _ = try store.readState.markRead(1...last, by: me, in: log.row.key)
      for entry in start.entries where later.contains(entry.kind) { try apply(entry, to: &log) }
    }
    try store.hubFloors.set(start.floor.seq, at: start.floor.at, of: log.row.key)
    (log.state.rev, log.state.mark) = (start.rev, start.mark)
    (log.state.namedRev, log.state.historyUpTo) = (
      max(log.state.namedRev, start.rev), max(log.state.historyUpTo, start.rev)
    )
    try store.hubConversations.write(log.state)
  }

  /// Adds messages below the floor of a conversation, as they are on the hub now.
  ///
  /// - Parameter entries: the entries, last edits and reactions of the messages, in the order of their revs.
  func add(_ entries: [HubEntry], below floor: HubFloors.Row, of conversation: ConversationKey) throws {
    // Earlier messages are added only after the messages from the floor on were pulled.
    guard let row = try store.conversations.row(key: conversation), row.lastSeq >= floor.seq,
      let state = try store.hubConversations.row(conversation)
    else { return }
    let log = Log(row: row, state: state, named: state.namedRev, wasWhole: true, members: [])
    var added: Set<Int> = []
    try store.logging(false) {
      for entry in entries {
        guard let seq = entry.seq, 1..<floor.seq ~= seq, let actor = try user(entry.actor) else { continue }
        if entry.kind == .message {
          let address = Messages.Address(conversation: conversation, seq: seq)
          guard try store.messages.identifier(of: address) == nil else { continue }
          try insert(entry, as: actor, at: seq, in: row)
          added.insert(seq)
        } else if added.contains(seq) {
          try change(entry, as: actor, nil, in: log)
        }
      }
    }
  }

  private func insert(_ entry: HubEntry, as actor: UserKey, at seq: Int, in row: Conversations.Row) throws {
    guard let id = entry.id else { return }
    let payload = HubPayload.text(entry.payload)
    var message = try newMessage(entry, id, as: actor, in: row)
    if let text = payload?.text { message.mentions = try MentionFinders(store).users(in: text, of: row.key) }
    message.attachments = try Session(messenger, store, actor).receive(
      payload?.attachments ?? [], fetches: false, at: .now)
    if let stored = try store.messages.insertAgain(message, at: seq, of: row) { try keepContents(of: entry, stored) }
    // If the user had deleted the message for themselves before the log was pulled again, the message is hidden again.
    guard let earlier = try store.hubKnown.row(id) else { return }
    if earlier.isDeleted { try store.readState.hide(seq...seq, from: me, in: row.key, isDeleted: true) }
    try store.hubKnown.delete(id)
  }
}
