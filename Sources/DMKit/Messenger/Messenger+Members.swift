public import DMModel
internal import DMStore
internal import DMSystem

extension Messenger {
  /// Adds users to a group, and announces it there.
  ///
  /// - Parameters:
  ///   - handles: the handles of the users.
  ///   - reference: the group.
  ///   - withHistory: whether they also see the messages from before.
  /// - Returns: nil if all of them were participants already.
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func add(_ handles: [String], to reference: ConversationReference, withHistory: Bool = false) throws
    -> Conversation?
  {
    try changeGroup(reference, .add) { row, store, me in
      let joining = try keys(handles, store, me).filter { try !store.isParticipant($0, of: row.key) }
      if joining.isEmpty { return false }
      let old = row.lastSeq
      // First to those who are in it, all at once, however many come.
      try store.announce(.userJoined, joining.map { try store.handle($0).description }, by: me, in: &row)
      for (index, user) in joining.enumerated() {
        try admit(user, to: row, announcedIn: old + 1 + index, withHistory: withHistory, store)
        if try store.hasBlocked(me, by: user) { try putAside(row.key, of: user, store) }
      }
      try store.applyBlocks(toThoseWhoJoined: joining, row.key)
      return true
    }
  }

  /// Has a user take part from the message that announced them.
  private func admit(
    _ user: UserKey, to row: Store.ConversationRow, announcedIn seq: Int, withHistory: Bool, _ store: Store
  ) throws {
    var missed = 1
    if let left = try store.membership(of: user, in: row.key)?.leftSeq {
      missed = left + 1
      try store.rejoin(row, user, at: .now)
      // Messages that were sent meanwhile count as hidden by a block before they count as read: no count falls below 0.
      try store.applyBlocks(toThoseWhoJoined: [user], row.key)
    } else {
      try store.join(row.key, user, at: .now)
    }
    if missed < seq { try store.hide(missed...(seq - 1), from: user, in: row.key, isDeleted: false) }
    if withHistory { try store.showHistory(to: user, in: row.key) }
    _ = try store.cover(seq...row.lastSeq, by: user, in: row.key)
  }

  /// What a user does to one who blocks them must not be shown to that one.
  func putAside(_ conversation: ConversationKey, of user: UserKey, _ store: Store) throws {
    try store.set(.archived(true), of: user, in: conversation)
    try store.set(.mutedUntil(.forever), of: user, in: conversation)
  }

  /// Removes users from a group, and announces it there.
  ///
  /// For the user who acts there is `leave(_:)`.
  ///
  /// - Returns: nil if none of them was a participant.
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func remove(_ handles: [String], from reference: ConversationReference) throws -> Conversation? {
    try changeGroup(reference, .remove) { row, store, me in
      var isChanged = false
      for user in try keys(handles, store, me) where try store.isParticipant(user, of: row.key) {
        isChanged = true
        try end(user, by: me, &row, store)
      }
      return isChanged
    }
  }

  /// Leaves a group; if the user was the last owner, the participant of the longest time becomes the owner.
  ///
  /// - Throws: `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func leave(_ reference: ConversationReference) throws -> Conversation? {
    try changeGroup(reference, .leave) { row, store, me in
      try end(me, by: me, &row, store)
      return true
    }
  }

  private func end(_ user: UserKey, by me: UserKey, _ row: inout Store.ConversationRow, _ store: Store) throws {
    try store.announce(.userLeft, [store.handle(user).description], by: me, in: &row)
    try store.leave(row, user)
    if try !store.blockedUsers(by: user).isEmpty { try store.applyBlocks(of: user, in: row.key) }
    // A user who is out of it is told by a change of their own.
    try store.append(.ownState, conversation: row.key, user: user, at: .now)
  }

  /// Changes the title of a group, and announces it there.
  ///
  /// - Returns: nil if it was the title already.
  /// - Throws: `bad_field`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func setTitle(_ title: String, of reference: ConversationReference) throws -> Conversation? {
    try checkNewTitle(title)
    return try changeGroup(reference, .retitle) { row, store, me in
      if try asSeen(row, store, me).title.map(ExactString.init) == ExactString(title) { return false }
      try store.set(.title(title), of: row.key)
      try store.announce(.titleChanged, [title], by: me, in: &row)
      return true
    }
  }

  /// Sets the address of the picture of a group; nil for none.
  ///
  /// - Returns: nil if nothing changed.
  /// - Throws: `bad_field`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func setAvatar(_ url: String?, of reference: ConversationReference) throws -> Conversation? {
    try ProfileChange(avatarURL: url).check()
    return try changeGroup(reference, .changeAvatar) { row, store, me in
      if try asSeen(row, store, me).avatarURL.map(ExactString.init) == url.map(ExactString.init) { return false }
      try store.set(.avatarURL(url), of: row.key)
      return true
    }
  }

  /// Sets the time after which new messages expire; nil if they do not.
  ///
  /// - Returns: nil if nothing changed.
  /// - Throws: `bad_field` for less than a second, `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func setExpiry(_ lifetime: Duration?, of reference: ConversationReference) throws -> Conversation? {
    if let lifetime { try checkLifetime(lifetime) }
    return try changeGroup(reference, .expire) { row, store, me in
      if row.expireAfter == lifetime?.microseconds { return false }
      try store.set(.expireAfter(lifetime?.microseconds), of: row.key)
      return true
    }
  }

  /// Does something to a conversation that all in it see.
  private func changeGroup(
    _ reference: ConversationReference, _ act: Act,
    _ body: (inout Store.ConversationRow, Store, UserKey) throws -> Bool
  ) throws -> Conversation? {
    try expectStore(with: reference)
    return try writing { store, me in
      var row = try find(reference, store, me)
      try check(act, in: row)
      guard try body(&row, store, me) else { return nil }
      try store.append(.conversation, conversation: row.key, user: me, at: .now)
      return try asSeen(row, store, me)
    }
  }

  /// So that a mistake makes no store.
  func expectStore(with reference: ConversationReference) throws {
    if try !hasStore() { throw nothingYet(reference) }
  }

  /// The keys of users, each once.
  func keys(_ handles: [String], _ store: Store, _ me: UserKey) throws -> [UserKey] {
    var found: [UserKey] = []
    for handle in handles {
      guard let user = try store.userKey(handle) else { throw try unknownUser(handle, store, me) }
      if !found.contains(user) { found.append(user) }
    }
    return found
  }
}
