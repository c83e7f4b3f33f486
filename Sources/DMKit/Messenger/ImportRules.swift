internal import DMStore

/// The permissions of imports, for one transaction.
///
/// A conversation is open if an import created it and all its messages were imported; otherwise it is in use. Any user
/// may import into an open conversation. Only a participant may import into a conversation that is in use, and only
/// messages of its current or former participants.
final class ImportRules {
  private let session: Session
  private let store: Store
  /// The users who block the user who imports.
  private let blockers: Set<UserKey>
  private var histories: [ConversationKey: Conversations.History] = [:]

  init(_ session: Session) throws {
    self.session = session
    store = session.store
    blockers = Set(try store.blocks.blockers(of: session.me))
  }

  func history(of conversation: ConversationKey) throws -> Conversations.History {
    if let cached = histories[conversation] { return cached }
    let history = try store.conversations.history(of: conversation)
    histories[conversation] = history
    return history
  }

  /// Whether a message is later than `last`, the time of the previous message.
  ///
  /// If `last` is far ahead of the clock, it is wrong. Then a message that is far earlier than `last` is accepted, too.
  func follows(_ message: ImportedMessage, _ last: Timestamp) -> Bool {
    let isWrong = last.microseconds - Timestamp.now.microseconds > Messages.tolerance
    return message.createdAt > last
      || isWrong && last.microseconds - message.createdAt.microseconds > Messages.tolerance
  }

  /// Records that the last message of a conversation was imported.
  func add(_ row: Conversations.Row) throws {
    histories[row.key] = Conversations.History(count: try history(of: row.key).count + 1, lastSeq: row.lastSeq)
  }

  /// Whether a conversation is open: an import created it, and all its messages were imported.
  private func isOpen(_ row: Conversations.Row) throws -> Bool {
    try row.isImported && history(of: row.key).count == row.lastSeq
  }

  func isAllowed(in row: Conversations.Row) throws -> Bool {
    try isOpen(row) || store.members.isParticipant(session.me, of: row.key)
  }

  /// Checks that the user may import into a conversation.
  ///
  /// - Throws: `not_allowed` if the conversation is in use and the user is not a participant.
  func checkAllowed(_ row: Conversations.Row, _ name: String) throws {
    if try isAllowed(in: row) { return }
    throw try DMError(
      .notAllowed,
      "'\(session.handle)' is not in the conversation '\(name)', which is in use; ask somebody in it to add you",
      subject: name)
  }

  /// Checks that a message may have this sender.
  ///
  /// - Parameter user: nil if the store does not have the sender yet.
  /// - Throws: `not_allowed` if the sender is not one of the two users of a direct conversation, or was never in a
  ///   group that is in use.
  func checkSender(_ user: UserKey?, _ handle: Handle, of row: Conversations.Row) throws {
    if try row.isGroup && isOpen(row) { return }
    if let user, try store.members.participates(user, in: row.key) { return }
    throw DMError(
      .notAllowed,
      row.isGroup
        ? "'\(handle)' never was in the group '\(row.typed)', which is in use; add them first"
        : "'\(handle)' is not one of the two in that direct conversation", subject: handle.description)
  }

  /// Checks that the user may import an announcement, which readers could take for an announcement by dm.
  ///
  /// - Throws: `not_allowed` if the conversation is in use and the user is not an owner of it.
  func checkAnnouncement(in row: Conversations.Row) throws {
    if try isOpen(row) || store.members.membership(of: session.me, in: row.key)?.isOwner == true { return }
    throw DMError(
      .notAllowed, "only an owner can import announcements into a conversation that is in use; leave the line out")
  }

  /// Checks that none of the users who would see the imported messages blocks the user who imports.
  ///
  /// - Throws: `not_allowed` if one of them does.
  func checkUnblocked(_ readers: Set<UserKey>) throws {
    if blockers.isDisjoint(with: readers) { return }
    throw try DMError(
      .notAllowed,
      "'\(session.handle)' may not import into that conversation; ask another of its participants to do it",
      subject: session.handle.description)
  }

  /// Whether the import must be announced before the next message: the conversation is in use, and its last message was
  /// not imported.
  func mustAnnounce(in row: Conversations.Row) throws -> Bool {
    try !isOpen(row) && history(of: row.key).lastSeq != row.lastSeq
  }
}
