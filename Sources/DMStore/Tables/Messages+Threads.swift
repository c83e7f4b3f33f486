package import DMModel

// Reads: message.

extension Messages {
  /// A message, and the id of the message that it answers.
  package struct Answer {
    package let address: Address
    package let id: Identifier
    package let sender: UserKey
    /// The id of the message that is answered; nil if the message answers none.
    package let replyTo: Identifier?

    fileprivate init(_ row: borrowing Statement) {
      address = Address(conversation: row.conversationKey(0), seq: row.int(1))
      id = row.identifier(2)
      sender = row.userKey(3)
      replyTo = row.optionalIdentifier(4)
    }
  }

  /// The message with an id, even if the user does not see it; nil if there is none.
  package func answer(_ id: Identifier) throws -> Answer? {
    var statement = try store.connection.prepare(
      "SELECT conversation, seq, uuid, sender, reply_to FROM message WHERE uuid = ?")
    statement.bind(id)
    return try statement.step() ? Answer(statement) : nil
  }

  /// Finds the messages after a number that answer another message.
  static let answersAfter: StaticString = """
    SELECT conversation, seq, uuid, sender, reply_to FROM message
    WHERE conversation = ? AND seq > ? AND reply_to IS NOT NULL ORDER BY seq
    """

  /// Passes to `body` the messages after a number that answer another message, ascending, also those that the user does
  /// not see.
  ///
  /// Linear in the number of messages after that number: there is no index of answers, because each message would pay for
  /// it.
  package func forEachAnswer(
    after seq: Int, in conversation: ConversationKey, _ body: (Answer) throws -> Void
  ) throws {
    var statement = try store.connection.prepare(Self.answersAfter)
    statement.bind(conversation)
    statement.bind(seq)
    while try statement.step() { try body(Answer(statement)) }
  }
}
