public import DMModel
internal import DMStore

extension Messenger {
  /// Adds a user.
  ///
  /// The acting user need not exist, because the first user of a store is added in this way, too.
  ///
  /// - Parameters:
  ///   - handle: the handle of the new user.
  ///   - profile: the profile of the new user.
  ///   - ifAbsent: whether to return the existing user with this handle, if there is one. Their profile does not
  ///     change.
  /// - Throws: `handle_taken`, `bad_handle`, `bad_field`.
  public func addUser(
    _ handle: Handle, _ profile: ProfileChange = ProfileChange(), ifAbsent: Bool = false
  ) throws -> User {
    try profile.check()
    try expectPicture(profile.avatarURL)
    let store = try createdStore()
    return try store.write {
      if store.isLinked {
        throw DMError(
          .notAllowed, "the hub adds its users; ask its administrator to invite '\(handle)'",
          subject: handle.description)
      }
      if ifAbsent, let user = try store.users.user(handle) { return user }
      guard try store.users.key(handle) == nil else {
        throw DMError(
          .handleTaken, "the handle '\(handle)' is taken; choose another", subject: handle.description)
      }
      let key = try store.users.insert(handle, at: .now)
      if profile != ProfileChange() { try store.users.update(key, profile, at: .now) }
      return try found(handle, store)
    }
  }

  /// Changes the acting user's profile.
  ///
  /// - Parameters:
  ///   - change: the fields to change.
  ///   - picture: the new picture, whose name becomes the `avatarURL`; nil to take the `avatarURL` of `change`.
  /// - Throws: `bad_field`.
  public func setProfile(_ change: ProfileChange, picture: Picture? = nil) throws -> User {
    var change = change
    if let picture { change.avatarURL = picture.url } else { try expectPicture(change.avatarURL) }
    try change.check()
    let user = try writing { [change] session in
      if let picture { try session.store.pictures.insert(picture) }
      try session.store.users.update(session.me, change, at: .now)
      try session.queueProfile()
      return try found(identity.handle, session.store)
    }
    // A user who hides their presence is shown as offline at once, and the time at which they were last online is
    // removed.
    if !user.showsPresence { LiveFolder(path: location.live).takeBack(.present(user.handle)) }
    return user
  }

  /// The user with this handle; without a handle, the acting user.
  ///
  /// - Throws: `unknown_user`.
  public func user(_ handle: Handle? = nil) throws -> User {
    // This call comes first, because opening a linked store sets `identity` to the person of the store.
    let store = try existingStore()
    let handle = handle ?? identity.handle
    guard let store else {
      throw DMError(
        .unknownUser, "there is no user '\(handle)': nothing was said here yet", subject: handle.description,
        remedy: .addUser)
    }
    return try askingHub(for: store) { try store.read { try found(handle, store) } }
  }

  private func found(_ handle: Handle, _ store: Store) throws -> User {
    guard let user = try store.users.user(handle) else { throw try unknownUser(handle, store) }
    return user
  }

  /// At most `limit` users whose handles come after this handle, in the order of the bytes of the handles.
  public func users(after handle: Handle? = nil, limit: Int) throws -> [User] {
    guard let store = try existingStore() else { return [] }
    return try store.users.users(after: handle?.description ?? "", limit: limit)
  }
}

extension Messenger {
  /// Blocks or unblocks users.
  ///
  /// Blocked users are not notified, and the acting user sees no messages of blocked users.
  ///
  /// - Returns: the users who are now blocked or unblocked and were not before.
  /// - Throws: `unknown_user`, and `not_allowed` for the user's own handle.
  public func setBlocked(_ isBlocked: Bool, _ handles: [Handle]) throws -> [User] {
    if try !hasStore(), let handle = handles.first { _ = try user(handle) }
    return try writing { session in
      try session.userKeys(handles).filter { try session.setBlocked(isBlocked, $0) }.compactMap(session.profile)
    }
  }

  /// The users that the acting user blocks, in the order in which they were blocked.
  public func blockedUsers() throws -> [User] {
    try reading([]) { session in try session.store.blocks.users(by: session.me).compactMap(session.profile) }
  }
}

extension Session {
  /// Blocks or unblocks a user.
  ///
  /// - Returns: whether the block was added or removed; false if nothing changed.
  func setBlocked(_ isBlocked: Bool, _ other: UserKey) throws -> Bool {
    guard other != me else {
      throw try DMError(
        .notAllowed, "you cannot block yourself, '\(handle)'; name another user", subject: handle.description)
    }
    guard try store.blocks.set(isBlocked, of: other, by: me, at: .now) else { return false }
    for conversation in try store.members.sharedConversations(me, other) {
      try store.blocks.apply(of: me, in: conversation)
      if !isBlocked {
        if destination == .hub { try acknowledge(in: conversation) }
        // The user may have deleted the conversation before a message arrived that the block hid. Now the message is
        // visible, so the conversation is listed again.
        if try store.readState.unreadCount(in: conversation, as: freshViewer()) > 0 {
          try store.members.set(.deleted(false), of: me, in: conversation)
        }
      }
      try store.changes.append(.ownState, conversation: conversation, user: me, at: .now)
    }
    return true
  }

  fileprivate func profile(_ user: UserKey) throws -> User? {
    try store.users.user(store.users.handle(user))
  }
}
