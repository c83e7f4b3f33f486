// The times of imported messages: each is later than the one before it in its conversation.

extension ImportBatch {
  /// The time that a message gets, as `time(of:in:isAnnounced:)` says.
  ///
  /// - Throws: `out_of_order` for a message that is earlier than the last one of its conversation.
  func orderedTime(of message: ImportedMessage, in row: Conversations.Row, isAnnounced: Bool) throws -> Timestamp {
    if let time = try time(of: message, in: row, isAnnounced: isAnnounced) { return time }
    let advice =
      message.createdAt == row.lastActivity && !message.isRecognizable
      ? "give lines of the same time a nonce"
      : firstAdded[row.key] == nil ? "history goes only after what is there" : "sort the lines by time"
    throw DMError(
      .outOfOrder,
      "'\(message.createdAt)' is not after the last message of its conversation, at \(row.lastActivity); \(advice)",
      subject: message.createdAt.description)
  }

  /// The time that a message gets at the end of a conversation: its own, or a microsecond after the last message if the
  /// last messages are of the same time.
  ///
  /// - Parameter isAnnounced: whether an announcement goes between the two messages.
  /// - Returns: nil for a message that is earlier than the last one. So is a message of the same time that has neither
  ///   an id nor a nonce, because it may be the last one again.
  func time(of message: ImportedMessage, in row: Conversations.Row, isAnnounced: Bool) throws -> Timestamp? {
    let last = Timestamp(microseconds: row.lastActivity.microseconds + (isAnnounced ? 1 : 0))
    if row.lastSeq == 0 || rules.follows(message, last) { return message.createdAt }
    guard !isAnnounced, message.isRecognizable,
      try isOfTime(message.createdAt, Messages.Address(conversation: row.key, seq: row.lastSeq), at: row.lastActivity)
    else { return nil }
    return Timestamp(microseconds: row.lastActivity.microseconds + 1)
  }

  /// Whether the line of a stored message may have had a time: it has that time, or is the last of messages that
  /// follow each other by a microsecond, the first of which has it.
  func isOfTime(_ time: Timestamp, _ address: Messages.Address, at stored: Timestamp) throws -> Bool {
    let (distance, isTooFar) = stored.microseconds.subtractingReportingOverflow(time.microseconds)
    guard !isTooFar, 0..<Int64(address.seq) ~= distance else { return false }
    if distance == 0 { return true }
    let first = Messages.Address(conversation: address.conversation, seq: address.seq - Int(distance))
    return try store.messages.time(of: first) == time
  }
}
