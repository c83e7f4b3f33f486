internal import DMStore

/// The messages of a thread that a user sees.
struct MessageThread {
  let row: Conversations.Row
  /// The ids of the messages.
  private(set) var ids: Set<Identifier>
  /// The numbers of the messages, ascending, without those that wait for the hub.
  private(set) var seqs: [SeqRange] = []

  fileprivate init(_ id: Identifier, in row: Conversations.Row) {
    ids = [id]
    self.row = row
  }

  fileprivate mutating func add(_ answer: Messages.Answer) {
    ids.insert(answer.id)
    seqs.append(answer.address.seq...answer.address.seq)
  }

  /// Whether a message is in the thread; a new answer to the thread is added to it.
  mutating func takes(_ message: Message) -> Bool {
    guard ids.contains(message.id) || message.replyTo.map({ ids.contains($0.id) }) == true else { return false }
    ids.insert(message.id)
    return true
  }

  fileprivate mutating func sort() { seqs = coalesced(seqs.sorted { $0.lowerBound < $1.lowerBound }) }
}

extension Session {
  /// The thread of a message: the message, the messages that it answers, up to the first one, and all direct and
  /// indirect answers to it.
  ///
  /// A thread ends at a message that is hidden from the user, and continues at one that was deleted for everyone or has
  /// expired. An answer has a higher number than the message that it answers, also after an import.
  ///
  /// - Parameter given: the conversation, if it is given without the message.
  /// - Throws: `unknown_message`, also for a message that the user does not see; `bad_reference` for a number without a
  ///   conversation.
  func thread(of reference: MessageReference, in given: Conversations.Row?, as viewer: Viewer) throws -> MessageThread {
    if let waiting = try waitingMessage(reference),
      let conversation = try store.conversations.row(key: waiting.conversation)
    {
      var thread = MessageThread(waiting.id, in: conversation)
      try addAnswered(waiting.replyTo, to: &thread, as: viewer)
      return thread
    }
    let (row, message) = try visibleMessage(reference, in: given, as: viewer)
    guard let first = try store.messages.answer(message.id) else { return MessageThread(message.id, in: row) }
    var thread = MessageThread(message.id, in: row)
    thread.add(first)
    try addAnswered(first.replyTo, to: &thread, as: viewer)
    var answered: Set = [message.id]
    try store.messages.forEachAnswer(after: first.address.seq, in: row.key) { answer in
      guard let id = answer.replyTo, answered.contains(id), try reaches(answer, as: viewer) else { return }
      answered.insert(answer.id)
      thread.add(answer)
    }
    thread.sort()
    return thread
  }

  /// Adds the message with an id, and the messages that it answers, up to the first one.
  private func addAnswered(_ id: Identifier?, to thread: inout MessageThread, as viewer: Viewer) throws {
    var next = id
    while let id = next, !thread.ids.contains(id), let answer = try store.messages.answer(id),
      answer.address.conversation == thread.row.key, try reaches(answer, as: viewer)
    {
      thread.add(answer)
      next = answer.replyTo
    }
    thread.sort()
  }

  private func reaches(_ answer: Messages.Answer, as viewer: Viewer) throws -> Bool {
    try viewer.reaches(answer.address.seq, in: answer.address.conversation, from: answer.sender)
  }
}

extension Messenger {
  /// The error for a message in a store that does not exist yet.
  func nothingYet(_ reference: MessageReference) -> DMError {
    DMError(.unknownMessage, "there is no message '\(reference)' yet", subject: reference.description)
  }
}
