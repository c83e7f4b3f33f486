package import DMModel
package import DMStore

/// One transaction of one user.
///
/// `Messenger` makes one for each transaction. Its methods resolve references, check permissions, and do what several
/// actions have in common.
package final class Session {
  let messenger: Messenger
  let store: Store
  /// The key of the user.
  let me: UserKey
  /// The viewer of the user, which caches its look-ups for the rest of the transaction.
  ///
  /// After a write that changes what it caches, take a `freshViewer`.
  private(set) lazy var viewer = freshViewer()

  /// The decisions of the hub about an act in its log.
  package struct Order {
    /// The id of the message, for an act that adds one.
    let id: Identifier?
    let at: Timestamp
    /// The next owner of a group whose last owner leaves.
    let heir: UserKey?

    package init(id: Identifier?, at: Timestamp, heir: UserKey? = nil) {
      self.id = id
      self.at = at
      self.heir = heir
    }
  }

  /// Set while an act from the log of the hub is done as its actor, who may be another user.
  private let order: Order?

  package init(_ messenger: Messenger, _ store: Store, _ me: UserKey, order: Order? = nil) {
    self.messenger = messenger
    self.store = store
    self.me = me
    self.order = order
  }

  /// Where an act of a session goes.
  enum Destination {
    /// Into the store, at once.
    case here
    /// Into the outbox: the hub decides whether it is done, and when.
    case hub
  }

  var destination: Destination { store.isLinked && order == nil ? .hub : .here }

  /// The time of the acts: from the clock, or from the hub's log.
  var now: Timestamp { order?.at ?? .now }

  /// Who decides the number, the time and the id of a message that is added.
  var origin: (id: Identifier?, Messages.Origin) {
    order.map { ($0.id, .hub(at: $0.at, expiresAt: nil)) } ?? (nil, .here)
  }

  /// The user who inherits a group that has no owner any more.
  func heir(of group: ConversationKey) throws -> UserKey? {
    if let order { return order.heir }
    return try store.members.longestMember(of: group)
  }

  /// The handle of the user.
  var handle: Handle { get throws { try order == nil ? messenger.identity.handle : store.users.handle(me) } }

  package func freshViewer() -> Viewer { Viewer(store, me) }
}

/// The actions that need a permission; docs/rules.md lists the permissions as tables.
enum Action {
  // In a conversation that the user is in.
  case say, draft, type, edit, react
  // On a group; other users see them.
  case add, remove, leave, retitle, changeAvatar
  case expire
}

extension Session {
  /// Checks that the user may act in a conversation.
  ///
  /// - Throws: `not_allowed`.
  func check(_ action: Action, in row: Conversations.Row) throws {
    func refuse(_ reason: String) -> DMError {
      DMError(.notAllowed, reason, subject: row.typed)
    }
    guard row.leftSeq == nil else {
      throw try refuse(
        "'\(handle)' has left the conversation '\(row.typed)' and can only read; ask somebody in it to add you"
      )
    }
    switch action {
    case .say, .draft, .type, .edit, .react: return
    case .add, .remove, .leave, .retitle, .changeAvatar:
      guard row.isGroup else { throw refuse("that is for groups; '\(row.typed)' is a direct conversation") }
      if action == .remove, !row.isOwner {
        throw refuse("only an owner of the group '\(row.typed)' may remove others; ask one")
      }
    case .expire:
      if row.isGroup, !row.isOwner {
        throw refuse("only an owner of the group '\(row.typed)' may have messages expire; ask one")
      }
    }
  }

  /// Checks that the user does not write to a user that they block, whose answer they would never see.
  ///
  /// - Throws: `not_allowed`.
  func checkNotBlocked(_ row: Conversations.Row) throws {
    if row.isGroup { return }
    if try viewer.blockedUsers().isEmpty { return }
    for other in try store.members.participantKeys(of: row.key) { try checkMayStart(with: other) }
  }

  /// Checks the same for the other user of a direct conversation that need not exist yet.
  func checkMayStart(with other: UserKey) throws {
    guard try viewer.hasBlocked(other) else { return }
    let handle = try store.users.handle(other)
    throw DMError(
      .notAllowed, "you block '\(handle)'", subject: handle.description, remedy: .unblock(handle))
  }

