internal import DMKit
internal import DMStore

// Messages below the floor of a conversation, which are fetched because a program reads them.

extension Replica {
  /// Adds messages below the floor of a conversation, as they are on the hub now.
  ///
  /// - Parameter entries: the entries, last edits and reactions of the messages, in the order of their revs.
  func add(_ entries: [HubEntry], below floor: HubFloors.Row, of conversation: ConversationKey) throws {
    // While the log is pulled again from its beginning, the messages come with it.
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
  }
}
