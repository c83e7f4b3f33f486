package import DMStore

// The messages that wait for the hub, as the user sees them.

extension Session {
  /// The waiting message that a reference names; nil if it names none.
  func waitingMessage(_ reference: MessageReference) throws -> Waiting.Row? {
    guard destination == .hub, case .id(let id) = reference, let row = try store.waiting.row(id), !row.isHidden else {
      return nil
    }
    return row
  }

  /// The waiting message with a nonce, as the result of sending that message again.
  func waitingMessage(_ nonce: String, in conversation: ConversationKey) throws -> Message? {
    guard destination == .hub, let waiting = try store.waiting.row(nonce: nonce, in: conversation),
      let row = try store.conversations.row(key: conversation)
    else { return nil }
    var message = try message(waiting, in: row)
    message.isDuplicate = true
    return message
  }

  /// The current state of a message that was queued here, which may have a number by now; nil if it was deleted.
  func messageThatWaited(_ id: Identifier) throws -> Message? {
    if let waiting = try store.waiting.row(id) {
      return try waiting.isHidden
        ? nil : store.conversations.row(key: waiting.conversation).map { try message(waiting, in: $0) }
    }
    guard let address = try store.messages.address(ofIDOrAlias: id) else { return nil }
    return try store.messages.seen(at: address, as: viewer)
  }

  /// The id of the message that a new message replies to; that message may itself be waiting.
  func replied(_ reference: MessageReference, in row: Conversations.Row) throws -> Identifier {
    if let waiting = try waitingMessage(reference), waiting.conversation == row.key { return waiting.id }
    return try visibleMessage(reference, in: row).message.id
  }

  /// The waiting messages that a query selects, the oldest first; those of all conversations if `conversations` is nil.
  ///
  /// - Parameter thread: the thread of the query, if it has one.
  func waitingMessages(
    _ query: HistoryQuery, _ conversations: [ConversationKey]?, _ thread: MessageThread? = nil
  ) throws -> [Message] {
    guard destination == .hub, query.ranges == nil, query.before == nil, !query.unreadOnly else { return [] }
    var waiting = try store.waiting.shown(in: nil)
    if let conversations { waiting.removeAll { !conversations.contains($0.conversation) } }
    if let sender = query.sender, try sender != handle { return [] }
    if case .time(let time)? = query.since { waiting.removeAll { $0.createdAt < time } }
    var messages = try waiting.compactMap { waiting in
      try store.conversations.row(key: waiting.conversation).map { try message(waiting, in: $0) }
    }
    if query.mentionsOnly {
      let handle = try handle
      messages.removeAll { !$0.mentions.contains(handle) }
    }
    if var thread { messages.removeAll { !thread.takes($0) } }
    return Array(messages.suffix(query.limit ?? .max))
  }

  /// A conversation, with its newest waiting message as the last message if there is one.
  func withWaiting(_ conversation: Conversation) throws -> Conversation {
    guard destination == .hub, let row = try store.conversations.row(conversation.id),
      let waiting = try store.waiting.shown(in: row.key).last
    else { return conversation }
    var conversation = conversation
    conversation.lastMessage = try message(waiting, in: row).preview
    return conversation
  }

  /// A waiting or refused message, as its sender sees it.
  func message(_ waiting: Waiting.Row, in row: Conversations.Row) throws -> Message {
    let surroundings = viewer.surroundings
    var message = try surroundings.message(
      waiting.id, in: row, seq: nil, from: (me, handle), waiting.text, at: waiting.createdAt,
      waiting.fault == nil ? .sending : .failed, nonce: waiting.nonce)
    message.replyTo = try waiting.replyTo.map { try surroundings.reply($0, as: viewer) }
    message.forwardedFrom = try waiting.forwardedFrom.map(store.users.handle)
    message.mentions = waiting.mentions
    message.editedAt = waiting.editedAt
    message.failure = waiting.fault
    message.attachments = try store.hubAttachments.waiting(waiting.key).map(\.attachment)
    // Only a text with a link has a preview, so that the payloads of others are not read.
    if waiting.text?.contains(text: "://") == true,
      var payload = try store.outbox.row(at: waiting.key).flatMap({ HubPayload.text($0.payload) })
    {
      // The text may have been edited after the message was pushed.
      payload.text = waiting.text
      payload.dropStrayPreview()
      message.linkPreview = payload.preview?.resolved(message.attachments)
    }
    return message
  }
}

