public import DMModel
internal import DMStore

extension Messenger {
  /// Sends one message, and returns the message when it is on the disk.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`; `unknown_message` for the
  ///   message that it replies to; `unknown_attachment`, `nonce_conflict`, or an error of the store.
  public func send(_ outgoing: Outgoing) throws -> Message {
    try send([outgoing])[0].get()
  }

  /// Sends messages in one transaction, in order.
  ///
  /// If a message cannot be sent, the call continues with the next message.
  ///
  /// - Parameters:
  ///   - batch: the messages.
  ///   - once: whether a message whose nonce was used before is returned as sent even if its text is different now.
  /// - Returns: the results, in the order of the messages.
  /// - Throws: an error of the store; in this case nothing was sent.
  public func send(_ batch: [Outgoing], once: Bool = false) throws -> [Result<Message, DMError>] {
    try reporting(.sent, UsageAct.Extent.init(sent:)) {
      try perform(batch) { SendBatch($0, allowsOtherText: once) }
    }
  }

  /// Sends one message to several conversations, once to each.
  ///
  /// If one of the messages cannot be sent, none is sent.
  ///
  /// - Parameters:
  ///   - batch: the message, once for each reference to a conversation.
  ///   - once: whether a message whose nonce was used before is returned as sent even if its text is different now.
  /// - Returns: the sent messages; if several references name the same conversation, its message is returned with the
  ///   first of these references.
  /// - Throws: like `send(_:)`.
  package func sendToAll(
    _ batch: [Outgoing], once: Bool = false
  ) throws -> [(conversation: ConversationReference, message: Message)] {
    try reporting(.sent) {
      UsageAct.Extent(sent: $0.map { .success($0.message) })
    } _: {
      try sendAll(batch, once)
    }
  }

  private func sendAll(
    _ batch: [Outgoing], _ once: Bool
  ) throws -> [(conversation: ConversationReference, message: Message)] {
    let (sending, sent) = try writing(isBulk: batch.count > 1) { session in
      let sending = SendBatch(session, allowsOtherText: once)
      var reached = KeyTable<Bool>()
      var sent: [(conversation: ConversationReference, message: Message)] = []
      for outgoing in batch {
        // If two references name the same conversation, such as a handle and a UUID, the message is sent to it once.
        let key = try sending.conversationKey(of: outgoing)
        if reached[key.number] != nil { continue }
        reached[key.number] = true
        sent.append((outgoing.conversation, try sending.act(on: outgoing)))
      }
      try sending.finish()
      return (sending, sent)
    }
    sending.committed()
    return sent
  }

  /// Checks that the user may send messages to a conversation.
  ///
  /// Call this before long work to prepare the messages.
  ///
  /// - Throws: the error that sending to the conversation would throw.
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

  /// Whether a message was sent before with the nonce of this one; its content is not compared.
  ///
  /// Call this before long work to prepare the message.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  package func wasSent(_ outgoing: Outgoing) throws -> Bool {
    if outgoing.nonce == nil { return false }
    return try reading(false) { try SendBatch($0).sentBefore(outgoing) != nil }
  }

  /// Sends the draft of a conversation and removes the draft, in one transaction.
  ///
  /// - Throws: `no_draft`, or like `send(_:)`.
  package func sendDraft(
    in reference: ConversationReference, nonce: String? = nil, replyTo: MessageReference? = nil,
    lifetime: Duration? = nil, once: Bool = false
  ) throws -> Message {
    try reporting(.sent) {
      UsageAct.Extent(sent: [.success($0)])
    } _: {
      try expectStore(with: reference)
      let (sending, sent) = try writing { session in
        let row = try session.find(reference)
        let sending = SendBatch(session, allowsOtherText: once)
        guard let text = try session.store.members.draft(of: session.me, in: row.key) else {
          // If there is no draft, an earlier call with the same nonce may have sent it.
          if let nonce, let message = try sending.sent(nonce, in: row.key) { return (sending, message) }
          throw DMError(
            .noDraft, "there is no draft in '\(reference)'", subject: reference.description, remedy: .keepDraft)
        }
        let message = try sending.act(
          on: Outgoing(to: reference, text: text, nonce: nonce, replyTo: replyTo, lifetime: lifetime))
        try sending.finish()
        // If the nonce was used before with another text, the draft was not sent, and is kept.
        if !message.isDuplicate || message.hasText(text) { _ = try session.apply(.draft(nil), in: row) }
        return (sending, message)
      }
      sending.committed()
      return sent
    }
  }

  /// The message of a reference, if the user sees it and may forward it.
  ///
  /// - Throws: `unknown_message`, and `not_allowed` for an announcement.
  public func messageToForward(_ reference: MessageReference) throws -> Message {
    let found = try reading(nil as Message?) { session in
      let message = try session.visibleMessage(reference).message
      try session.checkSaid(message, reference)
      return message
    }
    guard let found else { throw nothingYet(reference) }
    return found
  }
}
