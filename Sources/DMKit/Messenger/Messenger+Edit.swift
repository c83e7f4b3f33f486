public import DMModel
internal import DMStore

extension Messenger {
  /// Does actions on messages, in order and in one transaction.
  ///
  /// If an action fails, the call continues with the next action.
  ///
  /// - Returns: the results, in the order of the actions.
  /// - Throws: an error of the store; in this case nothing was changed.
  public func edit(_ batch: [Edit]) throws -> [Result<Edit.Outcome, DMError>] {
    // Without this check, a mistake would create a store.
    if try !hasStore() {
      return batch.map { edit in
        .failure(
          DMError(
            .unknownMessage, "there is no message '\(edit.message)': nothing was said here yet",
            subject: edit.message.description))
      }
    }
    return try perform(batch, EditBatch.init)
  }

  /// The message of a reference, if the user may change its text.
  ///
  /// - Throws: `unknown_message`; `not_allowed` for an announcement, or for a message of another user.
  package func messageToEdit(_ reference: MessageReference) throws -> Message {
    let found = try reading(nil as Message?) { session in
      if let waiting = try session.waitingMessage(reference) { return try session.messageThatWaited(waiting.id) }
      let (row, message) = try session.visibleMessage(reference)
      try session.check(.edit, in: row)
      try session.checkOwn(message, reference)
      return message
    }
    guard let found else {
      throw DMError(.unknownMessage, "there is no message '\(reference)' yet", subject: reference.description)
    }
    return found
  }

  /// The messages with these numbers in a conversation that the user sees, in ascending order.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func messages(in conversation: ConversationReference, _ ranges: [RangeReference]) throws -> [Message] {
    var query = HistoryQuery(conversation)
    (query.ranges, query.limit) = (ranges, nil)
    return try history(query).rest()
  }
}

/// Actions of one user on messages, in one transaction.
final class EditBatch: Batch {
  private let session: Session
  private let store: Store
  /// The viewer that all actions share.
  ///
  /// Each new viewer would read all hidden ranges of the user, and there may be as many ranges as actions.
  private let viewer: Viewer
  private let mentions: MentionFinders

  init(_ session: Session) {
    self.session = session
    store = session.store
    viewer = session.freshViewer()
    mentions = MentionFinders(store)
  }

  func act(on edit: Edit) throws -> Edit.Outcome {
    if let waiting = try session.waitingMessage(edit.message) { return try act(on: waiting, edit) }
    let target = try find(edit)
    return switch edit.act {
    case .text(let text): .message(try change(target, to: text))
    case .delete(let forEveryone): .deleted(try delete(target, forEveryone: forEveryone))
    case .react(let emoji): .reaction(try react(emoji, to: target))
    case .report(let reason): .report(try report(target, reason))
    case .pin(let isPinned): .pin(try pin(target, isPinned))
    }
  }

  func finish() {}

  /// Does an action on a message that waits for the hub.
  private func act(on waiting: Waiting.Row, _ edit: Edit) throws -> Edit.Outcome {
    let row = try session.find(ConversationReference.id(store.conversations.id(waiting.conversation)))
    switch edit.act {
    case .text(let text):
      try session.edit(waiting, to: text, mentioning: mentions.users(in: text, of: row.key))
      return .message(try session.message(store.waiting.row(at: waiting.key) ?? waiting, in: row))
    case .delete(let forEveryone):
      try session.cancel(waiting)
      return .deleted(
        Deletion(messageID: waiting.id, conversationID: row.id, seq: nil, forEveryone: forEveryone))
    case .react, .report, .pin:
      throw DMError(
        .unknownMessage, "the message '\(edit.message)' has no number yet; try again when it is sent",
        subject: edit.message.description)
    }
  }

  /// A message that the user sees.
  private struct Target {
    /// The reference that the user typed.
    let reference: MessageReference
    let row: Conversations.Row
    let message: Message
    let address: Messages.Address
    let stored: Messages.Row
  }

  private func find(_ edit: Edit) throws -> Target {
    let (found, message) = try session.visibleMessage(edit.message, as: viewer)
    var row = found
    // A message of a range is found by its id; errors name the conversation that the user typed.
    if case .number(_, in: let conversation?) = edit.typed { row.reference = conversation.description }
    let address = Messages.Address(conversation: row.key, seq: message.number)
    guard let stored = try store.messages.row(at: address) else {
      throw DMError(.internal, "the message '\(message.id)' was not found again", subject: message.id.description)
    }
    return Target(reference: edit.typed, row: row, message: message, address: address, stored: stored)
  }

