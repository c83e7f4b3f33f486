/// What the lines of a consumer's program do to messages that are there, in one transaction with what they send.
final class MarkSession {
  /// A message, with its conversation as the user sees it.
  typealias Marked = (row: Store.ConversationRow, message: Message)

  private let messenger: Messenger
  private let store: Store
  private let me: UserKey

  init(_ messenger: Messenger, _ store: Store, _ me: UserKey) {
    self.messenger = messenger
    self.store = store
    self.me = me
  }

  /// Finds the message and checks that all of it may be done, so that `apply` does not fail after a message was sent.
  ///
  /// - Throws: `unknown_message`, `not_allowed`.
  func check(_ marks: ConsumerLine.Marks) throws -> Marked {
    let found = try messenger.visibleMessage(marks.message, store, as: Viewer(store, me))
    if marks.emoji != nil {
      try messenger.check(.react, in: found.row)
      try messenger.checkSaid(found.message, marks.message)
    }
    return found
  }

  func apply(_ marks: ConsumerLine.Marks, to marked: Marked) throws {
    if let emoji = marks.emoji {
      _ = try EditSession(messenger, store, me).act(on: Edit(.id(marked.message.id), .react(emoji)))
    }
    if marks.isRead {
      let seq = marked.message.number
      _ = try messenger.change([seq...seq], Messenger.MarkOptions(), store, Viewer(store, me), marked.row.key, at: .now)
    }
  }
}
