internal import DMStore

/// The events of the change log that one user sees, read in batches.
final class ChangeFeed {
  private let messenger: Messenger
  private let query: EventQuery
  private let store: Store
  private let uuid: Identifier
  private let kinds: Set<Changes.Kind>
  private var chosen: ChosenConversations
  /// The messages of the query; nil for all messages.
  private var selected: SelectedEvents?
  private var kept: (viewer: Viewer, data: Int64, writes: Int)?

  /// The position up to which the events of all changes were returned.
  var position = Cursor.Position.start
  /// Whether the last batch reached the end of the log.
  private(set) var isDry = false

  /// The maximum number of changes in a batch; small, so that each batch can reuse the memory of the last batch.
  private static let batch = 50

  init(_ messenger: Messenger, _ query: EventQuery, _ store: Store, watched: WatchedConversations? = nil) throws {
    self.messenger = messenger
    chosen = ChosenConversations(query.conversations, watched)
    self.query = query
    self.store = store
    uuid = try store.read(store.uuid)
    let selectable = query.selectsMessages ? query.kinds.intersection(SelectedEvents.kinds) : query.kinds
    kinds = Set(selectable.flatMap(Self.changes))
    try messenger.reading(()) { session in
      try chosen.resolve(session)
      selected = try SelectedEvents(query, session)
    }
  }

  /// The keys of the conversations of the query; nil for all conversations that the user is in.
  var conversations: [ConversationKey]? {
    if let selected, let conversation = selected.conversation { return [conversation] }
    return chosen.keys
  }

  var cursor: Cursor { Cursor(store: uuid, position) }

  private static func changes(_ kind: MessagingEvent.Kind) -> [Changes.Kind] {
    switch kind {
    case .message: [.message, .waiting]
    case .messageUpdated: [.edited, .waitingChanged, .ordered]
    case .messageDeleted: [.deleted, .deletedForMe, .waitingDeleted]
    case .messageStatus: [.status]
    case .readReceipt: [.readReceipt]
    case .deliveryReceipt: [.deliveryReceipt]
    case .conversationUpdated: [.conversation, .ownState]
    case .reaction: [.reaction]
    case .messagePin: [.pinned]
    case .typing, .presence, .hub: []
    }
  }

  /// Reads the next batch of changes, and returns its events.
  func next() throws -> [MessagingEvent] {
    isDry = true
    return try messenger.reading([]) { session in
      try chosen.resolve(session)
      guard let logged = try store.changes.range() else { return [] }
      try store.refuseReplaced(uuid)
      var events: [MessagingEvent] = []
      if Changes.isForgotten(after: position.rev, of: logged) { events.append(try gap(upTo: logged.lowerBound - 1)) }
      let filter = Changes.Filter(
        user: session.me, kinds: kinds, conversations: conversations, unmutedAt: query.unmutedOnly ? .now : nil)
      if !filter.selectsNothing {
        events.reserveCapacity(events.count + Self.batch)
        let viewer = try currentViewer(session)
        let count = try store.changes.forEach(after: position.rev, filter, limit: Self.batch, as: viewer) { row in
          try addEvents(of: row, viewer, &events)
          isDry = position.rev == row.rev && events.count < 2 * Self.batch
          return isDry
        }
        isDry = isDry && count < Self.batch
        try keep(viewer)
      }
      // If `isDry`, the rest of the log has no event for this query, so the position moves to the end of the log.
      if isDry, position.rev < logged.upperBound { position = Cursor.Position(rev: logged.upperBound) }
      return events
    }
  }

  /// Moves the position past changes that the log no longer has.
  ///
  /// - Throws: `gap` for a consumer that does not accept gaps; in this case the position does not change.
  private func gap(upTo rev: Rev) throws -> MessagingEvent {
    let (from, to) = (cursor, Cursor(store: uuid, Cursor.Position(rev: rev)))
    if let name = query.consumer, !query.acceptsGap {
      throw DMError(
        .gap, "what the consumer '\(name)' missed is no longer in the log: all from '\(from)' to '\(to)'",
        subject: name, remedy: .acceptGap)
    }
    position = to.position
    return .gap(from: from, to: to)
  }

  /// Whether the log has changes after the position; a follower checks this in case a change did not wake it.
  ///
  /// - Throws: `store_replaced`, `no_store`, `store_too_new`.
  func hasMore() throws -> Bool {
    try store.read {
      try store.refuseNewer(store.version())
      return try store.changes.range().map { $0.upperBound > position.rev } ?? false
    }
  }

  /// Whether the query leaves out a conversation because the conversation is muted.
  func leavesOut(_ conversation: Identifier) throws -> Bool {
    guard query.unmutedOnly else { return false }
    return try messenger.reading(false) { session in
      try store.conversations.row(conversation).map { try store.members.isMuted($0.key, for: session.me, at: .now) }
        ?? false
    }
  }

