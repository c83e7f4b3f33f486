internal import DMStore

extension Messenger {
  /// The message of a reference, also one that waits for the hub, for a quotation of its text.
  ///
  /// - Parameter conversation: the conversation of a number that is written without one.
  /// - Throws: `unknown_message`, also for a message that the user does not see; `unknown_user`, `unknown_conversation`,
  ///   `ambiguous_title`, `not_allowed`.
  package func messageToQuote(
    _ reference: MessageReference, in conversation: ConversationReference
  ) throws -> Message {
    let found = try reading(nil as Message?) { session in
      if let waiting = try session.waitingMessage(reference),
        let row = try session.store.conversations.row(key: waiting.conversation)
      {
        return try session.message(waiting, in: row)
      }
      guard case .number(_, in: nil) = reference else { return try session.visibleMessage(reference).message }
      return try session.visibleMessage(reference, in: session.find(conversation)).message
    }
    guard let found else { throw nothingYet(reference) }
    return found
  }

  /// Whether a message is in a conversation; false for a direct conversation that does not exist yet.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  package func isMessage(_ message: Message, in conversation: ConversationReference) throws -> Bool {
    try reading(false) { try $0.findIfPresent(conversation)?.id == message.conversationID }
  }

  /// The other participants who have not read a message that the user sent, also while it waits for the hub.
  ///
  /// Users who have left the conversation are not included. Users who do not send read receipts, and users who block the
  /// sender, are always included: the sender does not learn that they block.
  ///
  /// - Returns: nil if the message was deleted or has expired.
  package func participantsWhoHaveNotRead(_ id: Identifier) throws -> [Handle]? {
    try reading(nil) { session in
      let store = session.store
      let viewer = Viewer(store, session.me, includesReaders: true)
      var readers: [Handle] = []
      let conversation: ConversationKey
      if let address = try store.messages.address(ofIDOrAlias: id) {
        guard let message = try store.messages.seen(at: address, as: viewer) else { return nil }
        conversation = address.conversation
        readers = message.readBy ?? []
      } else if let waiting = try session.waitingMessage(.id(id)) {
        conversation = waiting.conversation
      } else {
        return nil
      }
      let participants = try store.conversations.seen(conversation, as: viewer)?.participants ?? []
      let me = try session.handle
      return participants.filter { $0 != me && !readers.contains($0) }
    }
  }
}