  private func change(_ target: Target, to text: String) throws -> Message {
    try session.check(.edit, in: target.row)
    try session.checkOwn(target.message, target.reference)
    if target.message.hasText(text) { return target.message }
    if session.destination == .hub {
      let payload = try session.payload(of: target.message, target.stored.key, text: text)
      try session.queue(.edit, on: target.stored, target.message.id, payload: .text(payload))
      return try store.messages.seen(at: target.address, as: session.freshViewer()) ?? target.message
    }
    try store.linkPreviews.remove(of: target.stored.key, unlessIn: text)
    try store.messages.edit(
      target.stored, to: text, mentioning: mentions.users(in: text, of: target.row.key), at: viewer.now)
    return try store.messages.seen(at: target.address, as: viewer) ?? target.message
  }

  private func delete(_ target: Target, forEveryone: Bool) throws -> Deletion {
    let (key, seq) = (target.row.key, target.message.number)
    if forEveryone {
      try session.check(.edit, in: target.row)
      try session.checkOwn(target.message, target.reference)
      if session.destination == .hub {
        try session.queue(.delete, on: target.stored, target.message.id)
        viewer.hides(seq, in: key)
      } else {
        try store.messages.makeTombstone(of: target.stored, at: viewer.now)
      }
    } else {
      try store.readState.hide(seq...seq, from: session.me, in: key, isDeleted: true)
      viewer.hides(seq, in: key)
      try store.changes.append(.deletedForMe, conversation: key, user: session.me, seqs: seq...seq, at: viewer.now)
    }
    return Deletion(
      messageID: target.message.id, conversationID: target.row.id, seq: seq, forEveryone: forEveryone)
  }

  private func react(_ emoji: String?, to target: Target) throws -> Reaction {
    try session.check(.react, in: target.row)
    try session.checkSaid(target.message, target.reference)
    if session.destination == .hub {
      try session.queue(.react, on: target.stored, target.message.id, payload: .reaction(emoji: emoji))
    } else {
      _ = try store.reactions.react(emoji, to: target.stored, by: session.me, at: viewer.now)
    }
    return Reaction(
      messageID: target.message.id, conversationID: target.row.id, seq: target.message.number, user: try session.handle,
      emoji: emoji, reactedAt: viewer.now)
  }

  /// Pins a message, or unpins it; on a hub, the pin is shown once the hub has ordered it, because the hub decides which
  /// messages are pinned.
  private func pin(_ target: Target, _ isPinned: Bool) throws -> MessagePin {
    let (row, id) = (target.row, target.message.id)
    try session.check(.pin, in: row)
    try session.checkSaid(target.message, target.reference)
    let isQueued = try session.destination == .hub && store.outbox.pending(about: id).contains { $0.act == .pin }
    if try isQueued || store.pins.has(target.address) != isPinned {
      if isPinned { try session.checkPinCount(in: row) }
      if session.destination == .hub {
        try session.queuePin(isPinned, id, in: row)
      } else {
        try store.pins.set(isPinned, target.address, by: session.me, at: viewer.now)
        viewer.surroundings.forgetPins(of: row.key)
      }
    } else if isPinned, let pin = target.message.pin {
      return MessagePin(of: target.message, by: pin.user, isPinned: true, at: pin.at)
    }
    return MessagePin(of: target.message, by: try session.handle, isPinned: isPinned, at: viewer.now)
  }

  private func report(_ target: Target, _ reason: String?) throws -> Report {
    let message = target.message
    try session.checkSaid(message, target.reference)
    guard try message.sender != session.handle else {
      throw DMError(
        .notAllowed, "the message '\(target.reference)' is your own; delete it instead",
        subject: target.reference.description)
    }
    try store.reports.report(target.stored, by: session.me, reason: reason, at: viewer.now)
    if session.destination == .hub {
      try session.checkHub()
      var arguments = HubArguments()
      arguments.reason = reason
      try session.queue(.report, in: target.row.key, about: message.id, arguments)
    }
    return Report(
      messageID: message.id, conversationID: target.row.id, seq: message.number, sender: message.sender,
      user: try session.handle, reason: reason, text: message.text, reportedAt: viewer.now)
  }
}
