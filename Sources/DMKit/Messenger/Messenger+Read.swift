public import DMModel
internal import DMStore

/// The messages of a conversation to mark.
public enum ReadTarget: Sendable {
  /// The messages with these numbers.
  case ranges([RangeReference])
  /// All messages up to this one, included.
  case upTo(MessageReference)
  /// All messages before a message or a time.
  case before(HistoryQuery.Bound)
  /// All messages from a message or a time on, and before another if one is given.
  case since(HistoryQuery.Bound, before: HistoryQuery.Bound?)
  /// All messages.
  case all
}

extension Messenger {
  /// How to mark messages.
  public struct MarkOptions: Sendable {
    /// How to mark: as read, as unread or as delivered.
    public var act = Marked.Action.read
    /// Returns what would change, and changes nothing.
    public var isDryRun = false
    /// The handle of the only sender whose messages are marked; nil for all.
    public var sender: String?
    /// Marks as read without a receipt, so that no other user is told.
    public var isPrivate = false

    /// Makes the options to mark the messages of all senders as read.
    public init() {}
  }

  /// Marks messages of one conversation.
  ///
  /// Linear in the number of ranges that change. If nothing changes, it neither waits nor writes.
  ///
  /// - Returns: nil if nothing changed.
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`, `unknown_message`.
  public func markRead(
    _ target: ReadTarget, in reference: ConversationReference, _ options: MarkOptions = MarkOptions()
  ) throws -> Marked? {
    try mark(options, orElse: nothingYet(reference)) { store, me in
      let row = try find(reference, store, me)
      return [(row.key, try ranges(target, in: row, options, store, me))]
    }.first
  }

  /// Marks messages of all conversations.
  ///
  /// - Parameters:
  ///   - target: the messages to mark in each conversation.
  ///   - options: how to mark them.
  ///   - except: conversations that are left out.
  ///   - muted: only muted conversations, or only those that are not; nil for both.
  /// - Returns: one result for each conversation that changed.
  /// - Throws: `unknown_user`; for `except`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func markReadEverywhere(
    _ target: ReadTarget, _ options: MarkOptions = MarkOptions(), except: [ConversationReference] = [],
    muted: Bool? = nil
  ) throws -> [Marked] {
    try mark(options) { store, me in
      let left = Set(try except.map { try find($0, store, me).key })
      // Also where there is nothing to mark, a sender must exist.
      _ = try sender(of: options, store, me)
      return try store.conversationKeys(of: me, unreadOnly: options.act == .read).compactMap { key in
        if left.contains(key) { return nil }
        if let muted, try store.isMuted(key, for: me, at: .now) != muted { return nil }
        let row = try self.find(ConversationReference.id(store.conversationID(key)), store, me)
        return (key, try ranges(target, in: row, options, store, me))
      }
    }
  }

  /// A message as a line of dm-tail names it.
  package struct Mentioned: Hashable, Sendable {
    package let conversation: Identifier
    package let seq: Int

    package init(conversation: Identifier, seq: Int) {
      self.conversation = conversation
      self.seq = seq
    }
  }

  /// Marks exactly these messages; returns what changed in each conversation that changed, and what was wrong with each
  /// message that could not be marked, by its index.
  package func markRead(
    _ messages: [Mentioned], _ options: MarkOptions = MarkOptions()
  ) throws -> (marked: [Marked], errors: [Int: DMError]) {
    var errors: [Int: DMError] = [:]
    let marked = try mark(options) { store, me in
      errors = [:]
      var order: [ConversationKey] = []
      var wanted: [ConversationKey: [SeqRange]] = [:]
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
    return (marked, errors)
  }

  /// Records that messages reached the user: in each conversation all up to a number.
  ///
  /// Changes nothing if the store is busy or cannot be written to, because a later call can do it.
  ///
  /// - Returns: whether it is recorded.
  @discardableResult
  public func markDelivered(upTo seqs: [Identifier: Int]) throws -> Bool {
    try attempt {
      let news = try reading([]) { store, me in
        try seqs.compactMap { id, seq -> (ConversationKey, Int)? in
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

  private typealias Marks = [(conversation: ConversationKey, ranges: [SeqRange])]

  private func ranges(
    _ target: ReadTarget, in row: Store.ConversationRow, _ options: MarkOptions, _ store: Store, _ me: UserKey
  ) throws -> [SeqRange] {
    let all = try ranges(target, in: row, store, me)
    guard let sender = try sender(of: options, store, me) else { return all }
    let viewer = Viewer(store, me)
    return try coalesced(
      wouldChange(all, options.act, store, viewer, row.key).flatMap { try store.messages(of: sender, $0, in: row.key) })
  }

  private func sender(of options: MarkOptions, _ store: Store, _ me: UserKey) throws -> UserKey? {
    guard let handle = options.sender else { return nil }
    guard let key = try store.userKey(handle) else { throw try unknownUser(handle, store, me) }
    return key
  }

  private func ranges(
    _ target: ReadTarget, in row: Store.ConversationRow, _ store: Store, _ me: UserKey
  ) throws -> [SeqRange] {
    switch target {
    case .ranges(let references):
      coalesced(
        try resolved(references, in: row, store, me).sorted { $0.lowerBound < $1.lowerBound })
    case .upTo(let reference): [1...(try seq(of: reference, in: row, store, me))]
    case .before(let bound):
      gaps(in: seqs(to: row.lastSeq), left: try numbers(from: bound, in: row, store, me))
    case .since(let since, let before):
      gaps(
        in: try numbers(from: since, in: row, store, me),
        left: try before.map { try numbers(from: $0, in: row, store, me) } ?? [])
    case .all: seqs(to: row.lastSeq)
    }
  }

  /// The numbers of the messages that are not before a bound.
  private func numbers(
    from bound: HistoryQuery.Bound, in row: Store.ConversationRow, _ store: Store, _ me: UserKey
  ) throws -> [SeqRange] {
    switch bound {
    case .message(let reference): seqs(from: try seq(of: reference, in: row, store, me), to: row.lastSeq)
    case .time(let time): try store.seqs(notBefore: time, in: row)
    }
  }

  /// Looks first, so that marking what is marked already neither waits nor writes.
  private func mark(
    _ options: MarkOptions, orElse missing: DMError? = nil, _ find: (Store, UserKey) throws -> Marks
  ) throws -> [Marked] {
    let now = Timestamp.now
    let looked: (records: [Marked], hasChanges: Bool)? = try reading(nil) { store, me in
      var hasChanges = false
      var records: [Marked] = []
      for mark in try find(store, me) {
        let viewer = Viewer(store, me)
        let changed = try wouldChange(mark.ranges, options.act, store, viewer, mark.conversation)
        hasChanges = hasChanges || !changed.isEmpty
        let unread = try store.unreadCount(in: mark.conversation, as: viewer)
        let record = try marked(changed, options, in: mark.conversation, at: now, viewer) { count in
          switch options.act {
          case .read: unread - count
          case .unread: unread + count
          case .delivered: unread
          }
        }
        if let record { records.append(record) }
      }
      return (records, hasChanges)
    }
    guard let looked else {
      if let missing { throw missing }
      return []
    }
    if !looked.hasChanges || options.isDryRun {
      try existingStore()?.confirm()
      return looked.records
    }
    return try writing(isBulk: true) { store, me in
      try find(store, me).compactMap { mark in
        let viewer = Viewer(store, me)
        let changed = try change(mark.ranges, options, store, viewer, mark.conversation, at: now)
        return try marked(changed, options, in: mark.conversation, at: now, viewer) { _ in
          try store.unreadCount(in: mark.conversation, as: Viewer(store, me))
        }
      }
    }
  }

  /// The parts of ranges that an act would change.
  private func wouldChange(
    _ ranges: [SeqRange], _ act: Marked.Action, _ store: Store, _ viewer: Viewer, _ key: ConversationKey
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
  func change(
    _ ranges: [SeqRange], _ options: MarkOptions, _ store: Store, _ viewer: Viewer, _ key: ConversationKey,
    at now: Timestamp
  ) throws -> [SeqRange] {
    let (me, act) = (viewer.user, options.act)
    let changed: [SeqRange]
    // What never reaches the user they have not read, and nobody is told that they have.
    let reached = try ranges.flatMap { range in
      act == .read ? gaps(in: range, left: try store.unreachable(range, as: viewer, in: key)) : [range]
    }
    let before = try act == .read ? reached.flatMap { try store.readRanges(of: me, in: key, overlapping: $0) } : []
    switch act {
    case .read: changed = try reached.flatMap { try store.cover($0, by: me, in: key) }
    case .unread: changed = try reached.flatMap { try store.uncover($0, as: viewer, in: key) }
    case .delivered:
      return try ranges.last.flatMap { try store.markDelivered($0.upperBound, to: me, in: key, at: now) }.map { [$0] }
        ?? []
    }
    guard let first = changed.first, let last = changed.last else { return [] }
    let hull = first.lowerBound...last.upperBound
    if act == .read, !options.isPrivate, try store.sendsReadReceipts(me) {
      // One receipt goes over the user's own messages, but not over what they read privately.
      let quiet = try store.privatelyRead(hull, of: me, in: key, among: coalesced(before))
      for range in gaps(in: reached.filter(hull.overlaps).map { $0.clamped(to: hull) }, left: quiet) {
        try store.addReceipts(range, of: me, in: key, at: now)
      }
    }
    try store.append(.ownState, conversation: key, user: me, seqs: hull, at: now)
    return changed
  }

  /// - Parameter changed: what changed; of a delivery, which is a line under everything, also what the user does not see.
  private func marked(
    _ changed: [SeqRange], _ options: MarkOptions, in key: ConversationKey, at time: Timestamp, _ viewer: Viewer,
    unread: (_ count: Int) throws -> Int
  ) throws -> Marked? {
    let store = viewer.store
    let ranges =
      options.act == .delivered ? try changed.flatMap { try store.messagesOfOthers($0, as: viewer, in: key) } : changed
    if ranges.isEmpty { return nil }
    return Marked(
      action: options.act, isDryRun: options.isDryRun, conversationID: try store.conversationID(key),
      conversationTitle: try store.title(of: key, as: viewer.user), ranges: coalesced(ranges),
      unreadCount: try unread(ranges.reduce(0) { $0 + $1.count }), at: time)
  }
}

/// The numbers from `first` to `last`, if any.
private func seqs(from first: Int = 1, to last: Int) -> [SeqRange] { last >= first ? [first...last] : [] }
