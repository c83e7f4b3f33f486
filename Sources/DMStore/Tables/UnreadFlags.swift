// Reads: conversation.
// Writes: participant.

/// The flags that say which participants have unread messages.
///
/// An index has the rows whose flag is set, so that counting a user's unread messages does not read the conversations
/// that the user has read.
package struct UnreadFlags {
  let store: Store

  /// The right flag of a row of `participant p`.
  ///
  /// In a large group, a send does not change the rows of the participants, and the flag is 0.
  private static let right = """
    (p.last_activity IS NOT NULL AND p.read_count + p.blocked_count
      < coalesce(p.left_seq, (SELECT c.last_seq FROM conversation c WHERE c.id = p.conversation)))
    """

  /// A condition that is true if the flag of a row of `participant p` is wrong.
  package static let isWrong = "p.is_unread <> \(right)"

  private static let correction = "UPDATE participant AS p SET is_unread = NOT is_unread WHERE \(isWrong)"

  /// Corrects the flags of the participants whose rows the current transaction has changed.
  func correct(_ changed: RowChanges) throws {
    for participant in changed.participants() {
      var update = try store.connection.prepare(
        as: "unread flag", Self.correction + " AND conversation = ? AND user = ?")
      update.bind(participant.conversation)
      update.bind(participant.user)
      try update.run()
    }
  }

  /// Corrects all flags, and returns how many were wrong.
  ///
  /// Linear in the number of participants.
  package func correctAll() throws -> Int {
    try store.connection.execute(Self.correction)
    return store.connection.changes
  }
}
