internal import DMStore

// The messages that wait for the hub, as the user sees them.

extension Session {
  /// The waiting message that a reference names; nil if it names none.
  func waitingMessage(_ reference: MessageReference) throws -> Waiting.Row? {
    guard destination == .hub, case .id(let id) = reference, let row = try store.waiting.row(id), !row.isHidden else {
      return nil
    }
    return row
  }

  /// The waiting message with a nonce, as the result of sending that message again.
  func waitingMessage(_ nonce: String, in conversation: ConversationKey) throws -> Message? {
    guard destination == .hub, let waiting = try store.waiting.row(nonce: nonce, in: conversation),
      let row = try store.conversations.row(key: conversation)
    else { return nil }
    var message = try message(waiting, in: row)
    message.isDuplicate = true
    return message
  }

  /// A message that was queued here, in its current state: it may have got its number, or have been deleted.
  func messageThatWaited(_ id: Identifier) throws -> Message? {
    if let waiting = try store.waiting.row(id) {
      return try waiting.isHidden
        ? nil : store.conversations.row(key: waiting.conversation).map { try message(waiting, in: $0) }
    }
    guard let address = try store.messages.address(ofIDOrAlias: id) else { return nil }
    return try store.messages.seen(at: address, as: viewer)
  }

  /// The id of the message that a new message replies to; that message may be waiting, too.
  func replied(_ reference: MessageReference, in row: Conversations.Row) throws -> Identifier {
    if let waiting = try waitingMessage(reference), waiting.conversation == row.key { return waiting.id }
    return try visibleMessage(reference, in: row).message.id
  }

  /// The waiting messages that a query selects, the oldest first; those of all conversations if `conversations` is nil.
  func waitingMessages(_ query: HistoryQuery, _ conversations: [ConversationKey]?) throws -> [Message] {
    guard destination == .hub, query.ranges == nil, query.before == nil, !query.unreadOnly else { return [] }
    var waiting = try store.waiting.shown(in: nil)
    if let conversations { waiting.removeAll { !conversations.contains($0.conversation) } }
    if let sender = query.sender, try sender != handle { return [] }
    if case .time(let time)? = query.since { waiting.removeAll { $0.createdAt < time } }
    return try waiting.suffix(query.limit ?? .max).compactMap { waiting in
      try store.conversations.row(key: waiting.conversation).map { try message(waiting, in: $0) }
    }
  }

  /// A conversation, with its newest waiting message as the last message if there is one.
  func withWaiting(_ conversation: Conversation) throws -> Conversation {
    guard destination == .hub, let row = try store.conversations.row(conversation.id),
      let waiting = try store.waiting.shown(in: row.key).last
    else { return conversation }
    var conversation = conversation
    conversation.lastMessage = try message(waiting, in: row).preview
    return conversation
  }

  /// A waiting or refused message, as its sender sees it.
  func message(_ waiting: Waiting.Row, in row: Conversations.Row) throws -> Message {
    let surroundings = viewer.surroundings
    var message = try surroundings.message(
      waiting.id, in: row, seq: nil, from: (me, handle), waiting.text, at: waiting.createdAt,
      waiting.fault == nil ? .sending : .failed, nonce: waiting.nonce)
    message.replyTo = try waiting.replyTo.map { try surroundings.reply($0, as: viewer) }
    message.forwardedFrom = try waiting.forwardedFrom.map(store.users.handle)
    message.mentions = waiting.mentions
    message.editedAt = waiting.editedAt
    message.failure = waiting.fault
    message.attachments = try store.hubAttachments.waiting(waiting.key).map(\.attachment)
    return message
  }
}
