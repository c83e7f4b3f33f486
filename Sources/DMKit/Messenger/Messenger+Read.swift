/// Which messages of a conversation to mark.
public enum ReadTarget: Sendable {
  case ranges([RangeReference])
  /// Everything to that message, itself included.
  case upTo(MessageReference)
  /// Everything that was said before a message or a moment.
  case before(HistoryQuery.Bound)
  case all
}

extension Messenger {
  /// What to do to messages.
  public struct MarkOptions: Sendable {
    public enum Act: Sendable {
      case read
      /// For oneself only, the receipts stay.
      case unread
      /// Everything up to the last of them reached the user.
      case delivered
    }

    public var act = Act.read
    /// Says what would change and changes nothing.
    public var isDryRun = false

    public init() {}
  }

  /// Marks messages of one conversation.
  ///
  /// - Returns: nil when nothing changed.
  public func markRead(
    _ target: ReadTarget, in reference: ConversationReference, _ options: MarkOptions = MarkOptions()
  ) throws -> Receipt? {
    let receipts = try mark(options, orElse: nothingYet(reference)) { store, me in
      let row = try find(reference, store, me)
      return [(row.key, try ranges(target, in: row, store, me))]
    }
    return receipts.first
  }

  /// Marks messages of all conversations; one receipt for each that changed.
  public func markReadEverywhere(
    _ target: ReadTarget, _ options: MarkOptions = MarkOptions()
  ) throws -> [Receipt] {
    try mark(options) { store, me in
      try store.conversationKeys(of: me, unreadOnly: options.act == .read).compactMap { key in
        let row = try self.find(ConversationReference.id(store.conversationID(key)), store, me)
        return (key, try ranges(target, in: row, store, me))
      }
    }
  }

  /// A message as a line of dm-tail names it.
  public struct Mentioned: Hashable, Sendable {
    public let conversation: Identifier
    public let seq: Int

    public init(conversation: Identifier, seq: Int) {
      self.conversation = conversation
      self.seq = seq
    }
  }

  /// Marks exactly these messages; one receipt for each conversation that changed, and what was wrong
  /// with each that could not be marked.
  public func markRead(
    _ messages: [Mentioned], _ options: MarkOptions = MarkOptions()
  ) throws -> (receipts: [Receipt], errors: [Int: DMError]) {
    var errors: [Int: DMError] = [:]
    let receipts = try mark(options) { store, me in
      errors = [:]
      var order: [Int64] = []
      var wanted: [Int64: [SeqRange]] = [:]
      var rows: [Identifier: Store.ConversationRow] = [:]
      for (index, message) in messages.enumerated() {
        do {
          let row = try rows[message.conversation] ?? find(.id(message.conversation), store, me)
          rows[message.conversation] = row
          let seq = try seq(of: .number(message.seq, in: nil), in: row, store, me)
          if wanted[row.key] == nil { order.append(row.key) }
          wanted[row.key, default: []].append(seq...seq)
        } catch let error as DMError where !error.code.isFatal {
          errors[index] = error
        }
      }
      return order.map { key in
        (key, coalesced((wanted[key] ?? []).sorted { $0.lowerBound < $1.lowerBound }))
      }
    }
    return (receipts, errors)
  }

  /// Who has read a message and when: the first receipt of each reader that covers it, oldest first.
  public func receipts(for reference: MessageReference) throws -> [Receipt] {
    try reading([]) { store, me in
      let viewer = Viewer(store, me)
      let (row, message) = try visibleMessage(reference, store, as: viewer)
      let place = Store.Place(conversation: row.key, seq: message.seq)
      let conversation = row.id
      return try store.receipts(for: place).filter { try !viewer.hasBlocked($0.user) }.map {
        Receipt(
          kind: .read, conversationID: conversation, user: try store.handle($0.user), range: $0.range, at: $0.at,
          unreadCount: nil)
      }
    }
  }

  /// Notes that messages reached the user.
  ///
  /// Not an act: it is left out when the store is busy or cannot be written to.
  ///
  /// - Returns: whether it was noted.
  @discardableResult
  public func markDelivered(upTo seqs: [Identifier: Int]) throws -> Bool {
    try attempt {
      let news = try reading([]) { store, me in
        try seqs.compactMap { id, seq -> (Int64, Int)? in
          guard let row = try store.conversation(id), try store.isParticipant(me, of: row.key) else { return nil }
          let seq = min(seq, row.lastSeq)
          return try store.deliveredSeq(to: me, in: row.key) < seq ? (row.key, seq) : nil
        }
      }
      if news.isEmpty { return }
      try writing(patience: 100) { store, me in
        for (key, seq) in news { _ = try store.markDelivered(seq, to: me, in: key, at: .now) }
      }
    }
  }

