internal import DMStore

/// The actions that need a permission; docs/rules.md lists the permissions as tables.
enum Action {
  // In a conversation that the user is in.
  case say, draft, type, edit, react
  // On a group; other users see them.
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
      throw refuse(
        "'\(handle)' has left the conversation '\(row.typed)' and can only read; ask somebody in it to add you"
      )
    }
    switch action {
    case .say, .draft, .type, .edit, .react: return
    case .add, .remove, .leave, .retitle, .changeAvatar:
      guard row.isGroup else { throw refuse("that is for groups; '\(row.typed)' is a direct conversation") }
      if action == .remove, !row.isOwner {
        throw refuse("only an owner of the group '\(row.typed)' may remove others; ask one")
      }
    case .expire:
      if row.isGroup, !row.isOwner {
        throw refuse("only an owner of the group '\(row.typed)' may have messages expire; ask one")
      }
    }
  }

  /// Checks that the user does not write to a user that they block, whose answer they would never see.
  ///
  /// - Throws: `not_allowed`.
  func checkNotBlocked(_ row: Conversations.Row) throws {
    if row.isGroup { return }
    if try viewer.blockedUsers().isEmpty { return }
    for other in try store.members.participantKeys(of: row.key) { try checkMayStart(with: other) }
  }

  /// The same for a conversation that does not exist yet.
  func checkMayStart(with other: UserKey) throws {
    guard try viewer.hasBlocked(other) else { return }
    let handle = try store.users.handle(other)
    throw DMError(
      .notAllowed, "you block '\(handle)'", subject: handle.description, remedy: .unblock(handle))
  }

  /// Checks that the user may change a message for all: it is their own, and not an announcement.
  ///
  /// - Throws: `not_allowed`.
  func checkOwn(_ message: Message, _ reference: MessageReference) throws {
    try checkSaid(message, reference)
    guard message.sender == handle else {
      throw DMError(
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
