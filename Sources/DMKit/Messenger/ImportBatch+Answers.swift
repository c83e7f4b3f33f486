internal import DMStore

// The answers of an import: the messages that the import added, and messages that were in the store before.

extension ImportBatch {
  func duplicate(of message: ImportedMessage, in row: Conversations.Row) throws -> Message? {
    var address = try message.id.flatMap(store.messages.address(of:))
    if address == nil, let nonce = message.nonce, let sender = try existingKey(of: message.sender) {
      address = try store.messages.address(of: nonce, from: sender, in: row.key)
    }
    guard let address, address.conversation == row.key,
      let found = try store.messages.seen(at: address, as: unrestricted)
    else {
      return nil
    }
    guard let seen = try store.messages.seen(at: address, as: session.freshViewer()) else {
      return try unseenDuplicate(of: message, found, in: row)
    }
    let isChanged = found.editedAt != nil
    guard isChanged || found.text.map(ExactString.init) == message.text.map(ExactString.init) else {
      let name = message.id.map(\.description) ?? message.nonce ?? ""
      throw DMError(
        .nonceConflict,
        "'\(name)' names another text in the store, perhaps from before an edit; leave out the line, or "
          + (message.id == nil ? "use a new nonce" : "remove its id"), subject: name)
    }
    var answer = seen
    answer.isDuplicate = true
    return answer
  }

  /// The answer for a stored message that is hidden from the user.
  ///
  /// The answer repeats the content of the line, not the stored content.
  ///
  /// If the line has the time of the stored message, the line repeats imported history. Otherwise the user may have
  /// guessed the id or nonce. Such a line is handled as if the message did not exist, or is refused with an error that
  /// says only that its id or nonce cannot be used.
  private func unseenDuplicate(of message: ImportedMessage, _ found: Message, in row: Conversations.Row) throws
    -> Message?
  {
    let address = Messages.Address(conversation: row.key, seq: found.number)
    guard try isOfTime(message.createdAt, address, at: found.createdAt) else {
      if try time(of: message, in: row, isAnnounced: false) == nil { return nil }
      let name = message.id.map(\.description) ?? message.nonce ?? ""
      throw DMError(.nonceConflict, "'\(name)' cannot be used here; use a new nonce", subject: name)
    }
    // The answer names the message to which the stored message replies only if the line names that message, too.
    let named = try message.replyTo.map { try replied($0, in: row) }
    var message = message
    message.createdAt = found.createdAt
    var answer = try answer(message, found.id, row, number: found.number)
    if let named, named == found.replyTo?.id { answer.replyTo = try reply(named) }
    answer.isDuplicate = true
    return answer
  }

  /// The message that a line describes.
  func answer(
    _ line: ImportedMessage, _ id: Identifier, _ row: Conversations.Row, number: Int
  ) throws -> Message {
    try unrestricted.surroundings.message(
      id, in: row, seq: number, from: (store.users.key(line.sender), line.sender), line.text, at: line.createdAt,
      nonce: line.nonce)
  }

  /// The message that another message replies to, as the user sees it now.
  ///
  /// A new viewer is used, because earlier lines may have made the message visible.
  func reply(_ id: Identifier) throws -> Message.Reply {
    try unrestricted.surroundings.reply(id, as: session.freshViewer())
  }

  func replied(_ reply: ImportedMessage.Reply, in row: Conversations.Row?) throws -> Identifier {
    let name: String
    switch reply {
    case .id(let id):
      name = id.description
      if let row, try store.messages.address(of: id)?.conversation == row.key { return id }
    case .nonce(let nonce):
      name = nonce
      if let row, let address = try store.messages.address(of: nonce, from: nil, in: row.key),
        let id = try store.messages.identifier(of: address)
      {
        return id
      }
    }
    throw DMError(
      .unknownMessage, "the message '\(name)' that is replied to is not in the conversation before this line",
      subject: name)
  }
}

// The times of imported messages. In a conversation, each message has a later time than the message before it.

extension ImportBatch {
  /// The time of a message, computed by `time(of:in:isAnnounced:)`.
  ///
  /// - Throws: `out_of_order` if that function returns nil.
  func orderedTime(of message: ImportedMessage, in row: Conversations.Row, isAnnounced: Bool) throws -> Timestamp {
    if let time = try time(of: message, in: row, isAnnounced: isAnnounced) { return time }
    let advice =
      message.createdAt == row.lastActivity && !message.isRecognizable
      ? "give lines of the same time a nonce"
      : firstAdded[row.key] == nil ? "history goes only after what is there" : "sort the lines by time"
    let isBehind = firstAdded[row.key] == nil && !row.isGroup
    throw DMError(
      .outOfOrder,
      "'\(message.createdAt)' is not after the last message of its conversation, at \(row.lastActivity); \(advice)",
      subject: message.createdAt.description, remedy: isBehind ? .importAsGroup : nil)
  }

  /// The time for a message at the end of a conversation: the time in its line, or, if the last messages have that
  /// time, a microsecond after the last message.
  ///
  /// - Parameter isAnnounced: whether an announcement is added before the message.
  /// - Returns: nil if the message is earlier than the last message. Nil also if both have the same time and the line
  ///   has no id or nonce, because the line may repeat the last message.
  func time(of message: ImportedMessage, in row: Conversations.Row, isAnnounced: Bool) throws -> Timestamp? {
    let last = Timestamp(microseconds: row.lastActivity.microseconds + (isAnnounced ? 1 : 0))
    if row.lastSeq == 0 || rules.follows(message, last) { return message.createdAt }
    guard !isAnnounced, message.isRecognizable,
      try isOfTime(message.createdAt, Messages.Address(conversation: row.key, seq: row.lastSeq), at: row.lastActivity)
    else { return nil }
    return Timestamp(microseconds: row.lastActivity.microseconds + 1)
  }

  /// Whether a stored message may come from a line with this time.
  ///
  /// True if the message has this time. Also true if the first message of a series has this time, each message of the
  /// series is a microsecond later than the previous message, and the stored message is the last of the series.
  func isOfTime(_ time: Timestamp, _ address: Messages.Address, at stored: Timestamp) throws -> Bool {
    let (distance, isTooFar) = stored.microseconds.subtractingReportingOverflow(time.microseconds)
    guard !isTooFar, 0..<Int64(address.seq) ~= distance else { return false }
    if distance == 0 { return true }
    let first = Messages.Address(conversation: address.conversation, seq: address.seq - Int(distance))
    return try store.messages.time(of: first) == time
  }
}
