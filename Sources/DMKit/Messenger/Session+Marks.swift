// The actions of a consumer's lines on existing messages, in one transaction with the messages that the lines send.

extension Session {
  /// Finds the message and checks that all actions are allowed, so that `apply` does not fail after a message was sent.
  ///
  /// - Throws: `unknown_message`, `not_allowed`.
  func check(_ marks: ConsumerLine.Marks) throws -> (row: Conversations.Row, message: Message) {
    let found = try visibleMessage(marks.message, as: freshViewer())
    if marks.emoji != nil {
      try check(.react, in: found.row)
      try checkSaid(found.message, marks.message)
    }
    return found
  }

  func apply(_ marks: ConsumerLine.Marks, to message: Message, in row: Conversations.Row) throws {
    if let emoji = marks.emoji { _ = try EditBatch(self).act(on: Edit(.id(message.id), .react(emoji))) }
    if marks.isRead {
      _ = try change([message.number...message.number], Messenger.MarkOptions(), in: row.key, at: .now)
    }
  }
}
