extension Messenger {
  /// The user's conversations, pinned first, then newest activity.
  ///
  /// - Throws: `bad_cursor`, or a fault of the store.
  public func conversations(_ query: ListQuery = ListQuery()) throws -> [Conversation] {
    try reading([]) { store, me in
      let cursor = try query.after.map { try PageCursor($0, store: store.uuid()) }
      return try store.conversations(query, after: cursor, as: Viewer(store, me))
    }
  }

  /// How many messages are unread in the conversations that the query selects.
  public func unreadCount(_ query: ListQuery = ListQuery()) throws -> Int {
    try reading(0) { store, me in try store.unreadCount(query, as: Viewer(store, me)) }
  }

  /// One conversation as it is now.
  public func conversation(_ reference: ConversationReference) throws -> Conversation {
    let found = try reading(nil as Conversation?) { store, me in
      let row = try find(reference, store, me)
      return try store.conversation(row.key, as: Viewer(store, me))
    }
    guard let found else { throw nothingYet(reference) }
    return found
  }

  /// What an absent store, or a user who is not in it yet, has to say of a conversation.
  func nothingYet(_ reference: ConversationReference) -> DMError {
    withPlace(
      DMError(
        .unknownConversation, "there is no conversation '\(reference)': nothing was said here yet; dm-send starts one",
        subject: reference.description))
  }

  /// The direct conversation with a user, found or created: never two for a pair.
  public func directConversation(with handle: String) throws -> Conversation {
    try writing { store, me in
      guard let other = try store.userKey(handle) else { throw try unknownUser(handle, store, me) }
      if let row = try store.directConversation(me, other) {
        try bringBack(row, store, me)
        return try asSeen(row, store, me)
      }
      try checkMayStart(with: other, as: Viewer(store, me))
      return try asSeen(startDirect(with: other, store, me), store, me)
    }
  }

  func startDirect(with other: Int64, _ store: Store, _ me: Int64) throws -> Store.ConversationRow {
    try store.insertConversation(
      .direct(me, other), creator: me, participants: me == other ? [me] : [me, other], at: .now)
  }

  /// A new group of the user and those participants.
  public func createGroup(titled title: String, with handles: [String]) throws -> Conversation {
    try checkNewTitle(title)
    return try writing { store, me in
      let others = try keys(handles, store, me).filter { $0 != me }
      var row = try store.insertConversation(.group(title: title), creator: me, participants: [me] + others, at: .now)
      try store.announce(.conversationCreated, [title], by: me, in: &row)
      for user in try store.blockers(of: me) where others.contains(user) { try putAside(row.key, of: user, store) }
      return try asSeen(row, store, me)
    }
  }

  func asSeen(_ row: Store.ConversationRow, _ store: Store, _ me: Int64) throws -> Conversation {
    guard let seen = try store.conversation(row.key, as: Viewer(store, me)) else {
      throw DMError(.internal, "the conversation '\(row.id)' was not found again", subject: row.id.description)
    }
    return seen
  }
}

extension Messenger {
  /// Adds a user.
  ///
  /// Nobody acts: the first user of a store is added like this too.
  ///
  /// - Throws: `handle_taken`, `bad_handle`, `bad_field`.
  public func addUser(_ handle: Handle, _ profile: ProfileChange = ProfileChange()) throws -> User {
    try profile.check()
    let store = try createdStore()
    return try store.write {
      guard try store.userKey(handle.description) == nil else {
        throw DMError(
          .handleTaken, "the handle '\(handle)' is taken; choose another", subject: handle.description)
      }
      let key = try store.insertUser(handle, at: .now)
      if profile != ProfileChange() { try store.updateUser(key, profile, at: .now) }
      return try found(handle.description, store)
    }
  }

  /// Changes one's own profile.
  public func setProfile(_ change: ProfileChange) throws -> User {
    try change.check()
    let user = try writing { store, me in
      try store.updateUser(me, change, at: .now)
      return try found(identity.handle.description, store)
    }
    // Whoever hides goes at once, and nobody sees when he was there last.
    if !user.showsPresence { LiveFolder(path: location.live).takeBack(.present(user.handle)) }
    return user
  }

  /// A user's profile; one's own when no handle is given.
  public func user(_ handle: String? = nil) throws -> User {
    let handle = handle ?? identity.handle.description
    guard let store = try existingStore() else {
      throw DMError(
        .unknownUser, "there is no user '\(handle)': nothing was said here yet; add him with 'dm-user add'",
        subject: handle)
    }
    return try store.read { try found(handle, store) }
  }

  private func found(_ handle: String, _ store: Store) throws -> User {
    guard let user = try store.user(handle) else { throw try unknownUser(handle, store) }
    return user
  }

  /// Up to `limit` users in the order of their handles' bytes, after one.
  public func users(after handle: String = "", limit: Int) throws -> [User] {
    guard let store = try existingStore() else { return [] }
    return try store.users(after: handle, limit: limit)
  }
}
