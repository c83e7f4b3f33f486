public import DMModel
internal import DMStore

extension Messenger {
  /// Sends one message, and returns it after it is on the disk.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`, `unknown_message` for the
  ///   message that it answers, `unknown_attachment`, `nonce_conflict`, or an error of the store.
  public func send(_ outgoing: Outgoing) throws -> Message {
    try send([outgoing])[0].get()
  }

  /// Sends messages in one transaction, in order.
  ///
  /// A message that cannot be sent does not stop the others.
  ///
  /// - Parameters:
  ///   - batch: the messages.
  ///   - once: whether a nonce that was used before returns its message even if the text is different now.
  /// - Returns: the results, in the order of the messages.
  /// - Throws: an error of the store; then nothing was sent.
  public func send(_ batch: [Outgoing], once: Bool = false) throws -> [Result<Message, DMError>] {
    try perform(batch) { SendBatch($0, allowsOtherText: once) }
  }

  /// Sends one message to several conversations, once to each; if it cannot be sent to one of them, it is sent to none.
  ///
  /// - Parameters:
  ///   - batch: the message, once for each conversation.
  ///   - once: whether a nonce that was used before returns its message even if the text is different now.
  /// - Returns: the messages, each with the first reference to its conversation.
  /// - Throws: like `send(_:)`.
  package func sendToAll(
    _ batch: [Outgoing], once: Bool = false
  ) throws -> [(conversation: ConversationReference, message: Message)] {
    let (sending, sent) = try writing(isBulk: batch.count > 1) { session in
      let sending = SendBatch(session, allowsOtherText: once)
      var reached: Set<ConversationKey> = []
      let sent = try batch.compactMap { outgoing in
        // A conversation that is named twice, by a handle and a UUID for example, gets the message once.
        try reached.insert(sending.conversationKey(of: outgoing)).inserted
          ? (outgoing.conversation, sending.act(on: outgoing)) : nil
      }
      try sending.finish()
      return (sending, sent)
    }
    sending.committed()
    return sent
  }

  /// Checks that the user may send messages to a conversation, before the messages are prepared.
  ///
  /// - Throws: the error with which sending to the conversation would fail.
  package func checkMaySend(to reference: ConversationReference) throws {
    try lookAhead { session in
      if let row = try session.findIfPresent(reference) {
        try session.check(.say, in: row)
        try session.checkNotBlocked(row)
      } else if case .direct(let handle) = reference {
        try session.checkMayStart(with: session.userKey(handle))
      }
    }
  }

  /// Sends the draft of a conversation and removes it, in one transaction.
  ///
  /// - Throws: `no_draft`, or like `send(_:)`.
  package func sendDraft(
    in reference: ConversationReference, nonce: String? = nil, replyTo: MessageReference? = nil,
    lifetime: Duration? = nil, once: Bool = false
  ) throws -> Message {
    try expectStore(with: reference)
    let (sending, sent) = try writing { session in
      let row = try session.find(reference)
      let sending = SendBatch(session, allowsOtherText: once)
      guard let text = try session.store.members.draft(of: session.me, in: row.key) else {
        // An earlier send with the same nonce has removed the draft.
        if let nonce, let message = try sending.sent(nonce, in: row.key) { return (sending, message) }
        throw DMError(
          .noDraft, "there is no draft in '\(reference)'", subject: reference.description, remedy: .keepDraft)
      }
      let message = try sending.act(
        on: Outgoing(to: reference, text: text, nonce: nonce, replyTo: replyTo, lifetime: lifetime))
      try sending.finish()
      // If the nonce already named another text, the draft was not sent.
      if !message.isDuplicate || message.hasText(text) { _ = try session.apply(.draft(nil), in: row) }
      return (sending, message)
    }
    sending.committed()
    return sent
  }

  /// A message that the user sees, to be forwarded.
  ///
  /// - Throws: `unknown_message`, and `not_allowed` for an announcement.
  public func messageToForward(_ reference: MessageReference) throws -> Message {
    let found = try reading(nil as Message?) { session in
      let message = try session.visibleMessage(reference).message
      try session.checkSaid(message, reference)
      return message
    }
    guard let found else {
      throw DMError(.unknownMessage, "there is no message '\(reference)' yet", subject: reference.description)
    }
    return found
  }
}
