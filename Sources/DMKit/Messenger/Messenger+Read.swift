public import DMModel
internal import DMStore

extension Messenger {
  /// The options of an action that marks messages.
  public struct MarkOptions: Sendable {
    /// Whether to mark as read, as unread or as delivered.
    public var act = Marked.Action.read
    /// Whether to return only what would change, and change nothing.
    package var isDryRun = false
    var evenAbsent = false  // Whether to mark as unread also messages that this store has not kept.
    /// How long to wait for the lock of the store; nil for the timeout of the location.
    package var busyTimeout: Duration?
    /// The handle of the sender whose messages are marked; nil for all senders.
    public var sender: Handle?
    /// Whether to mark as read without a receipt, so that other users do not see it.
    public var isPrivate = false

    /// Makes options that mark the messages of all senders as read, with receipts.
    public init() {}
  }

  /// Marks messages of one conversation as read, as unread or as delivered, as the options say.
  ///
  /// Linear in the number of ranges that change. If nothing changes, the call does not wait for the lock, and does not
  /// write.
  ///
  /// - Returns: nil if nothing changed.
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`, `unknown_message`.
  public func markRead(
    _ target: ReadTarget, in reference: ConversationReference, _ options: MarkOptions = MarkOptions()
  ) throws -> Marked? {
    try mark(options, orElse: nothingYet(reference)) { session in
      let row = try session.find(reference)
      return [(row.key, try session.ranges(target, in: row, options))]
    }.first
  }

  /// Marks messages of all conversations as read, as unread or as delivered, as the options say.
  ///
  /// - Parameters:
  ///   - target: the messages to mark in each conversation.
  ///   - options: how to mark the messages.
  ///   - except: the conversations to leave out.
  ///   - muted: true to mark only in muted conversations, false to mark only in the others, nil to mark in both.
  /// - Returns: one result for each conversation that changed.
  /// - Throws: `unknown_user`; for `except`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func markReadEverywhere(
    _ target: ReadTarget, _ options: MarkOptions = MarkOptions(), except: [ConversationReference] = [],
    muted: Bool? = nil
  ) throws -> [Marked] {
    try mark(options) { session in
      let store = session.store
      let left = Set(try except.map { try session.find($0).key })
      // An unknown sender is an error even if there is nothing to mark.
      _ = try options.sender.map(session.userKey)
      return try store.members.conversationKeys(of: session.me, unreadOnly: options.act == .read).compactMap { key in
        if left.contains(key) { return nil }
        if let muted, try store.members.isMuted(key, for: session.me, at: .now) != muted { return nil }
        let row = try session.find(ConversationReference.id(store.conversations.id(key)))
        return (key, try session.ranges(target, in: row, options))
      }
    }
  }

  /// A message, identified by its conversation and its number, as in a line of dm-tail.
  package struct MarkedMessage: Hashable, Sendable {
    package let conversation: Identifier
    package let seq: Int

    package init(conversation: Identifier, seq: Int) {
      self.conversation = conversation
      self.seq = seq
    }
  }

  /// Marks exactly these messages as read, as unread or as delivered, as the options say.
  ///
  /// - Returns: the changes in each conversation, and the errors of the messages that were not marked, by their
  ///   indexes.
  package func markRead(
    _ messages: [MarkedMessage], _ options: MarkOptions = MarkOptions()
  ) throws -> (marked: [Marked], errors: [Int: DMError]) {
    var errors: [Int: DMError] = [:]
    let marked = try mark(options) { session in
      errors = [:]
      var order: [ConversationKey] = []
      var wanted: [ConversationKey: [SeqRange]] = [:]
      var rows: [Identifier: Conversations.Row] = [:]
      for (index, message) in messages.enumerated() {
        do {
          let row = try rows[message.conversation] ?? session.find(.id(message.conversation))
          rows[message.conversation] = row
          let seq = try session.seq(of: .number(message.seq, in: nil), in: row)
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

  /// Records that messages were delivered to the user, in each conversation up to the given message number.
  ///
  /// If the store is busy or cannot be written to, nothing changes; the caller can try again later.
  ///
  /// - Returns: whether the delivery is recorded.
  @discardableResult
  package func markDelivered(upTo seqs: [Identifier: Int]) throws -> Bool {
    try attempt {
      let new = try reading([]) { session in
        try seqs.compactMap { id, seq in try session.undelivered(upTo: seq, in: id) }
      }
      if new.isEmpty { return }
      try writing(timeout: .milliseconds(100)) { session in
        for (key, seq) in new { _ = try session.markDelivered(seq, in: key, at: .now) }
      }
    }
  }

  private typealias Marks = [(conversation: ConversationKey, ranges: [SeqRange])]

  private func mark(
    _ options: MarkOptions, orElse missing: DMError? = nil, _ find: (Session) throws -> Marks
  ) throws -> [Marked] {
    guard options.act == .read, !options.isDryRun else { return try change(options, orElse: missing, find) }
    return try reporting(.read) {
      UsageAct.Extent(count: $0.reduce(0) { $0 + $1.count })
    } _: {
      try change(options, orElse: missing, find)
    }
  }

  /// Marks messages, but first checks whether anything would change, so that a repeated call does not wait or write.
  private func change(
    _ options: MarkOptions, orElse missing: DMError?, _ find: (Session) throws -> Marks
  ) throws -> [Marked] {
    let now = Timestamp.now
    guard let looked = try reading(nil, { session in try session.rehearse(find(session), options, at: now) }) else {
      if let missing { throw missing }
      return []
    }
    if !looked.hasChanges || options.isDryRun {
      try existingStore()?.confirm()
      return looked.records
    }
    return try writing(isBulk: true, timeout: options.busyTimeout) { session in
      try find(session).compactMap { key, ranges in
        let changed = try session.change(ranges, options, in: key, at: now)
        return try session.marked(changed, options, in: key, at: now) { _ in
          try session.store.readState.unreadCount(in: key, as: session.freshViewer())
        }
      }
    }
  }
}

extension Session {
  /// The conversation and the number of its last message that becomes delivered; nil if no message becomes delivered.
  fileprivate func undelivered(upTo seq: Int, in id: Identifier) throws -> (ConversationKey, Int)? {
    guard let row = try store.conversations.row(id),
      let membership = try store.members.membership(of: me, in: row.key), membership.leftSeq == nil
    else { return nil }
    let seq = min(seq, row.lastVisibleSeq)
    return membership.deliveredSeq < seq ? (row.key, seq) : nil
  }

  fileprivate func ranges(
    _ target: ReadTarget, in row: Conversations.Row, _ options: Messenger.MarkOptions
  ) throws -> [SeqRange] {
    let all = try ranges(target, in: row)
    guard let sender = try options.sender.map(userKey) else { return all }
    return try coalesced(
      wouldChange(all, options.act, in: row.key).flatMap { try store.messages.seqs(of: sender, $0, in: row.key) })
  }

  private func ranges(_ target: ReadTarget, in row: Conversations.Row) throws -> [SeqRange] {
    switch target {
    case .ranges(let references):
      coalesced(try resolved(references, in: row).sorted { $0.lowerBound < $1.lowerBound })
    case .upTo(let reference): [1...(try seq(of: reference, in: row))]
    case .before(let bound): difference(of: seqs(to: row.lastVisibleSeq), minus: try numbers(from: bound, in: row))
    case .since(let since, let before):
      difference(of: try numbers(from: since, in: row), minus: try before.map { try numbers(from: $0, in: row) } ?? [])
    case .all: seqs(to: row.lastVisibleSeq)
    }
  }

  /// The numbers of the messages at or after a bound.
  private func numbers(from bound: HistoryQuery.Bound, in row: Conversations.Row) throws -> [SeqRange] {
    switch bound {
    case .message(let reference): seqs(from: try seq(of: reference, in: row), to: row.lastVisibleSeq)
    case .time(let time): try store.messages.seqs(notBefore: time, in: row)
    }
  }

  /// The records that an action would return; the action is not done.
  fileprivate func rehearse(
    _ marks: [(conversation: ConversationKey, ranges: [SeqRange])], _ options: Messenger.MarkOptions, at now: Timestamp
  ) throws -> (records: [Marked], hasChanges: Bool) {
    var hasChanges = false
    let records = try marks.compactMap { key, ranges in
      let changed = try wouldChange(ranges, options.act, in: key)
      hasChanges = hasChanges || !changed.isEmpty
      let unread = try store.readState.unreadCount(in: key, as: viewer)
      return try marked(changed, options, in: key, at: now) { count in
        switch options.act {
        case .read: unread - count
        case .unread: unread + count
        case .delivered: unread
        }
      }
    }
    return (records, hasChanges)
  }

  /// The parts of ranges that an action would change.
  private func wouldChange(_ ranges: [SeqRange], _ act: Marked.Action, in key: ConversationKey) throws -> [SeqRange] {
    switch act {
    case .read: return try ranges.flatMap { try store.readState.wouldChange($0, toRead: true, as: viewer, in: key) }
    case .unread:
      try noteAbsent(ranges, in: key)
      return try ranges.flatMap { try store.readState.wouldChange($0, toRead: false, as: viewer, in: key) }
    case .delivered:
      let before = try store.readState.deliveredSeq(to: me, in: key)
      return ranges.last.flatMap { $0.upperBound > before ? [(before + 1)...$0.upperBound] : nil } ?? []
    }
  }

  /// Marks the messages of the ranges, and returns the parts of the ranges that changed.
  package func change(
    _ ranges: [SeqRange], _ options: Messenger.MarkOptions, in key: ConversationKey, at now: Timestamp
  ) throws -> [SeqRange] {
    switch options.act {
    case .read: return try read(ranges, isPrivate: options.isPrivate, in: key, at: now)
    case .unread:
      let even = options.evenAbsent
      let changed = try ranges.flatMap { try store.readState.markUnread($0, as: viewer, in: key, evenAbsent: even) }
      return try logged(changed, in: key, at: now)
    case .delivered:
      return try ranges.last.flatMap { try markDelivered($0.upperBound, in: key, at: now) }.map { [$0] } ?? []
    }
  }

  private func read(
    _ ranges: [SeqRange], isPrivate: Bool, in key: ConversationKey, at now: Timestamp
  ) throws -> [SeqRange] {
    // Messages that the user cannot see are not marked as read, and get no receipt.
    let reached = try ranges.flatMap {
      difference(of: $0, minus: try store.readState.unreachable($0, as: viewer, in: key))
    }
    let before = try reached.flatMap { try store.readState.readRanges(of: me, in: key, overlapping: $0) }
    let changed = try reached.flatMap { try store.readState.markRead($0, by: me, in: key) }
    if let hull = hull(of: changed), !isPrivate, try store.users.sendsReadReceipts(me) {
      // A receipt includes the changed messages and the user's own messages between them, but no messages that the user
      // has read privately.
      let quiet = try store.readState.privatelyRead(hull, of: me, in: key, among: coalesced(before))
      for range in difference(of: reached.filter(hull.overlaps).map { $0.clamped(to: hull) }, minus: quiet) {
        try store.readState.addReceipts(range, of: me, in: key, at: now)
        try queueReceipt(range, in: key)
      }
    }
    return try logged(changed, isPrivate: isPrivate, in: key, at: now)
  }

  /// The record of an action; nil if nothing changed.
  ///
  /// - Parameter changed: the ranges that changed. For a delivery, they may include messages that the user does not
  ///   see.
  fileprivate func marked(
    _ changed: [SeqRange], _ options: Messenger.MarkOptions, in key: ConversationKey, at time: Timestamp,
    unread: (_ count: Int) throws -> Int
  ) throws -> Marked? {
    let ranges =
      options.act == .delivered
      ? try changed.flatMap { try store.messages.seqsOfOthers($0, as: viewer, in: key) } : changed
    if ranges.isEmpty { return nil }
    return Marked(
      action: options.act, isDryRun: options.isDryRun, conversationID: try store.conversations.id(key),
      conversationTitle: try store.conversations.title(of: key, as: me), ranges: coalesced(ranges),
      unreadCount: try unread(ranges.reduce(0) { $0 + $1.count }), at: time)
  }
}

/// The range from the start of the first of some ascending ranges to the end of the last; nil if there are no ranges.
private func hull(of ranges: [SeqRange]) -> SeqRange? {
  guard let first = ranges.first, let last = ranges.last else { return nil }
  return first.lowerBound...last.upperBound
}

/// The range of numbers from `first` to `last`; empty if `last` is less than `first`.
private func seqs(from first: Int = 1, to last: Int) -> [SeqRange] { last >= first ? [first...last] : [] }
