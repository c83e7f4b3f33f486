public import DMModel
package import DMStore
internal import DMSystem

extension Messenger {
  /// Adds users to a group.
  ///
  /// An announcement in the group names each new participant.
  ///
  /// - Parameters:
  ///   - handles: the handles of the users.
  ///   - reference: the group.
  ///   - withHistory: whether the new participants also see earlier messages.
  /// - Returns: nil if all these users were participants already.
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func add(_ handles: [Handle], to reference: ConversationReference, withHistory: Bool = false) throws
    -> Conversation?
  {
    try changeGroup(reference, .add, .add(handles, withHistory: withHistory))
  }

  /// Removes users from a group.
  ///
  /// An announcement in the group names each removed user.
  ///
  /// To remove the acting user, use `leave(_:)`.
  ///
  /// - Returns: nil if none of these users was a participant.
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func remove(_ handles: [Handle], from reference: ConversationReference) throws -> Conversation? {
    try changeGroup(reference, .remove, .remove(handles))
  }

  /// Leaves a group.
  ///
  /// If the user was the only owner, the participant who joined first becomes the owner.
  ///
  /// - Throws: `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func leave(_ reference: ConversationReference) throws -> Conversation? {
    try changeGroup(reference, .leave, .leave)
  }

  /// Changes the title of a group, and adds an announcement of the new title.
  ///
  /// - Returns: nil if the group has this title already.
  /// - Throws: `bad_field`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func setTitle(_ title: String, of reference: ConversationReference) throws -> Conversation? {
    try checkNewTitle(title)
    return try changeGroup(reference, .retitle, .title(title))
  }

  /// Sets the URL of a group's picture; nil removes the URL.
  ///
  /// - Returns: nil if nothing changed.
  /// - Throws: `bad_field`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func setAvatar(_ url: String?, of reference: ConversationReference) throws -> Conversation? {
    try ProfileChange(avatarURL: url).check()
    try expectPicture(url)
    return try changeGroup(reference, .changeAvatar, .avatar(url))
  }

  /// Gives a group a picture, and sets the group's `avatarURL` to the name of the picture (`Picture.url`).
  ///
  /// - Returns: nil if the group has this picture already.
  /// - Throws: `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func setPicture(_ picture: Picture, of reference: ConversationReference) throws -> Conversation? {
    try changeGroup(reference, .changeAvatar, .avatar(picture.url), picture)
  }

  /// Sets the lifetime of new messages of a conversation; nil for messages that do not expire.
  ///
  /// - Returns: nil if nothing changed.
  /// - Throws: `bad_field` for less than a second, `unknown_user`, `unknown_conversation`, `ambiguous_title`,
  ///   `not_allowed`.
  public func setExpiry(_ lifetime: Duration?, of reference: ConversationReference) throws -> Conversation? {
    if let lifetime { try checkLifetime(lifetime) }
    return try changeGroup(reference, .expire, .expire(after: lifetime?.microseconds))
  }

  /// Makes a change that all participants of a conversation see.
  ///
  /// In a linked store, queues the change for the hub.
  private func changeGroup(
    _ reference: ConversationReference, _ action: Action, _ change: GroupChange, _ picture: Picture? = nil
  ) throws -> Conversation? {
    try expectStore(with: reference)
    return try writing { session in
      var row = try session.find(reference)
      try session.check(action, in: row)
      if let picture { try session.store.pictures.insert(picture) }
      guard try session.isChange(change, of: row) else { return nil }
      if session.destination == .hub {
        try session.queue(change, of: row)
      } else {
        try session.apply(change, to: &row)
        try session.store.changes.append(.conversation, conversation: row.key, user: session.me, at: .now)
      }
      return try session.asSeen(row)
    }
  }

  /// Refuses to act if the store does not exist, so that a mistake does not create a store.
  func expectStore(with reference: ConversationReference) throws {
    if try !hasStore() { throw nothingYet(reference) }
  }
}

/// A change that all participants of a conversation see.
enum GroupChange {
  case add([Handle], withHistory: Bool)
  case remove([Handle])
  case leave
  case title(String)
  case avatar(String?)
  /// The lifetime of new messages in microseconds; nil for no expiry.
  case expire(after: Int64?)
}

