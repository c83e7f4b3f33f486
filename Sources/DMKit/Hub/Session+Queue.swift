package import DMStore
internal import DMSystem

// In a linked store, an act of the user becomes an operation in the outbox. Its effect is shown at once, except for a
// change of a conversation, which the hub must accept first.

extension Session {
  /// Queues an operation for the hub.
  ///
  /// - Parameter nonce: lets the hub recognize the operation if it is pushed again; nil for a random one.
  @discardableResult
  func queue(
    _ act: Outbox.Act, in conversation: ConversationKey? = nil, about target: Identifier? = nil,
    nonce: Identifier? = nil, _ arguments: HubArguments = HubArguments(), payload: HubPayload? = nil
  ) throws -> OutboxKey {
    let key = try store.outbox.append(
      Outbox.NewOperation(
        act, in: conversation, about: target, nonce: nonce ?? .random(), arguments: arguments.json,
        payload: payload?.bytes), at: now)
    messenger.queued.append(key)
    return key
  }

  /// The nonce of a message on the hub: it is the same on all machines of a person, so that the hub adds a message only
  /// once even if several machines send it.
  ///
  /// For a direct conversation, the nonce depends on the other person's handle instead of the id, because the id may
  /// differ between machines until the hub has the conversation.
  private func hubNonce(_ nonce: String, in row: Conversations.Row) throws -> Identifier {
    var target = row.id.description
    if !row.isGroup {
      let others = try store.members.participantKeys(of: row.key).filter { $0 != me }
      target = "@\(try store.users.handle(others.first ?? me))"
    }
    var hash = SHA256()
    for part in ["dm1", target, nonce] {
      (Array(part.utf8) + [0]).withUnsafeBytes { hash.update($0) }
    }
    return Identifier(bytes: hash.finish().bytes)
  }

  /// Checks that the store may still queue operations.
  ///
  /// - Throws: `hub_refused` if the hub refuses this store, `not_allowed` if the store has left its hub.
  func checkHub() throws {
    guard let hub = try store.hub.row() else { return }
    if hub.leftAt != nil {
      throw DMError(.notAllowed, "this store has left its hub and can only be read", remedy: .joinHub)
    }
    if let refusal = hub.refusal {
      throw DMError(
        .hubRefused, "the hub refuses this store (\(refusal)), so nothing can be sent", remedy: .showHubStatus)
    }
  }

  /// Queues the operation that starts a conversation on the hub, unless the hub has the conversation already.
  func beginOnHub(_ row: Conversations.Row) throws {
    guard destination == .hub, try store.hubConversations.row(row.key) == nil,
      // If the hub has lost a group, only its creator starts it again, and other members wait for that.
      try !row.isGroup || store.conversations.creator(of: row.key) == me,
      try !store.outbox.pending(in: row.key).contains(where: { [.begin, .group].contains($0.act) })
    else { return }
    try checkHub()
    let others = try store.members.participantKeys(of: row.key).filter { $0 != me }.map(store.users.handle)
    var arguments = HubArguments()
    arguments.handles = try row.isGroup || !others.isEmpty ? others : [handle]
    let title = try store.conversations.title(of: row.key, as: me)
    try queue(
      row.isGroup ? .group : .begin, in: row.key, arguments,
      payload: row.isGroup ? .group(HubPayload.Group(title: title)) : nil)
  }

  /// Queues a change of a conversation, which is shown once the hub has accepted it.
  func queue(_ change: GroupChange, of row: Conversations.Row) throws {
    try checkHub()
    messenger.awaitsHub = true
    var arguments = HubArguments()
    switch change {
    case .add(let handles, let withHistory):
      (arguments.handles, arguments.hasHistory) = (handles, withHistory)
      let seen = try asSeen(row)
      try queue(
        .add, in: row.key, arguments,
        payload: .group(
          HubPayload.Group(
            title: seen.title, avatarURL: seen.avatarURL, expireAfter: row.expireAfter, creator: seen.creator)))
      // The hub stores the payload once for each added user, so the picture follows in an operation of its own.
      var group = try avatar(seen.avatarURL)
      group.isForAdded = true
      if group.picture != nil { try queue(.avatar, in: row.key, payload: .group(group)) }
    case .remove(let handles):
      arguments.handles = handles
      try queue(.remove, in: row.key, arguments)
    case .leave: try queue(.leave, in: row.key)
    case .title(let title): try queue(.title, in: row.key, payload: .group(HubPayload.Group(title: title)))
    case .avatar(let url): try queue(.avatar, in: row.key, payload: .group(avatar(url)))
    case .expire(let lifetime):
      arguments.expireAfter = .some(lifetime)
      try queue(.expire, in: row.key, arguments)
    }
  }

  /// The URL of a group's picture, and the picture if the store has it.
  package func avatar(_ url: String?) throws -> HubPayload.Group {
    HubPayload.Group(avatarURL: url, picture: try store.pictures.picture(url))
  }

  /// Marks messages as delivered to the user, and queues a receipt if any of them was not delivered before.
  ///
  /// - Returns: the newly delivered messages; nil if there are none.
  @discardableResult
  package func markDelivered(_ seq: Int, in key: ConversationKey, at time: Timestamp) throws -> SeqRange? {
    let new = try store.readState.markDelivered(seq, to: me, in: key, at: time)
    guard destination == .hub, let new, try store.hubConversations.row(key) != nil else { return new }
    var arguments = HubArguments()
    arguments.seq = new.upperBound
    // A delivery receipt includes all earlier messages, so a queued one is replaced.
    let waiting = try store.outbox.pending(in: key).first {
      $0.act == .delivered && $0.state == .queued && $0.attempts == 0
    }
    if let waiting {
      try store.outbox.replace(arguments: arguments.json, of: waiting.key)
    } else {
      try queue(.delivered, in: key, arguments)
    }
    return new
  }