  // MARK: How

  private typealias Marks = [(conversation: Int64, ranges: [SeqRange])]

  private func ranges(
    _ target: ReadTarget, in row: Store.ConversationRow, _ store: Store, _ me: Int64
  ) throws -> [SeqRange] {
    switch target {
    case .ranges(let references):
      coalesced(
        try resolved(references, in: row, store, me).sorted { $0.lowerBound < $1.lowerBound })
    case .upTo(let reference): [1...(try seq(of: reference, in: row, store, me))]
    case .before(let bound): numbers(to: try seq(of: bound, in: row, store, me) - 1)
    case .all: numbers(to: row.lastSeq)
    }
  }

  /// Looks first, so that marking what is marked already neither waits nor writes.
  private func mark(
    _ options: MarkOptions, orElse missing: DMError? = nil, _ find: (Store, Int64) throws -> Marks
  ) throws -> [Receipt] {
    let now = Timestamp.now
    let looked: [Receipt]? = try reading(nil) { store, me in
      try find(store, me).compactMap { mark in
        let viewer = Viewer(store, me)
        let changed = try wouldChange(mark.ranges, options.act, store, viewer, mark.conversation)
        let count = changed.reduce(0) { $0 + $1.count } * (options.act == .unread ? 1 : -1)
        let unread = try store.unreadCount(in: mark.conversation, as: viewer) + count
        return try receipt(changed, options.act, in: mark.conversation, at: now, store, unread: unread)
      }
    }
    guard let looked else {
      if let missing { throw missing }
      return []
    }
    if looked.isEmpty || options.isDryRun {
      try existingStore()?.confirm()
      return looked
    }
    return try writing(isBulk: true) { store, me in
      try find(store, me).compactMap { mark in
        let changed = try change(mark.ranges, options.act, store, Viewer(store, me), mark.conversation, at: now)
        let unread = try store.unreadCount(in: mark.conversation, as: Viewer(store, me))
        return try receipt(changed, options.act, in: mark.conversation, at: now, store, unread: unread)
      }
    }
  }

  /// The parts of ranges that an act would change.
  private func wouldChange(
    _ ranges: [SeqRange], _ act: MarkOptions.Act, _ store: Store, _ viewer: Viewer, _ key: Int64
  ) throws -> [SeqRange] {
    switch act {
    case .read: return try ranges.flatMap { try store.wouldChange($0, toRead: true, as: viewer, in: key) }
    case .unread: return try ranges.flatMap { try store.wouldChange($0, toRead: false, as: viewer, in: key) }
    case .delivered:
      let before = try store.deliveredSeq(to: viewer.user, in: key)
      guard let last = ranges.last?.upperBound, last > before else { return [] }
      return [(before + 1)...last]
    }
  }

  /// Does it, and returns the parts that it changed.
  private func change(
    _ ranges: [SeqRange], _ act: MarkOptions.Act, _ store: Store, _ viewer: Viewer, _ key: Int64, at now: Timestamp
  ) throws -> [SeqRange] {
    let me = viewer.user
    let changed: [SeqRange]
    // What never reaches him he has not read, and nobody is told that he has.
    let reached = try ranges.flatMap { range in
      act == .read ? gaps(in: range, left: try store.unreachable(range, as: viewer, in: key)) : [range]
    }
    switch act {
    case .read: changed = try reached.flatMap { try store.cover($0, by: me, in: key) }
    case .unread: changed = try reached.flatMap { try store.uncover($0, as: viewer, in: key) }
    case .delivered:
      return try ranges.last.flatMap { try store.markDelivered($0.upperBound, to: me, in: key, at: now) }.map { [$0] }
        ?? []
    }
    guard let first = changed.first, let last = changed.last else { return [] }
    let hull = first.lowerBound...last.upperBound
    if act == .read {
      for range in reached where range.overlaps(hull) {
        try store.addReceipts(range.clamped(to: hull), of: me, in: key, at: now)
      }
    }
    try store.append(.ownState, conversation: key, user: me, seqs: hull, at: now)
    return changed
  }

  private func receipt(
    _ changed: [SeqRange], _ act: MarkOptions.Act, in key: Int64, at time: Timestamp, _ store: Store, unread: Int
  ) throws -> Receipt? {
    guard let first = changed.first, let last = changed.last else { return nil }
    return Receipt(
      kind: act == .delivered ? .delivery : .read, conversationID: try store.conversationID(key),
      user: identity.handle, range: first.lowerBound...last.upperBound, at: time,
      unreadCount: act == .delivered ? nil : unread)
  }
}

/// The numbers from 1 to `last`, if any.
private func numbers(to last: Int) -> [SeqRange] { last >= 1 ? [1...last] : [] }