  /// Checks that the user may change a message for all: it is their own, and not an announcement.
  ///
  /// - Throws: `not_allowed`.
  func checkOwn(_ message: Message, _ reference: MessageReference) throws {
    try checkSaid(message, reference)
    guard try message.sender == handle else {
      throw try DMError(
        .notAllowed, "'\(message.sender)' said the message '\(reference)', not '\(handle)'",
        subject: reference.description)
    }
  }

  /// Checks that a message is not an announcement.
  ///
  /// - Throws: `not_allowed` for an announcement.
  func checkSaid(_ message: Message, _ reference: MessageReference) throws {
    guard !message.isAnnouncement else {
      throw DMError(
        .notAllowed, "the message '\(reference)' is an announcement; only what was said can be changed or reported",
        subject: reference.description)
    }
  }
}

// Effects on a conversation that several actions have in common.

extension Session {
  /// Creates a conversation with its participants.
  ///
  /// The creator owns a group; if they are not in it, the first participant does, so that every group has an owner.
  package func start(
    _ kind: Conversations.NewConversation, id: Identifier? = nil, isImported: Bool = false, creator: UserKey?,
    participants: [UserKey], isOwned: Bool = true, at time: Timestamp
  ) throws -> Conversations.Row {
    let row = try store.conversations.insert(kind, id: id, isImported: isImported, creator: creator, at: time)
    for user in participants { try store.members.join(row.key, user) }
    if row.isGroup, isOwned, let owner = participants.first(where: { $0 == creator }) ?? participants.first {
      try store.members.setOwner(owner, of: row.key)
    }
    try store.blocks.apply(toThoseWhoJoined: participants, row.key)
    // An import logs a conversation once, when it is complete.
    if !isImported { try store.changes.append(.conversation, conversation: row.key, user: creator, at: now) }
    return row
  }

  /// Ends the membership of a user.
  ///
  /// If the group then has no owner, the participant who joined first becomes the owner.
  func endMembership(of user: UserKey, in row: Conversations.Row) throws {
    try store.members.leave(row, user)
    guard try !store.members.hasOwner(row.key), let heir = try heir(of: row.key) else { return }
    try store.members.setOwner(heir, of: row.key)
  }

  /// Updates conversations after the user has sent messages to them.
  ///
  /// The messages take a conversation out of the archive of participants who have not muted it, and list it again for those
  /// who deleted it. Users who block the sender see no change.
  ///
  /// - Parameter ends: the rows of the conversations, each with the numbers of its new messages.
  package func endSending(_ ends: [(row: Conversations.Row, new: [SeqRange])]) throws {
    for (row, new) in ends {
      try store.conversations.update(row, added: new.reduce(0) { $0 + $1.count }, readBy: me, sender: me)
      for seqs in new { try store.readState.extendReadRanges(by: seqs, of: me, in: row.key) }
    }
    if ends.isEmpty { return }
    try store.members.bringBack(ends.map(\.row.key), mutedAt: now, except: store.blocks.blockers(of: me))
  }

  /// Lists a conversation again that the user had deleted, because they are about to write in it.
  func bringBack(_ row: Conversations.Row) throws {
    guard try store.members.set(.deleted(false), of: me, in: row.key) else { return }
    try store.changes.append(.ownState, conversation: row.key, user: me, at: .now)
  }

  /// Adds an announcement to a conversation for each subject; the announcements count as read by all users.
  ///
  /// Linear in the participants.
  package func announce(
    _ kind: Message.SystemKind, _ subjects: [String?], in row: inout Conversations.Row
  ) throws {
    let seqs = (row.lastSeq + 1)...(row.lastSeq + subjects.count)
    let (id, origin) = origin
    for subject in subjects {
      _ = try store.messages.insert(
        Messages.NewMessage(id: id, sender: me, origin: origin, systemKind: kind, subject: subject), into: &row)
    }
    try store.conversations.update(row, added: subjects.count, readBy: nil, sender: me)
    for participant in try store.members.participantKeys(of: row.key) {
      try store.readState.extendReadRanges(by: seqs, of: participant, in: row.key)
    }
  }
}

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
