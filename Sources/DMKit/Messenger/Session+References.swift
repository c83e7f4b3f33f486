internal import DMModel
internal import DMStore

extension Session {
  /// The key of the user with a handle.
  ///
  /// - Throws: `unknown_user`.
  func userKey(_ handle: Handle) throws -> UserKey {
    guard let user = try store.users.key(handle) else { throw try unknownUser(handle) }
    return user
  }

  /// The keys of the users with these handles, without duplicates.
  ///
  /// - Throws: `unknown_user`.
  func userKeys(_ handles: [Handle]) throws -> [UserKey] {
    var found: [UserKey] = []
    for user in try handles.map(userKey) where !found.contains(user) { found.append(user) }
    return found
  }

  /// Finds a conversation in which the user is or was.
  ///
  /// If the user has left it, `leftSeq` of the result is set.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  func find(_ reference: ConversationReference) throws -> Conversations.Row {
    if let row = try findIfPresent(reference) { return row }
    throw DMError(
      .unknownConversation, "there is no conversation with '\(reference)' yet",
      subject: reference.description, remedy: .startConversation)
  }

  /// Finds a conversation in the same way as `find`, but returns nil for a direct conversation that does not exist yet.
  func findIfPresent(_ reference: ConversationReference) throws -> Conversations.Row? {
    guard var row = try anyConversation(reference) else { return nil }
    row.reference = reference.description
    // A direct conversation has no former participants, so no check is needed.
    if !row.isGroup, case .direct = reference { return row }
    guard let membership = try store.members.membership(of: me, in: row.key) else {
      throw try DMError(
        .notAllowed, "'\(handle)' is not in the conversation '\(reference)'; ask one of its participants",
        subject: reference.description)
    }
    row.isOwner = membership.isOwner
    row.leftSeq = membership.leftSeq
    return row
  }

  private func anyConversation(_ reference: ConversationReference) throws -> Conversations.Row? {
    switch reference {
    case .direct(let handle):
      return try store.conversations.direct(me, userKey(handle))
    case .title(let title):
      // The user's own names take precedence over titles, because other users can change titles.
      if let row = try store.conversations.row(ownName: title, of: me) { return row }
      var groups = try store.conversations.groups(titled: title, of: me)
      // Groups that the user has left are ignored if the user is in one with the same title.
      if groups.count > 1 {
        let current = try groups.filter { try store.members.isParticipant(me, of: $0.key) }
        if !current.isEmpty { groups = current }
      }
      if groups.count > 1 { throw try ambiguous("+\(title)", "titled '\(title)'", groups) }
      if let group = groups.first { return group }
      throw try unknownGroup(title)
    case .id(let id):
      if let row = try store.conversations.row(id) ?? store.conversations.row(alias: id) { return row }
      throw try noConversation(id)
    }
  }

  /// The error for an id that no conversation has; it says so if the user sees a message with this id.
  private func noConversation(_ id: Identifier) throws -> DMError {
    if let address = try store.messages.address(ofIDOrAlias: id),
      try store.members.participates(me, in: address.conversation)
    {
      let conversation = try store.conversations.id(address.conversation)
      return DMError(
        .unknownConversation, "'\(id)' is a message; name its conversation, '\(conversation)'",
        subject: id.description)
    }
    return DMError(
      .unknownConversation, "there is no conversation or message '\(id)'", subject: id.description,
      remedy: .listConversations)
  }

  /// The error for a reference that names several groups.
  ///
  /// The error describes the three most recently active groups, so that the user can choose.
  func ambiguous(_ reference: String, _ what: String, _ groups: [Conversations.Row]) throws -> DMError {
    DMError(
      .ambiguousTitle,
      "\(groups.count) groups are \(what)", subject: reference, remedy: .chooseGroup,
      detail: ": " + (try descriptions(of: groups)))
  }

  /// The ids and members of the three most recently active of these groups.
  func descriptions(of groups: [Conversations.Row]) throws -> String {
    let viewer = freshViewer()
    let newest = groups.sorted { $0.lastActivity > $1.lastActivity }.prefix(3)
    let list = try newest.map { row in
      // The user may be outside of the group, but only during an import.
      guard let seen = try store.conversations.seen(row.key, as: viewer) else { return row.id.description }
      let others = seen.participants.count - 3
      let members = seen.participants.prefix(3).map(\.description).joined(separator: ", ")
      return "\(row.id) (\(members)\(others > 0 ? " and \(others) more" : ""); last active "
        + "\(String(seen.lastActivityAt.description.prefix(16)))Z)"
    }
    return list.joined(separator: ", ") + (groups.count > 3 ? ", …" : "")
  }

  /// The number of a message in a conversation.
  ///
  /// - Throws: `unknown_message`, also if the message is in another conversation.
  func seq(of reference: MessageReference, in row: Conversations.Row) throws -> Int {
    switch reference {
    case .id(let id):
      if let address = try store.messages.address(ofIDOrAlias: id), address.conversation == row.key {
        return address.seq
      }
      throw DMError(
        .unknownMessage, "there is no message '\(id)' in that conversation\(try hintForID())",
        subject: id.description, remedy: .listMessagesOfConversation)
    case .number(let number, let other):
      if let other, try find(other).key != row.key {
        throw DMError(
          .unknownMessage, "'\(other):\(number)' is a message of another conversation; name one of this",
          subject: "\(other):\(number)")
      }
      if number < 0 {
        let end = try end(Int(clamping: number.magnitude), of: row)
        if let seq = end.seq { return seq }
        throw DMError(
          .unknownMessage, "there is no message '\(number)'; you see \(end.count) in the conversation",
          subject: String(number))
      }
      let seq = number
      guard seq >= 1, seq <= row.lastVisibleSeq else {
        throw DMError(
          .unknownMessage, "there is no message '\(number)'; the conversation has \(row.lastVisibleSeq)",
          subject: String(number))
      }
      return seq
    }
  }

  /// The conversation and the number of a message in a conversation of the user.
  ///
  /// The reference alone must identify the conversation.
  func find(_ reference: MessageReference) throws -> Messages.Address {
    switch reference {
    case .number(let number, in: let conversation?):
      let row = try find(conversation)
      return Messages.Address(conversation: row.key, seq: try seq(of: .number(number, in: nil), in: row))
    case .number(let number, in: nil):
      throw DMError(
        .badReference, "'\(number)' alone names no message; write CONVERSATION:\(number)", subject: String(number))
    case .id(let id):
      guard let address = try store.messages.address(ofIDOrAlias: id) else {
        throw DMError(
          .unknownMessage, "there is no message '\(id)'\(try hintForID())", subject: id.description,
          remedy: .listMessages)
      }
      guard try store.members.participates(me, in: address.conversation) else {
        throw try DMError(
          .notAllowed, "'\(handle)' is not in the conversation of the message '\(id)'", subject: id.description
        )
      }
      return address
    }
  }

  /// A hint for the error about an unknown id; empty if the store has kept all messages.
  private func hintForID() throws -> String {
    try store.hubFloors.all().isEmpty ? "" : " here; name a message that this store has not kept by its number"
  }

  /// A message that the user sees, and its conversation.
  ///
  /// - Throws: `unknown_message`, also for a message that is hidden from the user, deleted or expired.
  func visibleMessage(
    _ reference: MessageReference, in given: Conversations.Row? = nil, as viewer: Viewer? = nil
  ) throws -> (row: Conversations.Row, message: Message) {
    var named = given
    if named == nil, case .number(_, in: let conversation?) = reference { named = try find(conversation) }
    let address =
      try named.map { Messages.Address(conversation: $0.key, seq: try seq(of: reference, in: $0)) }
      ?? find(reference)
    let row = try named ?? find(.id(store.conversations.id(address.conversation)))
    if let message = try store.messages.seen(at: address, as: viewer ?? self.viewer) { return (row, message) }
    try requireKept(address.seq, of: row, reference.description)
    throw DMError(
      .unknownMessage,
      "the message '\(reference)' is not there any more, or not for you",
      subject: reference.description, remedy: .listVisibleMessages)
  }

  /// The message numbers that ranges select for the user, unsorted.
  func resolved(_ ranges: [RangeReference], in row: Conversations.Row) throws -> [SeqRange] {
    // Tombstones do not count for negative numbers, even if they are printed. So the viewer must not see tombstones.
    try ranges.compactMap { range in
      try range.resolved(last: row.lastVisibleSeq) { try end($0, of: row).seq }
    }
  }
}
