public import DMModel

extension Messenger {
  /// Acts on messages, in order and in one transaction.
  ///
  /// An action that fails does not stop the others.
  ///
  /// - Returns: the results, in the order of the actions.
  /// - Throws: an error of the store; then nothing was changed.
  public func edit(_ batch: [Edit]) throws -> [Result<Edit.Outcome, DMError>] {
    // So that a mistake makes no store.
    if try !hasStore() {
      return batch.map { edit in
        .failure(
          DMError(
            .unknownMessage, "there is no message '\(edit.message)': nothing was said here yet",
            subject: edit.message.description))
      }
    }
    return try perform(batch) { EditSession(self, $0, $1) }
  }

  /// The messages of a conversation with some numbers that the user sees, ascending.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func messages(in conversation: ConversationReference, _ ranges: [RangeReference]) throws -> [Message] {
    var query = HistoryQuery(conversation)
    (query.ranges, query.limit) = (ranges, nil)
    return try history(query).rest()
  }
}

/// What one user does to messages in one transaction.
final class EditSession: BatchSession {
  private let messenger: Messenger
  private let store: Store
  private let me: UserKey
  /// One for all: what is hidden from a user may be as much as what they edit.
  private let viewer: Viewer
  private let mentions: Mentions

  init(_ messenger: Messenger, _ store: Store, _ me: UserKey) {
    self.messenger = messenger
    self.store = store
    self.me = me
    viewer = Viewer(store, me)
    mentions = Mentions(store)
  }

  func act(on edit: Edit) throws -> Edit.Outcome {
    let (row, message) = try messenger.visibleMessage(edit.message, store, as: viewer)
    let place = Store.Place(conversation: row.key, seq: message.number)
    guard let stored = try store.storedMessage(at: place) else {
      throw DMError(.internal, "the message '\(message.id)' was not found again", subject: message.id.description)
    }
    switch edit.act {
    case .text(let text):
      try messenger.check(.edit, in: row)
      try messenger.checkOwn(message, edit.message)
      if message.bears(text) { return .message(message) }
      try store.edit(stored, to: text, mentioning: mentions.users(in: text, of: row.key), at: viewer.now)
      return .message(try store.message(at: place, as: viewer) ?? message)
    case .delete(let forEveryone):
      if forEveryone {
        try messenger.check(.edit, in: row)
        try messenger.checkOwn(message, edit.message)
        try store.bury(stored, at: viewer.now)
      } else {
        try store.hide(message.number...message.number, from: me, in: row.key, isDeleted: true)
        viewer.hides(message.number, in: row.key)
        try store.append(
          .deletedForMe, conversation: row.key, user: me, seqs: message.number...message.number, at: viewer.now)
      }
      return .deleted(
        Deletion(messageID: message.id, conversationID: row.id, seq: message.number, forEveryone: forEveryone))
    case .react(let emoji):
      try messenger.check(.react, in: row)
      try messenger.checkSaid(message, edit.message)
      _ = try store.react(emoji, to: stored, by: me, at: viewer.now)
      return .reaction(
        Reaction(
          messageID: message.id, conversationID: row.id, seq: message.number, user: messenger.identity.handle,
          emoji: emoji, reactedAt: viewer.now))
    case .report(let reason):
      try messenger.checkSaid(message, edit.message)
      guard message.sender != messenger.identity.handle else {
        throw DMError(
          .notAllowed, "the message '\(edit.message)' is your own; delete it instead",
          subject: edit.message.description)
      }
      try store.report(stored, by: me, reason: reason, at: viewer.now)
      return .report(
        Report(
          messageID: message.id, conversationID: row.id, seq: message.number, sender: message.sender,
          user: messenger.identity.handle, reason: reason, text: message.text, reportedAt: viewer.now))
    }
  }

  func finish() {}
}
