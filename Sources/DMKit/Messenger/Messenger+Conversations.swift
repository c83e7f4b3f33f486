public import DMModel
internal import DMStore

extension Messenger {
  /// The user's conversations: pinned conversations first, then the conversations with the newest activity.
  ///
  /// - Throws: `bad_cursor`; for conversations that the query names, `unknown_user`, `unknown_conversation`,
  ///   `ambiguous_title`, `not_allowed`.
  public func conversations(_ query: ListQuery = ListQuery()) throws -> [Conversation] {
    try list(query, []) {
      UsageAct.Extent(count: $0.count)
    } _: { query, session in
      try query.after?.check(in: session.store.uuid())
      let listed = try session.store.conversations.list(query, as: session.viewer)
      return try session.destination == .hub ? listed.map(session.withWaiting) : listed
    }
  }

  /// The number of unread messages of the conversations that the query selects.
  ///
  /// - Throws: like `conversations(_:)`.
  public func unreadCount(_ query: ListQuery = ListQuery()) throws -> Int {
    try list(query, 0) { _ in
      UsageAct.Extent()
    } _: { query, session in
      try session.store.conversations.unreadCount(query, as: session.viewer)
    }
  }

  /// Looks up the conversations that a query names, and runs `body` with their keys in the query.
  private func list<T>(
    _ query: ListQuery, _ empty: T, _ extent: (T) -> UsageAct.Extent, _ body: (ListQuery, Session) throws -> T
  ) throws -> T {
    guard query.isOpening else { return try list(query, empty, body) }
    return try reporting(.opened, extent) { try list(query, empty, body) }
  }

  private func list<T>(_ query: ListQuery, _ empty: T, _ body: (ListQuery, Session) throws -> T) throws -> T {
    let found = try reading(nil as T?) { session in
      var query = query
      if !query.conversations.isEmpty { query.keys = try query.conversations.map { try session.find($0).key } }
      return try body(query, session)
    }
    if found == nil, let first = query.conversations.first { throw nothingYet(first) }
    return found ?? empty
  }

  /// The current state of one conversation.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func conversation(_ reference: ConversationReference) throws -> Conversation {
    let found = try reading(nil as Conversation?) { session in
      try session.store.conversations.seen(session.find(reference).key, as: session.viewer).map(session.withWaiting)
    }
    guard let found else { throw nothingYet(reference) }
    return found
  }

  /// The handles and display names of the current and former participants of a conversation, in the order of joining.
  ///
  /// Linear in their number.
  ///
  /// - Throws: `unknown_conversation`, `ambiguous_title`.
  package func participants(of reference: ConversationReference) throws -> [(handle: Handle, displayName: String?)] {
    try reading([]) { session in try session.store.members.names(in: session.find(reference).key) }
  }

  /// The error for a reference if there is no store, or if the user is not in the store yet.
  func nothingYet(_ reference: ConversationReference) -> DMError {
    namingStore(
      DMError(
        .unknownConversation, "there is no conversation '\(reference)': nothing was said here yet",
        subject: reference.description, remedy: .startConversation))
  }

  /// Finds or creates the direct conversation with one user; for several users, creates a group without a title.
  ///
  /// - Parameters:
  ///   - handles: the handles of the other users; empty for the direct conversation of the user with themselves.
  ///   - ifAbsent: whether to return an existing group without a title that has exactly these users, if there is one.
  /// - Throws: `unknown_user`; `not_allowed` if a direct conversation must be created and the acting user blocks the
  ///   other user; `ambiguous_title` if there are several such groups.
  public func createConversation(with handles: [Handle], ifAbsent: Bool = false) throws -> Conversation {
    try creating { session in
      let others = try session.userKeys(handles).filter { $0 != session.me }
      return others.count > 1
        ? try session.createGroup(nil, of: others, ifAbsent: ifAbsent)
        : try session.startDirectIfAbsent(with: others.first ?? session.me)
    }
  }

  /// Finds or creates the direct conversation with a user.
  ///
  /// Two users have only one direct conversation.
  package func directConversation(with handle: Handle) throws -> Conversation {
    try createConversation(with: [handle])
  }

  /// Creates a group with the user, who becomes its owner, and other users.
  ///
  /// - Parameters:
  ///   - title: the title, of 1 to 256 bytes.
  ///   - handles: the handles of the other users.
  ///   - ifAbsent: whether to return an existing group with this title that the user owns and that has all these users,
  ///     if there is one. Its participants do not change.
  /// - Throws: `bad_field` for the title; `unknown_user`; `ambiguous_title`; `name_taken` if there are groups with this
  ///   title, but each has another owner or lacks some of these users.
  public func createGroup(titled title: String, with handles: [Handle], ifAbsent: Bool = false) throws -> Conversation {
    try checkNewTitle(title)
    return try creating { session in
      let others = try session.userKeys(handles).filter { $0 != session.me }
      return try session.createGroup(title, of: others, ifAbsent: ifAbsent)
    }
  }

  private func creating(_ body: (Session) throws -> Conversations.Row) throws -> Conversation {
    try reporting(.created) { _ in
      UsageAct.Extent(count: 1)
    } _: {
      try writing { session in try session.asSeen(body(session)) }
    }
  }
}

