public import DMModel
internal import DMStore
internal import DMSystem

/// A change of the user's own state of a conversation, which no other user sees.
public enum OwnChange: Equatable, Sendable {
  /// Pins or unpins the conversation. Lists begin with the pinned conversations.
  case pinned(Bool)
  /// Archives or unarchives the conversation. Lists leave out archived conversations.
  case archived(Bool)
  /// Mutes the conversation for this time; nil for no end.
  case muted(for: Duration?)
  /// Unmutes the conversation.
  case unmuted
  /// Hides all messages of the conversation, and removes it from lists until a new message arrives.
  case deleted
  /// Sets the draft of the conversation; nil removes the draft.
  case draft(String?)
  /// Sets the user's own name for the conversation, which takes precedence over its title; nil removes the name.
  case named(String?)
}

extension Messenger {
  /// Changes conversations for the user only.
  ///
  /// Other users do not see the change.
  ///
  /// - Returns: the conversations that changed.
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`; `bad_field` for a draft or a
  ///   name; `name_taken` for a name that another conversation has. In each case nothing was changed.
  public func change(_ change: OwnChange, in references: [ConversationReference]) throws -> [Conversation] {
    for reference in references { try expectStore(with: reference) }
    if case .draft(let text?) = change { try Outgoing.check(text: text) }
    if case .named(let name?) = change { try checkNewTitle(name, as: "name") }
    return try writing { session in
      try references.compactMap { reference in
        let row = try session.find(reference)
        return try session.apply(change, in: row) ? try session.asSeen(row) : nil
      }
    }
  }

  /// Stores a text as the draft of a conversation.
  ///
  /// A direct conversation that does not exist yet is created.
  ///
  /// - Throws: `empty_text`, `text_too_long`, `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  package func saveDraft(_ text: String, in reference: ConversationReference) throws -> Conversation {
    try Outgoing.check(text: text)
    return try writing { session in
      let row = try session.findIfPresent(reference) ?? session.startForDraft(reference)
      try session.bringBack(row)
      _ = try session.apply(.draft(text), in: row)
      return try session.asSeen(row)
    }
  }
}

extension Session {
  /// Creates a direct conversation without messages.
  ///
  /// The other user does not see it until a message is sent.
  fileprivate func startForDraft(_ reference: ConversationReference) throws -> Conversations.Row {
    guard case .direct(let handle) = reference else { return try find(reference) }
    let other = try userKey(handle)
    try checkMayStart(with: other)
    let row = try startDirect(with: other)
    if other != me { try store.members.set(.deleted(true), of: other, in: row.key) }
    return row
  }

  /// Applies a change to a conversation.
  ///
  /// - Returns: whether anything changed.
  func apply(_ change: OwnChange, in row: Conversations.Row) throws -> Bool {
    let before = try asSeen(row)
    let isChanged =
      switch change {
      case .pinned(let value): try set(.pinned(value), in: row, where: before.isPinned != value)
      case .archived(let value): try set(.archived(value), in: row, where: before.isArchived != value)
      case .muted(let length):
        try mute(
          row, until: length.map { Timestamp(microseconds: Timestamp.now.microseconds + $0.microseconds) } ?? .forever,
          before)
      case .unmuted: try mute(row, until: nil, before)
      case .deleted: try delete(row, hadDraft: before.draftText != nil)
      case .draft(let text): try setDraft(text, in: row, before)
      case .named(let name): try setOwnName(name, of: row, before)
      }
    if isChanged { try store.changes.append(.ownState, conversation: row.key, user: me, at: .now) }
    return isChanged
  }

  private func set(_ state: Members.OwnState, in row: Conversations.Row, where isNew: Bool) throws -> Bool {
    if isNew { try store.members.set(state, of: me, in: row.key) }
    return isNew
  }

  private func mute(_ row: Conversations.Row, until end: Timestamp?, _ before: Conversation) throws -> Bool {
    try set(.mutedUntil(end), in: row, where: before.mutedUntil != end)
  }

  private func delete(_ row: Conversations.Row, hadDraft: Bool) throws -> Bool {
    let hidden =
      row.lastVisibleSeq > 0
      ? try store.readState.hide(1...row.lastVisibleSeq, from: me, in: row.key, isDeleted: true) : []
    let isNewlyDeleted = try store.members.set(.deleted(true), of: me, in: row.key)
    return try set(.draft(nil), in: row, where: isNewlyDeleted || !hidden.isEmpty || hadDraft)
  }

  private func setDraft(_ text: String?, in row: Conversations.Row, _ before: Conversation) throws -> Bool {
    try check(.draft, in: row)
    // A draft can be removed even if the user may no longer send it.
    if text != nil { try checkNotBlocked(row) }
    return try set(
      .draft(text), in: row, where: before.draftText.map(ExactString.init) != text.map(ExactString.init))
  }

  private func setOwnName(_ name: String?, of row: Conversations.Row, _ before: Conversation) throws -> Bool {
    if before.ownName.map(ExactString.init) == name.map(ExactString.init) { return false }
    if let name, let other = try store.conversations.row(ownName: name, of: me) { throw try nameTaken(name, other) }
    let freed = try store.conversations.ownName(of: me, for: row.key)
    try store.conversations.setOwnName(name, of: me, in: row.key)
    try takeFreed(freed.map { [($0, holder: row.id)] } ?? [])
    return true
  }

  private func nameTaken(_ name: String, _ row: Conversations.Row) throws -> DMError {
    var other = try asSeen(row)
    other.ownName = nil
    let title = try store.conversations.name(of: other, as: freshViewer())
    return DMError(
      .nameTaken,
      "you call the conversation '\(title)' '\(name)' already; choose another name",
      subject: name, remedy: .clearOwnName(name))
  }
}