  /// The viewer of the last batch, or a new viewer if the store has changed since that batch.
  ///
  /// A `Viewer` caches one snapshot. It is reused while neither `data_version` nor our own write count has changed.
  private func currentViewer(_ session: Session) throws -> Viewer {
    guard let kept, kept.data == (try store.dataVersion()), kept.writes == store.writeCount else {
      return Viewer(store, session.me, includesReaders: query.includesReaders)
    }
    return kept.viewer
  }

  private func keep(_ viewer: Viewer) throws {
    kept = isDry ? nil : (viewer, try store.dataVersion(), store.writeCount)
  }

  /// Adds the events of a change or, if the change concerns many messages, the events of its next part.
  private func addEvents(of row: Changes.Row, _ viewer: Viewer, _ events: inout [MessagingEvent]) throws {
    // The position is `(rev, seq)`: the events of all changes up to `rev` were returned, and so were the events of
    // change `rev + 1` for the messages up to `seq`.
    let delivered = row.rev == position.rev + 1 ? position.seq : 0
    position = Cursor.Position(rev: row.rev)
    guard let isMember = try viewer.isMember(of: row.conversation, at: row.rev) else { return }
    // With `othersOnly`, a bot does not get events of its own actions and receipts.
    if row.user == viewer.user, query.othersOnly { return }
    // A change of a conversation by a blocked user, or a pin, is an event, because everybody sees its effect.
    if let user = row.user, ![.conversation, .pinned].contains(row.kind), try viewer.hasBlocked(user) { return }
    if row.kind == .status {
      guard isMember || row.user == viewer.user else { return }
      events += try statuses(row, after: delivered, viewer)
    } else if let event = try event(row, isMember: isMember, viewer) {
      if let selected, !selected.takes(event, of: row) { return }
      events.append(event)
    }
  }

  /// The event of a change whose kind has at most one event; nil if the change has no event for the user.
  private func event(_ row: Changes.Row, isMember: Bool, _ viewer: Viewer) throws -> MessagingEvent? {
    switch row.kind {
    case .message: try row.message.map { .message($0, cursor) } ?? absent(row)
    case .edited: row.message.map { .messageUpdated($0, cursor) }
    case .ordered: try row.message.map { .messageUpdated(try ordered($0), cursor) }
    case .waiting, .waitingChanged, .waitingDeleted: try waiting(row, viewer)
    case .deleted, .deletedForMe: try deletion(row, viewer).map { .messageDeleted($0, cursor) }
    case .reaction: try reaction(row).map { .reaction($0, cursor) }
    case .pinned: try pin(row).map { .messagePin($0, cursor) }
    case .readReceipt: try isMember ? receipt(row, .read, viewer).map { .readReceipt($0, cursor) } : nil
    case .deliveryReceipt: try isMember ? receipt(row, .delivery, viewer).map { .deliveryReceipt($0, cursor) } : nil
    case .conversation: try isMember ? conversation(row, viewer).map { .conversationUpdated($0, cursor) } : nil
    // An `ownState` change is an event only for the user who made it, even if that user has left the conversation.
    case .ownState:
      try row.user == viewer.user ? conversation(row, viewer).map { .conversationUpdated($0, cursor) } : nil
    case .status, .user: nil
    }
  }

  /// A gap for a message that a linked store has not kept; nil for a message that the user does not see.
  private func absent(_ row: Changes.Row) throws -> MessagingEvent? {
    guard let seqs = row.seqs, try !store.hubFloors.absent(seqs, in: row.conversation).isEmpty else { return nil }
    position = Cursor.Position(rev: row.rev - 1)
    return try gap(upTo: row.rev)
  }

  /// The event of a message that waited for the hub when the change was logged; nil if the user has since cancelled the
  /// message.
  private func waiting(_ row: Changes.Row, _ viewer: Viewer) throws -> MessagingEvent? {
    guard row.user == viewer.user, let key = row.seqs.map({ OutboxKey(number: Int64($0.lowerBound)) }),
      let operation = try store.outbox.row(at: key), let id = operation.target
    else { return nil }
    if row.kind == .waitingDeleted {
      return .messageDeleted(
        Deletion(
          messageID: id, conversationID: try store.conversations.id(row.conversation), seq: nil, forEveryone: true),
        cursor)
    }
    let session = Session(messenger, store, viewer.user)
    let now = try session.messageThatWaited(id)
    if row.kind == .waiting { return now.map { .message($0, cursor) } }
    return now.map { message in
      var message = message
      message.update = .waits
      return .messageUpdated(message, cursor)
    }
  }

  /// The update for a message that the hub has numbered; `replaces` is the id that the message had before, if any.
  private func ordered(_ message: Message) throws -> Message {
    var message = message
    message.update = .ordered
    message.replaces = try store.waiting.aliases(of: message.id).first
    return message
  }

