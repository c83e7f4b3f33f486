internal import DMStore

// What is shown of a message is what the hub has of it, with the acts of the person that wait upon it.

extension Session {
  /// Queues an act on a message, and shows its effect at once.
  func queue(_ act: Outbox.Act, on message: Messages.Row, _ id: Identifier, payload: HubPayload? = nil) throws {
    try checkHub()
    try store.hubBases.keep(message.key, for: me)
    try queue(act, in: message.address.conversation, about: id, payload: payload)
    try showWaitingActs(on: message, id)
  }

  /// Shows a message as the hub has it with the acts that wait upon it; does nothing if none ever waited.
  func showWaitingActs(on message: Messages.Row, _ id: Identifier) throws {
    guard let base = try store.hubBases.row(of: message.key) else { return }
    let waiting = try store.outbox.pending(about: id).filter { $0.state != .refused }
    var shown = base
    for operation in waiting {
      switch operation.act {
      case .edit: (shown.text, shown.editedAt) = (HubPayload.text(operation.payload)?.text, operation.createdAt)
      case .react: shown.react(HubPayload.emoji(operation.payload), at: operation.createdAt)
      default: break
      }
    }
    try show(shown, of: message)
    try setHidden(waiting.contains { $0.act == .delete }, message.address)
    if waiting.isEmpty { try store.hubBases.delete(message.key) }
  }

  private func show(_ shown: HubBases.Row, of message: Messages.Row) throws {
    if let text = shown.text, message.text.map(ExactString.init) != ExactString(text) {
      let mentioned = try MentionFinders(store).users(in: text, of: message.address.conversation)
      try store.messages.edit(message, to: text, mentioning: mentioned, at: shown.editedAt)
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
    } else if try store.readState.showAgain(seq, to: me, in: conversation) {
      try store.changes.append(.edited, conversation: conversation, user: me, seqs: seq...seq, at: now)
    }
  }

  /// Records what the hub says of a message, and shows it, as far as no act that waits shows something else.
  func set(_ change: HubChange, of message: Messages.Row, _ id: Identifier) throws {
    guard var base = try store.hubBases.row(of: message.key) else {
      switch change {
      case .text(let text):
        let mentioned = try MentionFinders(store).users(in: text, of: message.address.conversation)
        try store.messages.edit(message, to: text, mentioning: mentioned, at: now)
      case .ownReaction(let emoji): _ = try store.reactions.react(emoji, to: message, by: me, at: now)
      }
      return
    }
    switch change {
    case .text(let text): (base.text, base.editedAt) = (text, now)
    case .ownReaction(let emoji): base.react(emoji, at: now)
    }
    try store.hubBases.update(message.key, to: base)
  }

  /// A change of a message of the person, or of their reaction to one.
  enum HubChange {
    case text(String)
    case ownReaction(String?)
  }
}