extension Session {
  func startDirect(with other: UserKey) throws -> Conversations.Row {
    let id = try destination == .hub ? Identifier.direct(handle, try store.users.handle(other), at: .now) : nil
    return try start(
      .direct(me, other), id: id, creator: me, participants: me == other ? [me] : [me, other], at: .now)
  }

  fileprivate func startDirectIfAbsent(with other: UserKey) throws -> Conversations.Row {
    if let row = try store.conversations.direct(me, other) {
      try bringBack(row)
      return row
    }
    try checkMayStart(with: other)
    let row = try startDirect(with: other)
    try beginOnHub(row)
    return row
  }

  fileprivate func createGroup(
    _ title: String?, of others: [UserKey], ifAbsent: Bool
  ) throws -> Conversations.Row {
    if ifAbsent, let row = try existingGroup(title, of: others) {
      try bringBack(row)
      return row
    }
    let id = try destination == .hub ? Identifier.group(begunBy: handle, at: .now) : nil
    var row = try start(.group(title: title), id: id, creator: me, participants: [me] + others, at: .now)
    if destination == .hub {
      try beginOnHub(row)
      return row
    }
    try announce(.conversationCreated, [title], in: &row)
    for user in try store.blocks.blockers(of: me) where others.contains(user) { try putAside(row.key, of: user) }
    return row
  }

  /// The group that an earlier call created.
  ///
  /// Without a title: the only untitled group with exactly these members. With a title: the only group of the user that
  /// has all these users. Either the title is the user's own name for the group, or the user has created the group with
  /// this title and still owns it.
  ///
  /// If the title is not the user's own name for a group, a group that another user has created does not count, even if
  /// the acting user owns it now: the other user can create a group with this title, add the acting user, and leave. An
  /// imported group does not count, because any user can import a group with the acting user as its creator.
  ///
  /// - Throws: `name_taken` if only other groups have that title; `ambiguous_title`.
  private func existingGroup(_ title: String?, of others: [UserKey]) throws -> Conversations.Row? {
    guard let title else {
      let groups = try store.conversations.untitledGroups(of: [me] + others)
      if groups.count > 1 { throw try ambiguous("", "without a title and of exactly these members", groups) }
      return groups.first
    }
    let named = try store.conversations.row(ownName: title, of: me).map { [$0] }
    let there = try named ?? store.conversations.groups(titled: title, of: me)
    let own = try there.filter { row in
      guard row.isGroup, let mine = try store.members.membership(of: me, in: row.key), mine.leftSeq == nil else {
        return false
      }
      return try (named != nil || mine.isOwner && isOwn(row))
        && Set(others).isSubset(of: store.members.participantKeys(of: row.key))
    }
    if own.count > 1 { throw try ambiguous("+\(title)", "titled '\(title)'", own) }
    if own.isEmpty, try named != nil || there.contains(where: { try store.members.isParticipant(me, of: $0.key) }) {
      throw DMError(
        .nameTaken, "you have made no group '+\(title)' with these members", subject: "+\(title)", remedy: .chooseGroup,
        detail: "; there is " + (try descriptions(of: there)))
    }
    return own.first
  }

  private func isOwn(_ row: Conversations.Row) throws -> Bool {
    try !row.isImported && store.conversations.creator(of: row.key) == me
  }

  /// The current state of a conversation, as the user sees it.
  func asSeen(_ row: Conversations.Row) throws -> Conversation {
    guard let seen = try store.conversations.seen(row.key, as: freshViewer()) else {
      throw DMError(.internal, "the conversation '\(row.id)' was not found again", subject: row.id.description)
    }
    return seen
  }
}
