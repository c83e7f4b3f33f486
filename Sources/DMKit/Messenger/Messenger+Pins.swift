public import DMModel
internal import DMStore

extension Messenger {
  /// The pinned messages that the user sees, the newest pin first.
  ///
  /// Everybody in a conversation has the same pins. Messages that a linked store has left on the hub are fetched.
  ///
  /// - Parameter conversations: the conversations; empty for all conversations of the user.
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func pins(in conversations: [ConversationReference] = []) throws -> [Message] {
    let pinned = try reading([]) { session in try session.pinned(in: conversations) }
    var found: [Message] = []
    for (id, seqs) in pinned {
      found += try messages(in: .id(id), seqs.map { RangeReference(from: $0, to: $0) })
    }
    func key(_ message: Message) -> (Int64, Int) { (message.pin?.at.microseconds ?? 0, message.number) }
    return found.filter { $0.pin != nil }.sorted { key($0) > key($1) }
  }
}

extension Session {
  /// For each conversation, the numbers of its pinned messages; of all conversations of the user if none are given.
  fileprivate func pinned(in conversations: [ConversationReference]) throws -> [(id: Identifier, seqs: [Int])] {
    var keys = try conversations.map { try find($0).key }
    if keys.isEmpty { keys = try store.pins.conversations(of: me) }
    var seen: Set<ConversationKey> = []
    return try keys.filter { seen.insert($0).inserted }.map { key in
      (try store.conversations.id(key), try store.pins.all(in: key).keys.sorted())
    }
  }

  /// - Throws: `not_allowed` if the conversation has as many pinned messages as it may have.
  func checkPinCount(in row: Conversations.Row) throws {
    guard try store.pins.all(in: row.key).count >= MessagePin.limit else { return }
    throw DMError(
      .notAllowed, "'\(row.typed)' has \(MessagePin.limit) pinned messages, and cannot have more; unpin one first",
      subject: row.typed)
  }

  /// Queues a pin for the hub, which must accept it before it is shown.
  func queuePin(_ isPinned: Bool, _ message: Identifier, in row: Conversations.Row) throws {
    try checkHub()
    messenger.awaitsHub = true
    var arguments = HubArguments()
    arguments.isPinned = isPinned
    try queue(.pin, in: row.key, about: message, arguments)
  }
}