  private func reaction(_ row: Changes.Row) throws -> Reaction? {
    guard let message = row.message, let user = row.user, let stored = row.stored else { return nil }
    return Reaction(
      messageID: message.id, conversationID: message.conversationID, seq: message.number,
      user: try store.users.handle(user),
      emoji: try store.reactions.reaction(of: user, to: stored.key), reactedAt: row.at)
  }

  private func pin(_ row: Changes.Row) throws -> MessagePin? {
    guard let message = row.message, let user = row.user else { return nil }
    return MessagePin(of: message, by: try store.users.handle(user), isPinned: message.pin != nil, at: row.at)
  }

  /// The receipt in a change; nil if all messages of the receipt are hidden from the viewer.
  private func receipt(_ row: Changes.Row, _ kind: Receipt.Kind, _ viewer: Viewer) throws -> Receipt? {
    guard let seqs = row.seqs, let user = row.user,
      try !difference(of: seqs, minus: viewer.hidden(in: seqs, of: row.conversation)).isEmpty
    else { return nil }
    return Receipt(
      kind: kind, conversationID: try store.conversations.id(row.conversation),
      conversationTitle: try store.conversations.title(of: row.conversation, as: viewer.user),
      user: try store.users.handle(user),
      ranges: [seqs], at: row.at)
  }

  /// The conversation in a change; nil if the viewer has deleted the conversation and another user made the change.
  private func conversation(_ row: Changes.Row, _ viewer: Viewer) throws -> Conversation? {
    guard var seen = try store.conversations.seen(row.conversation, as: viewer) else { return nil }
    if store.isLinked { seen.replaces = try store.conversations.alias(of: row.conversation) }
    return row.user == viewer.user || seen.isListed ? seen : nil
  }

  /// The deletion in a change; nil if the user did not see the message, or another user deleted it for themselves.
  private func deletion(_ row: Changes.Row, _ viewer: Viewer) throws -> Deletion? {
    guard let stored = row.stored, let seq = row.seqs?.lowerBound else { return nil }
    let isForAll = row.kind == .deleted
    guard try isForAll ? viewer.reaches(seq, in: row.conversation, from: stored.sender) : row.user == viewer.user else {
      return nil
    }
    return Deletion(
      messageID: stored.id, conversationID: try store.conversations.id(row.conversation), seq: seq,
      forEveryone: isForAll)
  }

  /// The status events of a change, or of its next part if it concerns many messages; one event for each sender.
  private func statuses(_ row: Changes.Row, after delivered: Int, _ viewer: Viewer) throws -> [MessagingEvent] {
    guard let seqs = row.seqs, delivered < seqs.upperBound, let user = row.user else { return [] }
    let part = StatusPart(of: seqs, after: delivered)
    if part.seqs.upperBound < seqs.upperBound {
      position = Cursor.Position(rev: row.rev - 1, seq: part.seqs.upperBound)
    }
    let runs = try store.messages.senders(
      of: part.seqs, in: row.conversation, only: row.sender, besides: user, as: viewer)
    let status: Message.Status = row.receipt == .deliveryReceipt ? .delivered : .read
    var events: [MessagingEvent] = []
    for (index, run) in runs.enumerated() where run.first > delivered && !run.seqs.isEmpty {
      if try !counts(user, for: run.sender, isOnly: row.sender != nil, viewer) { continue }
      if query.othersOnly, run.sender == viewer.user { continue }
      let next = runs.index(after: index)
      let nextPosition =
        next < runs.endIndex
        ? Cursor.Position(rev: row.rev - 1, seq: runs[next].first - 1) : position
      events.append(
        .messageStatus(
          MessageStatus(
            conversationID: try store.conversations.id(row.conversation),
            conversationTitle: try store.conversations.title(of: row.conversation, as: viewer.user),
            sender: try store.users.handle(run.sender),
            status: status, ranges: run.seqs, user: try store.users.handle(user)), Cursor(store: uuid, nextPosition)))
    }
    return events
  }

  /// Whether the viewer sees that a receipt of `user` changed the status of the messages of `sender`.
  ///
  /// - Parameter isOnly: whether the receipt changed the status of the messages of this sender only.
  private func counts(_ user: UserKey, for sender: UserKey, isOnly: Bool, _ viewer: Viewer) throws -> Bool {
    let blocked = try viewer.statuses.blockedUsers(by: sender)
    // A user that the sender blocks does not get this event. Otherwise they could notice that receipts of other users
    // change the status, and that their own receipts do not.
    if isOnly, blocked.contains(viewer.user) { return false }
    return user == viewer.user || !blocked.contains(user)
  }
}

extension Changes.Filter {
  /// Whether no change can pass the filter, so that no read is necessary.
  fileprivate var selectsNothing: Bool { kinds.isEmpty || conversations?.isEmpty == true }
}
