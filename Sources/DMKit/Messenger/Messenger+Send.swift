extension Messenger {
  /// Sends one message and returns it once it is durable.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`,
  ///   `unknown_message` for what it replies to, `nonce_conflict`, or a fault of the store.
  public func send(_ outgoing: Outgoing) throws -> Message {
    try send([outgoing])[0].get()
  }

  /// Sends messages in one transaction, in order, and says what became of each.
  ///
  /// A message that cannot be sent stops none of the others. Whatever fails for all of them, fails
  /// before any is sent.
  public func send(_ batch: [Outgoing]) throws -> [Result<Message, DMError>] {
    try perform(batch, in: SendSession.self)
  }
}

/// The messages that one user sends in one transaction.
private final class SendSession: BatchSession {
  private let messenger: Messenger
  private let store: Store
  private let me: Int64
  private let statuses: StatusReader
  private var keys: [ConversationReference: Int64] = [:]
  private var rows: [Int64: Store.ConversationRow] = [:]
  /// The first number that each conversation got in this transaction; nobody else adds to it meanwhile.
  private var firstAdded: [Int64: Int] = [:]

  init(_ messenger: Messenger, _ store: Store, _ me: Int64) {
    self.messenger = messenger
    self.store = store
    self.me = me
    statuses = StatusReader(store)
  }

  func act(on outgoing: Outgoing) throws -> Message {
    var row = try target(of: outgoing)
    if let nonce = outgoing.nonce, let place = try store.place(of: nonce, from: me, in: row.key),
      var message = try store.message(at: place, as: statuses)
    {
      guard message.bears(outgoing.text) else {
        throw DMError(
          .nonceConflict, "the nonce '\(nonce)' named another text before; use a new one", subject: nonce)
      }
      message.isDuplicate = true
      return message
    }
    let replyTo = try outgoing.replyTo.map { reference in
      let seq = try messenger.seq(of: reference, in: row, store, me)
      return try store.identifier(of: Store.Place(conversation: row.key, seq: seq))
    }
    let id = try store.insert(
      Store.NewMessage(sender: me, text: outgoing.text, nonce: outgoing.nonce, replyTo: replyTo ?? nil), into: &row)
    rows[row.key] = row
    if firstAdded[row.key] == nil { firstAdded[row.key] = row.lastSeq }
    return Message(
      id: id, conversationID: row.id, seq: row.lastSeq, sender: messenger.identity.handle, text: outgoing.text,
      createdAt: row.lastActivity, status: .sent, replyTo: replyTo ?? nil, nonce: outgoing.nonce)
  }

  /// The conversation of a message, created when it is the first to a user.
  private func target(of outgoing: Outgoing) throws -> Store.ConversationRow {
    if let key = keys[outgoing.conversation], let row = rows[key] { return row }
    var found = try messenger.findIfPresent(outgoing.conversation, store, me)
    if found == nil, case .direct(let handle) = outgoing.conversation, let other = try store.userKey(handle) {
      // Before anything is created: there can be no message to reply to.
      guard outgoing.replyTo == nil else {
        throw DMError(
          .unknownMessage, "there is no conversation with '\(handle)' yet, so no message to reply to", subject: handle)
      }
      found = try store.insertConversation(
        .direct(me, other), creator: me, participants: me == other ? [me] : [me, other], at: .now)
    }
    guard let row = found else { return try messenger.find(outgoing.conversation, store, me) }
    keys[outgoing.conversation] = row.key
    // Two references may name the same conversation.
    if rows[row.key] == nil { rows[row.key] = row }
    return rows[row.key] ?? row
  }

  /// Writes what is kept for each conversation: its end, and that one has read one's own words.
  func finish() throws {
    for (key, first) in firstAdded.sorted(by: { $0.key < $1.key }) {
      guard let row = rows[key] else { continue }
      let new = first...row.lastSeq
      try store.update(row, added: new.count, readBy: me)
      try store.extendReadRanges(by: new, of: me, in: key)
    }
  }
}
