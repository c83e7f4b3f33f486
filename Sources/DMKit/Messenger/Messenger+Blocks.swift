public import DMModel

extension Messenger {
  /// Blocks or unblocks users; a blocked user is not told, and nothing of them reaches the user.
  ///
  /// - Returns: the users who were not blocked, or not unblocked, before.
  /// - Throws: `unknown_user`, and `not_allowed` for the user's own handle.
  public func setBlocked(_ isBlocked: Bool, _ handles: [String]) throws -> [User] {
    if try !hasStore(), let handle = handles.first { _ = try user(handle) }
    return try writing { store, me in
      try keys(handles, store, me).compactMap { other in
        guard other != me else {
          throw DMError(
            .notAllowed, "you cannot block yourself, '\(identity.handle)'", subject: identity.handle.description)
        }
        guard try store.setBlock(isBlocked, of: other, by: me, at: .now) else { return nil }
        for conversation in try store.sharedConversations(me, other) {
          try store.applyBlocks(of: me, in: conversation)
          try store.append(.ownState, conversation: conversation, user: me, at: .now)
        }
        return try store.user(store.handle(other).description)
      }
    }
  }

  /// The users that the user blocks, in the order in which they were blocked.
  public func blockedUsers() throws -> [User] {
    try reading([]) { store, me in
      try store.blockedUsers(by: me).compactMap { try store.user(store.handle($0).description) }
    }
  }
}
