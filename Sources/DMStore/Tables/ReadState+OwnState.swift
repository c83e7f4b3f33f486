package import DMModel

// Reads: message.

// The part of a user's read state that their other machines need and cannot get from receipts.

extension ReadState {
  /// The messages with numbers up to `last` that a user has read without a receipt.
  ///
  /// If the user has left, receipts do not count, because a former member's receipts do not reach the user's other
  /// machines.
  ///
  /// Each range may also include messages that never count as unread, such as the user's own.
  package func privatelyRead(by user: UserKey, in conversation: ConversationKey, upTo last: Int, hasLeft: Bool) throws
    -> [SeqRange]
  {
    guard last > 0 else { return [] }
    let all = 1...last
    let read = try readRanges(of: user, in: conversation, overlapping: all).map { $0.clamped(to: all) }
    let receipts = hasLeft ? [] : try receipts(of: user, in: conversation, overlapping: 1...last)
    let open = difference(of: read, minus: receipts)
    return try difference(of: open, minus: hidden(.anyReason, from: user, in: conversation)).compactMap { gap in
      var ends = try store.connection.prepare(
        """
        SELECT min(seq), max(seq) FROM message WHERE conversation = ? AND seq BETWEEN ? AND ? AND sender <> ?
        AND deleted_at IS NULL AND system_kind IS NULL
        """)
      ends.bind(conversation)
      ends.bind(gap.lowerBound)
      ends.bind(gap.upperBound)
      ends.bind(user)
      return try ends.step() && !ends.isNull(0) ? ends.seqs(0, 1) : nil
    }
  }

  /// The messages with numbers up to `last` that a user has marked as unread after they had sent a receipt.
  package func unreadAgain(by user: UserKey, in conversation: ConversationKey, upTo last: Int) throws -> [SeqRange] {
    guard last > 0 else { return [] }
    return difference(
      of: try receipts(of: user, in: conversation, overlapping: 1...last),
      minus: try readRanges(of: user, in: conversation, overlapping: 1...last))
  }

  /// The messages of a range for which a user has sent receipts.
  package func receipts(of user: UserKey, in conversation: ConversationKey, overlapping range: SeqRange) throws
    -> [SeqRange]
  {
    coalesced(try receiptRanges(of: user, in: conversation, overlapping: range).map { $0.clamped(to: range) })
  }
}