// A message is shown as the hub has it, with the effects of the user's queued operations.

extension Session {
  /// Queues an operation on a message, and shows its effect at once.
  func queue(_ act: Outbox.Act, on message: Messages.Row, _ id: Identifier, payload: HubPayload? = nil) throws {
    try checkHub()
    try store.hubBases.keep(message.key, for: me)
    try queue(act, in: message.address.conversation, about: id, payload: payload)
    try showWaitingActs(on: message, id)
  }

  /// Shows a message as the hub has it, with the effects of the user's queued operations; does nothing if no operation
  /// on the message was queued.
  ///
  /// - Parameter ended: the act of the user's operation that the hub has just carried out; nil for none.
  package func showWaitingActs(on message: Messages.Row, _ id: Identifier, ended: Outbox.Act? = nil) throws {
    guard let base = try store.hubBases.row(of: message.key) else { return }
    let open = try store.outbox.pending(about: id)
    let waiting = open.filter { $0.state != .refused }
    var shown = base
    for operation in waiting {
      switch operation.act {
      case .edit: (shown.text, shown.editedAt) = (HubPayload.text(operation.payload)?.text, operation.createdAt)
      case .react: shown.react(HubPayload.emoji(operation.payload), at: operation.createdAt)
      default: break
      }
    }
    try show(shown, of: message)
    // The message stays hidden if the user deleted it only for themselves.
    let deletions = open.filter { $0.act == .delete }
    if ended == .delete || !deletions.isEmpty {
      try setHidden(deletions.contains { $0.state != .refused }, message.address)
    }
    if waiting.isEmpty { try store.hubBases.delete(message.key) }
  }

  private func show(_ shown: HubBases.Row, of message: Messages.Row) throws {
    if let text = shown.text, message.text.map(ExactString.init) != ExactString(text) {
      let mentioned = try MentionFinders(store).users(in: text, of: message.address.conversation)
      try store.messages.edit(message, to: text, mentioning: mentioned, at: shown.editedAt)
    } else if shown.text == nil, message.text != nil {
      // The message had only attachments, and the hub has refused an edit that gave it a text.
      try store.messages.edit(message, to: nil, mentioning: [], at: shown.editedAt)
    } else if shown.text != nil {
      try store.messages.set(editedAt: shown.editedAt, of: message)
    }
    let time = shown.emojiAt ?? now
    if try !store.reactions.react(shown.emoji, to: message, by: me, at: time) {
      try store.reactions.set(time, of: me, to: message.key)
    }
  }

  private func setHidden(_ isHidden: Bool, _ address: Messages.Address) throws {
    let (seq, conversation) = (address.seq, address.conversation)
    if isHidden {
      guard try !store.readState.hide(seq...seq, from: me, in: conversation, isDeleted: true).isEmpty else { return }
      try store.changes.append(.deletedForMe, conversation: conversation, user: me, seqs: seq...seq, at: now)
    } else if try !deletedForMe(in: conversation).contains(where: { $0.contains(seq) }),
      try store.readState.showAgain(seq...seq, to: me, in: conversation)
    {
      try store.changes.append(.edited, conversation: conversation, user: me, seqs: seq...seq, at: now)
    }
  }

  /// Records a change that the hub has made to a message, and shows it unless a queued operation overrides it.
  package func set(_ change: HubChange, of message: Messages.Row, _ id: Identifier) throws {
    // The payload of an edit is the whole message. So members see the same preview as users who are added later, who get
    // no other payload. A queued edit does not change the stored preview, because the hub may refuse it.
    if case .text(_, let preview) = change { try store.linkPreviews.set(preview, of: message.key) }
    guard var base = try store.hubBases.row(of: message.key) else {
      switch change {
      case .text(let text, _):
        let mentioned = try MentionFinders(store).users(in: text, of: message.address.conversation)
        try store.messages.edit(message, to: text, mentioning: mentioned, at: now)
      case .ownReaction(let emoji): _ = try store.reactions.react(emoji, to: message, by: me, at: now)
      }
      return
    }
    switch change {
    case .text(let text, _): (base.text, base.editedAt) = (text, now)
    case .ownReaction(let emoji): base.react(emoji, at: now)
    }
    try store.hubBases.update(message.key, to: base)
  }

  /// A change of the text and the preview of a message, or of the user's reaction to it.
  package enum HubChange {
    case text(String, LinkPreviews.Placed?)
    case ownReaction(String?)
  }
}
