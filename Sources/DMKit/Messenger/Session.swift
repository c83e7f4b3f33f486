package import DMModel
package import DMStore

/// One transaction of one user.
///
/// `Messenger` makes a session for each transaction. The methods of a session resolve references, check permissions,
/// and do the steps that several actions share.
package final class Session {
  let messenger: Messenger
  let store: Store
  /// The key of the user.
  let me: UserKey
  /// The viewer of the user, which caches what it has read for the rest of the transaction.
  ///
  /// After a write that changes cached data, use `freshViewer()`.
  private(set) lazy var viewer = freshViewer()

  /// What the hub has decided about an act in its log.
  package struct Order {
    /// The id of the message, if the act adds a message.
    let id: Identifier?
    let at: Timestamp
    /// The user who becomes the owner if the last owner leaves the group.
    let heir: UserKey?

    package init(id: Identifier?, at: Timestamp, heir: UserKey? = nil) {
      self.id = id
      self.at = at
      self.heir = heir
    }
  }

  /// Set while the session applies an act from the hub's log.
  ///
  /// The acting user is then the author of the act, who may be any user.
  private let order: Order?

  package init(_ messenger: Messenger, _ store: Store, _ me: UserKey, order: Order? = nil) {
    self.messenger = messenger
    self.store = store
    self.me = me
    self.order = order
  }

  /// Where the session writes an act.
  enum Destination {
    /// The tables of the store: the act takes effect at once.
    case here
    /// The outbox: the hub decides whether the act takes effect, and when.
    case hub
  }

  var destination: Destination { store.isLinked && order == nil ? .hub : .here }

  /// The time of an act: the present time, or the time in the hub's log.
  var now: Timestamp { order?.at ?? .now }

  /// The source of the number, the time and the id of a message that is added: this store or the hub.
  var origin: (id: Identifier?, Messages.Origin) {
    order.map { ($0.id, .hub(at: $0.at, expiresAt: nil)) } ?? (nil, .here)
  }

  /// The user who becomes the owner of a group without an owner; nil if there is no such user.
  func heir(of group: ConversationKey) throws -> UserKey? {
    if let order { return order.heir }
    return try store.members.longestMember(of: group)
  }

  /// The handle of the user.
  var handle: Handle { get throws { try order == nil ? messenger.identity.handle : store.users.handle(me) } }

  package func freshViewer() -> Viewer { Viewer(store, me) }
}

/// The actions for which a user needs a permission.
///
/// The permissions are in the tables of docs/rules.md.
enum Action {
  // Actions in a conversation that the user is in.
  case say, draft, type, edit, react, pin
  // Actions on a group, which other users see.
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
    case .say, .draft, .type, .edit, .react, .pin: return
    case .add, .remove, .leave, .retitle, .changeAvatar:
      guard row.isGroup else { throw refuse("'\(row.typed)' is a direct conversation; create a group for that") }
      if action == .remove, !row.isOwner {
        throw refuse("only an owner of the group '\(row.typed)' may remove others; ask one")
      }
    case .expire:
      if row.isGroup, !row.isOwner {
        throw refuse("only an owner of the group '\(row.typed)' may have messages expire; ask one")
      }
    }
  }

  /// Checks that the user does not write to a user that they block, because they would never see an answer.
  ///
  /// - Throws: `not_allowed`.
  func checkNotBlocked(_ row: Conversations.Row) throws {
    if row.isGroup { return }
    if try viewer.blockedUsers().isEmpty { return }
    for other in try store.members.participantKeys(of: row.key) { try checkMayStart(with: other) }
  }

  /// Checks that the acting user does not block another user, for a direct conversation that may not exist yet.
  func checkMayStart(with other: UserKey) throws {
    guard try viewer.hasBlocked(other) else { return }
    let handle = try store.users.handle(other)
    throw DMError(
      .notAllowed, "you block '\(handle)'", subject: handle.description, remedy: .unblock(handle))
  }

  /// Checks that the user may change a message for everyone: the user has sent it, and it is not an announcement.
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

// Effects on a conversation that several actions share.

extension Session {
  /// Creates a conversation with its participants.
  ///
  /// The creator becomes the owner of a group. If the creator is not a participant, the first participant becomes the
  /// owner, so that a group with participants has an owner.
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
    // An import logs one change for a conversation, after all its messages were added.
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
  /// Takes a conversation out of the archives of the participants who have not muted it, and lists it again for the
  /// participants who have deleted it. Nothing changes for users who block the sender.
  /// - Parameter ends: the rows of the conversations, each with the numbers of its new messages.
  package func endSending(_ ends: [(row: Conversations.Row, new: [SeqRange])]) throws {
    for (row, new) in ends {
      try store.conversations.update(row, added: new.reduce(0) { $0 + $1.count }, readBy: me, sender: me)
      for seqs in new { try store.readState.extendReadRanges(by: seqs, of: me, in: row.key) }
    }
    if ends.isEmpty { return }
    try store.members.bringBack(ends.map(\.row.key), mutedAt: now, except: store.blocks.blockers(of: me))
  }

  /// Lists a conversation again that the user has deleted, because the user is about to write in it.
  func bringBack(_ row: Conversations.Row) throws {
    guard try store.members.set(.deleted(false), of: me, in: row.key) else { return }
    try store.changes.append(.ownState, conversation: row.key, user: me, at: .now)
  }

  /// Adds one announcement to a conversation for each subject.
  ///
  /// The announcements count as read by all users.
  ///
  /// Linear in the number of participants.
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

// The marks in a consumer's lines: actions on existing messages, in the same transaction as the messages to send.

extension Session {
  /// Finds the message, and checks that all actions on it are allowed.
  ///
  /// Called before the message of the line is sent, because `apply`, which is called later, must not fail.
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
