public import DMModel
internal import DMSystem

/// A change of a conversation that concerns the user only.
public enum OwnChange: Equatable, Sendable {
  /// Lists it first, or does so no longer.
  case pinned(Bool)
  /// Leaves it out of lists, or does so no longer.
  case archived(Bool)
  /// Mutes it for a time; nil for no end.
  case muted(for: Duration?)
  /// Ends the muting.
  case unmuted
  /// Hides all its messages, and lists it again when a new one arrives.
  case deleted
  /// Sets the draft; nil removes it.
  case draft(String?)
  /// Sets the user's own name for it, which takes precedence over titles; nil removes it.
  case named(String?)
}

extension Messenger {
  /// Changes conversations for the user only; others are not told.
  ///
  /// - Returns: the conversations that changed.
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`, `bad_field` for a draft or a name,
  ///   `name_taken` for a name that another conversation has; then nothing was changed.
  public func change(_ change: OwnChange, in references: [ConversationReference]) throws -> [Conversation] {
    for reference in references { try expectStore(with: reference) }
    if case .draft(let text?) = change { try Outgoing.check(text: text) }
    if case .named(let name?) = change { try checkNewTitle(name, as: "name") }
    return try writing { store, me in
      try references.compactMap { reference in
        let row = try find(reference, store, me)
        return try apply(change, in: row, store, me) ? try asSeen(row, store, me) : nil
      }
    }
  }

  /// Stores a text as the draft of a conversation; a direct one is created if it does not exist.
  ///
  /// - Throws: `empty_text`, `text_too_long`, `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func saveDraft(_ text: String, in reference: ConversationReference) throws -> Conversation {
    try Outgoing.check(text: text)
    return try writing { store, me in
      var found = try findIfPresent(reference, store, me)
      if found == nil, case .direct(let handle) = reference, let other = try store.userKey(handle) {
        try checkMayStart(with: other, as: Viewer(store, me))
        let row = try startDirect(with: other, store, me)
        // Nobody is told of what was only meant to be said.
        if other != me { try store.set(.deleted(true), of: other, in: row.key) }
        found = row
      }
      let row = try found ?? find(reference, store, me)
      try bringBack(row, store, me)
      _ = try apply(.draft(text), in: row, store, me)
      return try asSeen(row, store, me)
    }
  }

  /// Lists a conversation again that the user had deleted: they have something to say in it.
  func bringBack(_ row: Store.ConversationRow, _ store: Store, _ me: UserKey) throws {
    guard try store.set(.deleted(false), of: me, in: row.key) else { return }
    try store.append(.ownState, conversation: row.key, user: me, at: .now)
  }

  /// - Returns: whether anything changed.
  func apply(_ change: OwnChange, in row: Store.ConversationRow, _ store: Store, _ me: UserKey) throws -> Bool {
    let before = try asSeen(row, store, me)
    switch change {
    case .pinned(let value):
      if before.isPinned == value { return false }
      try store.set(.pinned(value), of: me, in: row.key)
    case .archived(let value):
      if before.isArchived == value { return false }
      try store.set(.archived(value), of: me, in: row.key)
    case .muted(let length):
      let end = length.map { Timestamp(microseconds: Timestamp.now.microseconds + $0.microseconds) } ?? .forever
      if before.mutedUntil == end { return false }
      try store.set(.mutedUntil(end), of: me, in: row.key)
    case .unmuted:
      if before.mutedUntil == nil { return false }
      try store.set(.mutedUntil(nil), of: me, in: row.key)
    case .deleted:
      let hidden = row.lastSeq > 0 ? try store.hide(1...row.lastSeq, from: me, in: row.key, isDeleted: true) : []
      let isNews = try store.set(.deleted(true), of: me, in: row.key)
      if !isNews, hidden.isEmpty, before.draftText == nil { return false }
      try store.set(.draft(nil), of: me, in: row.key)
    case .draft(let text):
      try check(.draft, in: row)
      // A draft can be thrown away where it can no longer be sent.
      if text != nil { try checkNotBlocked(row, as: Viewer(store, me)) }
      if before.draftText.map(ExactString.init) == text.map(ExactString.init) { return false }
      try store.set(.draft(text), of: me, in: row.key)
    case .named(let name):
      if before.ownName.map(ExactString.init) == name.map(ExactString.init) { return false }
      if let name, let other = try store.conversation(ownName: name, of: me) {
        throw try nameTaken(name, other, store, me)
      }
      try store.setOwnName(name, of: me, in: row.key)
    }
    try store.append(.ownState, conversation: row.key, user: me, at: .now)
    return true
  }
  private func nameTaken(_ name: String, _ row: Store.ConversationRow, _ store: Store, _ me: UserKey) throws -> DMError
  {
    var other = try asSeen(row, store, me)
    other.ownName = nil
    let title = try store.name(of: other, as: Viewer(store, me))
    return DMError(
      .nameTaken,
      "you call the conversation '\(title)' '\(name)' already; choose another name, or clear that one with "
        + "dm-conversation name '+\(name)' ''", subject: name)
  }
}
