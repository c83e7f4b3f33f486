internal import DMModel
internal import DMStore

// Effects on a conversation that several actions have in common.

extension Session {
  /// Creates a conversation with its participants.
  ///
  /// The creator owns a group; if they are not in it, the first participant does, so that every group has an owner.
  func start(
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
  func endSending(_ ends: [(row: Conversations.Row, new: [SeqRange])]) throws {
    for (row, new) in ends {
      try store.conversations.update(row, added: new.reduce(0) { $0 + $1.count }, readBy: me, sender: me)
      for seqs in new { try store.readState.extendReadRanges(by: seqs, of: me, in: row.key) }
    }
    if ends.isEmpty { return }
    try store.members.bringBack(ends.map(\.row.key), mutedAt: now, except: store.blocks.blockers(of: me))
  }

  /// Adds an announcement to a conversation for each subject; all of them count as read by all.
  ///
  /// Linear in the participants.
  func announce(
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