  /// Marks the messages of others as delivered to the user, because the user's machine has them.
  ///
  /// - Parameter first: the first message that may not have been marked before.
  package func acknowledge(in key: ConversationKey, from first: Int = 1) throws {
    guard let last = try store.readState.lastReceived(by: me, in: key, from: first) else { return }
    let count = try store.members.participantKeys(of: key).count
    // In a large group, only some machines, chosen at random, send receipts, because each receipt goes to all members.
    if count > Self.receiptCount, Int.random(in: 0..<count) >= Self.receiptCount / 2 { return }
    try markDelivered(last, in: key, at: .now)
  }

  /// The number of members up to which the machines of all members send delivery receipts.
  private static var receiptCount: Int { 32 }

  /// Queues a receipt for messages that the user has read.
  package func queueReceipt(_ range: SeqRange, in key: ConversationKey) throws {
    guard destination == .hub, try store.hubConversations.row(key) != nil else { return }
    var arguments = HubArguments()
    arguments.ranges = [range]
    try queue(.read, in: key, arguments)
  }

  /// Queues the profile of the user for the hub.
  package func queueProfile() throws {
    guard destination == .hub, let user = try store.users.user(handle) else { return }
    try checkHub()
    var arguments = HubArguments()
    arguments.showsPresence = user.showsPresence
    try queue(
      .profile, arguments,
      payload: .profile(
        HubPayload.Profile(
          displayName: user.displayName, bio: user.bio, avatarURL: user.avatarURL,
          picture: store.pictures.picture(user.avatarURL))))
  }

  /// Discards a change of the profile; the store takes the profile of the hub again at the next connection.
  func dropProfile(_ key: OutboxKey) throws {
    try store.outbox.delete(key)
    try store.outbox.forgetProfiles()
    try store.hub.set(peopleRev: 0)
  }

  /// Queues a message, which is shown at once as waiting.
  func say(
    _ message: Messages.NewMessage, in row: Conversations.Row, isLax: Bool
  ) throws -> Waiting.Row {
    try checkHub()
    try beginOnHub(row)
    let time = Messages.time(after: row.lastActivity, now: now)
    let id = Identifier(at: time)
    var arguments = HubArguments()
    arguments.lifetime = message.lifetime
    // The hub must accept the same message from another machine of the user, which has chosen other ids for the files. If
    // only the previews differ, the hub refuses the message, and `SyncEngine` compares the two.
    let fileCount = message.attachments.count - (message.preview?.place == nil ? 0 : 1)
    arguments.isLax = isLax || message.nonce != nil && fileCount > 0
    var payload = HubPayload.Text(
      text: message.text, replyTo: message.replyTo, nonce: message.nonce,
      forwardedFrom: try message.forwardedFrom.map(store.users.handle), preview: message.preview)
    let key = try queue(
      .say, in: row.key, about: id, nonce: try message.nonce.map { try hubNonce($0, in: row) } ?? id, arguments,
      payload: .text(payload))
    try store.waiting.insert(message, id: id, in: row.key, at: key, time)
    if !message.attachments.isEmpty {
      payload.attachments = try attach(message.attachments, to: key, at: time)
      arguments.files = payload.attachments.flatMap(\.files)
      try store.outbox.replace(arguments: arguments.json, payload: HubPayload.text(payload).bytes, of: key)
    }
    try bringBack(row)
    try logWaiting(.waiting, key, in: row.key)
    guard let waiting = try store.waiting.row(at: key) else {
      throw DMError(.internal, "the message '\(id)' was not found again", subject: id.description)
    }
    return waiting
  }

  package func logWaiting(_ change: Changes.Kind, _ key: OutboxKey, in conversation: ConversationKey) throws {
    let number = Int(key.number)
    try store.changes.append(change, conversation: conversation, user: me, seqs: number...number, at: now)
  }

  /// Changes the text of a waiting message.
  ///
  /// If a push of the message has begun, the hub may have the message. Then an edit is queued, which is pushed after
  /// the message has got a number.
  func edit(_ waiting: Waiting.Row, to text: String, mentioning users: [UserKey]) throws {
    guard let operation = try store.outbox.row(at: waiting.key) else { return }
    try store.waiting.edit(waiting.key, to: text, mentioning: users, at: now)
    guard var payload = HubPayload.text(operation.payload) else { return }
    payload.text = text
    payload.dropStrayPreview()
    if mayHave(operation) {
      try queue(.edit, in: waiting.conversation, about: waiting.id, payload: .text(payload))
    } else {
      try store.outbox.replace(payload: HubPayload.text(payload).bytes, of: waiting.key)
    }
    try logWaiting(.waitingChanged, waiting.key, in: waiting.conversation)
  }

  /// Cancels a waiting message; if the hub may have the message, hides it and queues its deletion.
  func cancel(_ waiting: Waiting.Row) throws {
    guard let operation = try store.outbox.row(at: waiting.key) else { return }
    if mayHave(operation) {
      try store.waiting.setHidden(true, waiting.key)
      try queue(.delete, in: waiting.conversation, about: waiting.id)
    } else {
      for operation in try store.outbox.pending(about: waiting.id) { try store.outbox.cancel(operation.key) }
      try store.hubAttachments.discard(waiting.key)
      try store.waiting.delete(waiting.key)
    }
    try logWaiting(.waitingDeleted, waiting.key, in: waiting.conversation)
  }

  /// Whether the hub may have an operation: its push has begun, and the hub did not refuse it.
  private func mayHave(_ operation: Outbox.Row) -> Bool { operation.attempts > 0 && operation.state != .refused }
}