extension Session {
  /// Whether the state of the conversation differs from the state that a change would set.
  fileprivate func isChange(_ change: GroupChange, of row: Conversations.Row) throws -> Bool {
    switch change {
    case .add(let handles, _):
      return try userKeys(handles).contains { try !store.members.isParticipant($0, of: row.key) }
    case .remove(let handles):
      return try userKeys(handles).contains { try store.members.isParticipant($0, of: row.key) }
    case .leave: return true
    case .title(let title): return try asSeen(row).title.map(ExactString.init) != ExactString(title)
    case .avatar(let url): return try asSeen(row).avatarURL.map(ExactString.init) != url.map(ExactString.init)
    case .expire(let lifetime): return row.expireAfter != lifetime
    }
  }

  fileprivate func apply(_ change: GroupChange, to row: inout Conversations.Row) throws {
    switch change {
    case .add(let handles, let withHistory): _ = try add(userKeys(handles), to: &row, withHistory: withHistory)
    case .remove(let handles):
      for user in try userKeys(handles) where try store.members.isParticipant(user, of: row.key) {
        try end(user, in: &row)
      }
    case .leave: try end(me, in: &row)
    case .title(let title):
      try store.conversations.set(.title(title), of: row.key)
      try announce(.titleChanged, [title], in: &row)
    case .avatar(let url): try store.conversations.set(.avatarURL(url), of: row.key)
    case .expire(let lifetime): try store.conversations.set(.expireAfter(lifetime), of: row.key)
    }
  }

  /// Adds to a group those of the users who are not participants yet.
  ///
  /// - Returns: whether any user was added.
  package func add(
    _ users: [UserKey], to row: inout Conversations.Row, withHistory: Bool
  ) throws -> Bool {
    let joining = try users.filter { try !store.members.isParticipant($0, of: row.key) }
    if joining.isEmpty { return false }
    let old = row.lastSeq
    // One call adds all announcements, before the new users become participants, because a call is linear in the number
    // of participants.
    try announce(.userJoined, joining.map { try store.users.handle($0).description }, in: &row)
    for (index, user) in joining.enumerated() {
      try admit(user, to: row, announcedIn: old + 1 + index, withHistory: withHistory)
      if try store.blocks.hasBlocked(me, by: user) { try putAside(row.key, of: user) }
    }
    try store.blocks.apply(toThoseWhoJoined: joining, row.key)
    return true
  }

  /// Makes a user a participant, who sees the messages from the announcement of their joining on; with history, also
  /// earlier messages.
  package func admit(
    _ user: UserKey, to row: Conversations.Row, announcedIn seq: Int, withHistory: Bool
  ) throws {
    var missed = 1
    if let left = try store.members.membership(of: user, in: row.key)?.leftSeq {
      missed = left + 1
      try store.members.rejoin(row, user, at: now)
      // First the blocks hide messages that were sent while the user was away, and then these messages are marked as
      // read. In the other order, a count would fall below 0.
      try store.blocks.apply(toThoseWhoJoined: [user], row.key)
    } else {
      try store.members.join(row.key, user, at: now)
    }
    if missed < seq { try store.readState.hide(missed...(seq - 1), from: user, in: row.key, isDeleted: false) }
    if withHistory { try store.readState.showHistory(to: user, in: row.key) }
    if seq <= row.lastSeq { _ = try store.readState.markRead(seq...row.lastSeq, by: user, in: row.key) }
  }

  /// Archives and mutes a conversation for a user who blocks the acting user, so that they do not notice that the
  /// acting user has added them.
  package func putAside(_ conversation: ConversationKey, of user: UserKey) throws {
    try store.members.set(.archived(true), of: user, in: conversation)
    try store.members.set(.mutedUntil(.forever), of: user, in: conversation)
  }

  /// Ends the membership of a user, and announces in the group that the user has left.
  package func end(_ user: UserKey, in row: inout Conversations.Row) throws {
    try announce(.userLeft, [store.users.handle(user).description], in: &row)
    try endMembership(of: user, in: row)
    if try !store.blocks.users(by: user).isEmpty { try store.blocks.apply(of: user, in: row.key) }
    // A former participant does not see changes of the group any more, so they get the event through an `ownState`
    // change.
    try store.changes.append(.ownState, conversation: row.key, user: user, at: now)
  }
}
