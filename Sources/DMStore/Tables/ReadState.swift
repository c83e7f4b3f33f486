package import DMModel

// Reads: conversation, mention, message, participant, read_range.
// Writes: participant, read_range.

/// The messages that each user has read or received, the messages that are hidden from each user, and the receipts that
/// others see.
package struct ReadState {
  let store: Store

  /// Adds new messages to a user's read ranges.
  ///
  /// Does not change the stored counts, because `Conversations.update` does that.
  package func extendReadRanges(by range: SeqRange, of user: UserKey, in conversation: ConversationKey) throws {
    do {
      var extend = try store.connection.prepare(
        """
        UPDATE read_range SET to_seq = ?1 WHERE conversation = ?3 AND user = ?4 AND to_seq = ?2 - 1
        AND from_seq = (SELECT max(from_seq) FROM read_range WHERE conversation = ?3 AND user = ?4)
        """)
      extend.bind(range.upperBound)
      extend.bind(range.lowerBound)
      extend.bind(conversation)
      extend.bind(user)
      try extend.run()
    }
    if store.connection.changes > 0 { return }
    try insertReadRange(range, of: user, in: conversation)
  }

  /// A user's read ranges that overlap a range, ascending.
  package func readRanges(of user: UserKey, in conversation: ConversationKey, overlapping range: SeqRange) throws
    -> [SeqRange]
  {
    var statement = try store.connection.prepare(
      """
      SELECT from_seq, to_seq FROM read_range WHERE conversation = ?1 AND user = ?2 AND from_seq <= ?4
      AND from_seq >= coalesce((SELECT max(from_seq) FROM read_range
        WHERE conversation = ?1 AND user = ?2 AND from_seq <= ?3), ?3)
      AND to_seq >= ?3 ORDER BY from_seq
      """)
    return try ranges(&statement, user, conversation, range)
  }

  /// The parts of a range whose state would change if the range were marked as read or as unread.
  package func wouldChange(_ range: SeqRange, toRead: Bool, as viewer: Viewer, in conversation: ConversationKey) throws
    -> [SeqRange]
  {
    let near = try readRanges(of: viewer.user, in: conversation, overlapping: range)
    if toRead {
      return try difference(
        of: difference(of: range, minus: near), minus: unreachable(range, as: viewer, in: conversation))
    }
    let settled = near.isEmpty ? [] : try settledMessages(range, as: viewer, in: conversation)
    return difference(of: near.map { $0.clamped(to: range) }, minus: settled)
  }

  /// The messages of a range that the user cannot read, because they are hidden, expired, or sent by a blocked user.
  package func unreachable(_ range: SeqRange, as viewer: Viewer, in conversation: ConversationKey) throws -> [SeqRange]
  {
    let hidden = try viewer.hidden(in: range, of: conversation)
    let expired = try store.messages.expiredMessages(now: viewer.now).filter {
      $0.conversation == conversation && range ~= $0.seq
    }
    if try expired.isEmpty && viewer.blockedUsers().isEmpty { return hidden }
    let blocked =
      try store.blocks.blockedMessages(by: viewer.user, in: conversation, range) + expired.map { $0.seq...$0.seq }
    return coalesced((hidden + blocked).sorted { $0.lowerBound < $1.lowerBound })
  }

  /// Marks a range as read for the user.
  ///
  /// No receipt is added.
  ///
  /// - Returns: the parts of the range that were unread.
  package func markRead(_ range: SeqRange, by user: UserKey, in conversation: ConversationKey) throws -> [SeqRange] {
    // The query includes read ranges that adjoin the range, because they are joined with it.
    let near = try readRanges(of: user, in: conversation, overlapping: (range.lowerBound - 1)...(range.upperBound + 1))
    let added = difference(of: range, minus: near)
    guard let first = added.first else { return [] }
    let lower = min(near.first?.lowerBound ?? first.lowerBound, range.lowerBound)
    let upper = max(near.last?.upperBound ?? first.upperBound, range.upperBound)
    try replaceReadRanges(near, with: [lower...upper], of: user, in: conversation)
    try addToReadCount(added, 1, of: user, in: conversation)
    return added
  }

  /// Marks a range as unread for the user.
  ///
  /// Messages that never count as unread, such as the user's own, stay read.
  ///
  /// - Parameter evenAbsent: whether to mark also messages that a linked store has not kept. The store does not have
  ///   the data that decide whether these messages count as unread.
  /// - Returns: the parts of the range that were read.
  package func markUnread(
    _ range: SeqRange, as viewer: Viewer, in conversation: ConversationKey, evenAbsent: Bool = false
  ) throws -> [SeqRange] {
    let user = viewer.user
    let near = try readRanges(of: user, in: conversation, overlapping: range)
    guard let first = near.first, let last = near.last else { return [] }
    let settled = try settledMessages(range, as: viewer, in: conversation, evenAbsent: !evenAbsent)
    let removed = difference(of: near.map { $0.clamped(to: range) }, minus: settled)
    guard !removed.isEmpty else { return [] }
    var kept = difference(of: near.map { $0.clamped(to: range) }, minus: removed)
    if first.lowerBound < range.lowerBound { kept.insert(first.lowerBound...(range.lowerBound - 1), at: 0) }
    if last.upperBound > range.upperBound { kept.append((range.upperBound + 1)...last.upperBound) }
    try replaceReadRanges(near, with: coalesced(kept), of: user, in: conversation)
    try addToReadCount(removed, -1, of: user, in: conversation)
    return removed
  }

  /// The messages of a range that never count as unread for a user: the user's own messages, announcements, tombstones,
  /// and messages that the user cannot read.
  ///
  /// - Parameter evenAbsent: whether to include messages that a linked store has not kept.
  private func settledMessages(
    _ range: SeqRange, as viewer: Viewer, in conversation: ConversationKey, evenAbsent: Bool = true
  ) throws -> [SeqRange] {
    var statement = try store.connection.prepare(
      """
      SELECT seq, seq FROM message WHERE conversation = ?1 AND seq BETWEEN ?3 AND ?4
      AND (sender = ?2 OR deleted_at IS NOT NULL OR system_kind IS NOT NULL) ORDER BY seq
      """)
    let settled = try ranges(&statement, viewer.user, conversation, range)
    let unreachable = try unreachable(range, as: viewer, in: conversation)
    let absent = evenAbsent ? try store.hubFloors.absent(range, in: conversation) : []
    return coalesced((settled + unreachable + absent).sorted { $0.lowerBound < $1.lowerBound })
  }

  /// Reads the ranges that a statement returns.
  ///
  /// The parameters of the statement are the conversation, the user, and the first and last number of the range.
  package func ranges(_ statement: inout Statement, _ user: UserKey, _ conversation: ConversationKey, _ range: SeqRange)
    throws -> [SeqRange]
  {
    statement.bind(conversation)
    statement.bind(user)
    statement.bind(range.lowerBound)
    statement.bind(range.upperBound)
    var result: [SeqRange] = []
    while try statement.step() { result.append(try statement.seqs(0, 1)) }
    return result
  }

  private func replaceReadRanges(
    _ old: [SeqRange], with new: [SeqRange], of user: UserKey, in conversation: ConversationKey
  ) throws {
    if let first = old.first, let last = old.last {
      var delete = try store.connection.prepare(
        "DELETE FROM read_range WHERE conversation = ? AND user = ? AND from_seq BETWEEN ? AND ?")
      delete.bind(conversation)
      delete.bind(user)
      delete.bind(first.lowerBound)
      delete.bind(last.lowerBound)
      try delete.run()
    }
    for range in new { try insertReadRange(range, of: user, in: conversation) }
  }

  /// Replaces a user's read ranges in a conversation.
  ///
  /// Does not change the stored count.
  package func setReadRanges(_ ranges: [SeqRange], of user: UserKey, in conversation: ConversationKey) throws {
    var delete = try store.connection.prepare("DELETE FROM read_range WHERE conversation = ? AND user = ?")
    delete.bind(conversation)
    delete.bind(user)
    try delete.run()
    for range in ranges { try insertReadRange(range, of: user, in: conversation) }
  }

  func insertReadRange(_ range: SeqRange, of user: UserKey, in conversation: ConversationKey) throws {
    var insert = try store.connection.prepare(
      "INSERT INTO read_range (conversation, user, from_seq, to_seq) VALUES (?, ?, ?, ?)")
    insert.bind(conversation)
    insert.bind(user)
    insert.bind(range.lowerBound)
    insert.bind(range.upperBound)
    try insert.run()
  }

  /// Updates the stored counts after ranges have become read or, if the sign is -1, unread.
  private func addToReadCount(_ ranges: [SeqRange], _ sign: Int, of user: UserKey, in conversation: ConversationKey)
    throws
  {
    var counts = try store.connection.prepare(
      """
      SELECT blocked_count, mention_count, EXISTS (SELECT 1 FROM mention WHERE conversation = ?1 AND user = ?2)
      FROM participant WHERE conversation = ?1 AND user = ?2
      """)
    counts.bind(conversation)
    counts.bind(user)
    guard try counts.step() else { return }
    var (blocked, mentioned) = (0, 0)
    for range in ranges {
      if counts.int(0) > 0 {
        blocked += try store.blocks.blockedMessages(by: user, in: conversation, range).count
      }
      if counts.bool(2) { mentioned += try store.mentions.count(user, in: conversation, range) }
    }
    var statement = try store.connection.prepare(
      """
      UPDATE participant SET read_count = read_count + ?, blocked_count = blocked_count - ?,
        mention_count = mention_count - ? WHERE conversation = ? AND user = ?
      """)
    statement.bind(sign * ranges.reduce(0) { $0 + $1.count })
    statement.bind(sign * blocked)
    statement.bind(sign * mentioned)
    statement.bind(conversation)
    statement.bind(user)
    try statement.run()
  }

  /// The number of unread messages for a user.
  ///
  /// Messages that have expired since the last write do not count.
  package func unreadCount(in conversation: ConversationKey, as viewer: Viewer) throws -> Int {
    var statement = try store.connection.prepare(
      """
      SELECT coalesce(p.left_seq, c.last_seq) - p.read_count - p.blocked_count FROM participant p
      JOIN conversation c ON c.id = p.conversation WHERE p.conversation = ? AND p.user = ?
      """)
    statement.bind(conversation)
    statement.bind(viewer.user)
    return try statement.step() ? max(0, statement.count(0) - viewer.pending(in: conversation).unread) : 0
  }

  /// A time before which the user has read all messages; nil if no message is unread.
  ///
  /// The result is the earliest time among the first unread message of each conversation and the messages after it.
  ///
  /// Linear in the number of these messages, because their times need not ascend.
  package func oldestUnread(of user: UserKey) throws -> Timestamp? {
    var statement = try store.connection.prepare(
      """
      SELECT min((SELECT min(m.created_at) FROM message m WHERE m.conversation = c.id AND m.seq >= coalesce(
        (SELECT iif(from_seq = 1, to_seq + 1, 1) FROM read_range r
          WHERE r.conversation = c.id AND r.user = p.user ORDER BY from_seq LIMIT 1), 1)))
      FROM participant p CROSS JOIN conversation c ON c.id = p.conversation
      WHERE p.user = ? AND coalesce(p.left_seq, c.last_seq) > p.read_count
      """)
    statement.bind(user)
    return try statement.step() && !statement.isNull(0) ? statement.timestamp(0) : nil
  }
}
