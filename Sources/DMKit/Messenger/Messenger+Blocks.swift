public import DMModel

extension Messenger {
  /// Blocks or unblocks users.
  ///
  /// Blocked users are not notified, and the user sees nothing from them.
  ///
  /// - Returns: the users who were not blocked, or not unblocked, before.
  /// - Throws: `unknown_user`, and `not_allowed` for the user's own handle.
  public func setBlocked(_ isBlocked: Bool, _ handles: [Handle]) throws -> [User] {
    if try !hasStore(), let handle = handles.first { _ = try user(handle) }
    return try writing { session in
      try session.userKeys(handles).filter { try session.setBlocked(isBlocked, $0) }.compactMap(session.profile)
    }
  }

  /// The users that the user blocks, in the order in which they were blocked.
  public func blockedUsers() throws -> [User] {
    try reading([]) { session in try session.store.blocks.users(by: session.me).compactMap(session.profile) }
  }
}

extension Session {
  /// Blocks or unblocks a user.
  ///
  /// - Returns: whether this changed anything.
  fileprivate func setBlocked(_ isBlocked: Bool, _ other: UserKey) throws -> Bool {
    guard other != me else {
      throw DMError(.notAllowed, "you cannot block yourself, '\(handle)'", subject: handle.description)
    }
    guard try store.blocks.set(isBlocked, of: other, by: me, at: .now) else { return false }
    for conversation in try store.members.sharedConversations(me, other) {
      try store.blocks.apply(of: me, in: conversation)
      try store.changes.append(.ownState, conversation: conversation, user: me, at: .now)
    }
    return true
  }

  fileprivate func profile(_ user: UserKey) throws -> User? {
    try store.users.user(store.users.handle(user))
  }
}
