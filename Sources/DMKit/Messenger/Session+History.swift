internal import DMModel
internal import DMStore

extension Session {
  /// The numbers of the messages that a query selects, ascending.
  ///
  /// If the query has a limit, these are the numbers of its newest messages. `missing` has the numbers of messages that
  /// the query needs and the store has not kept, at most one page of them.
  ///
  /// - Parameter thread: the thread of the query, if it has one.
  func ranges(
    _ query: HistoryQuery, in row: Conversations.Row, _ thread: MessageThread?, as viewer: Viewer
  ) throws -> (ranges: [SeqRange], missing: [SeqRange]) {
    try store.messages.checkEnd(of: row)
    var ranges = try numberedRanges(query, in: row)
    if case .time(let time)? = query.since {
      ranges = difference(
        of: ranges, minus: difference(of: ranges, minus: try store.messages.seqs(notBefore: time, in: row)))
    }
    if case .time(let time)? = query.before {
      ranges = difference(of: ranges, minus: try store.messages.seqs(notBefore: time, in: row))
    }
    // The store does not have the times of the messages that it has not kept, so these cannot be selected by time.
    let times = [query.since, query.before].compactMap { if case .time(let time)? = $0 { time } else { nil } }
    if let floor = try store.hubFloors.row(row.key), times.contains(where: { $0 < floor.at }) {
      ranges = difference(of: ranges, minus: try store.hubFloors.absent(1...floor.seq, in: row.key))
      messenger.leftOut += 1
    }
    ranges = try selected(query, thread, of: ranges, in: row.key)
    if query.unreadOnly {
      ranges = try ranges.flatMap { try store.readState.wouldChange($0, toRead: true, as: viewer, in: row.key) }
    }
    let isChosen = query.sender != nil || query.mentionsOnly || thread != nil
    if isChosen { try countLeftOut([row.key], since: Timestamp.writable.lowerBound) }
    guard let limit = query.limit else { return (ranges, []) }
    let (newest, isComplete) = try newest(limit, of: ranges, in: row.key, as: viewer)
    // The store keeps unread messages, and finds a sender's messages, mentions and answers only among the messages that it
    // has, so nothing is fetched.
    if query.unreadOnly || isChosen { return (newest, []) }
    let lowest = isComplete ? newest.first?.lowerBound ?? 1 : 1
    let missing = try ranges.filter { $0.upperBound >= lowest }.flatMap {
      try self.missing(in: max(lowest, $0.lowerBound)...$0.upperBound, of: row.key, as: viewer)
    }
    return (newest, page(of: missing))
  }

  /// The part of `ranges` with the sender, the mentions and the thread of a query.
  private func selected(
    _ query: HistoryQuery, _ thread: MessageThread?, of ranges: [SeqRange], in conversation: ConversationKey
  ) throws -> [SeqRange] {
    var ranges = ranges
    if let sender = try query.sender.map(userKey) {
      ranges = coalesced(try ranges.flatMap { try store.messages.seqs(of: sender, $0, in: conversation) })
    }
    if query.mentionsOnly {
      ranges = coalesced(try ranges.flatMap { try store.mentions.seqs(of: me, $0, in: conversation) })
    }
    if let thread { ranges = difference(of: ranges, minus: difference(of: ranges, minus: thread.seqs)) }
    return ranges
  }

  /// The numbers that are within the ranges of a query and between the messages that are its bounds.
  private func numberedRanges(_ query: HistoryQuery, in row: Conversations.Row) throws -> [SeqRange] {
    func seq(_ bound: HistoryQuery.Bound?) throws -> Int? {
      guard case .message(let reference)? = bound else { return nil }
      return try self.seq(of: reference, in: row)
    }
    let lower = try seq(query.since) ?? 1
    let upper = try seq(query.before).map { $0 - 1 } ?? row.lastVisibleSeq
    guard lower <= upper else { return [] }
    guard let wanted = query.ranges else { return [lower...upper] }
    let asked = try resolved(wanted, in: row).filter { $0.overlaps(lower...upper) }
    return coalesced(asked.map { $0.clamped(to: lower...upper) }.sorted { $0.lowerBound < $1.lowerBound })
  }

  /// The part of `ranges` that contains the newest `limit` messages that the viewer sees, and whether there are `limit`
  /// of them.
  private func newest(
    _ limit: Int, of ranges: [SeqRange], in conversation: ConversationKey, as viewer: Viewer
  ) throws -> (ranges: [SeqRange], isComplete: Bool) {
    var missing = limit
    var newest: [SeqRange] = []
    for range in ranges.reversed() where missing > 0 {
      let start = try store.messages.start(ofNewest: missing, in: range, of: conversation, as: viewer)
      newest.append(start.seq...range.upperBound)
      missing -= start.count
    }
    return (newest.reversed(), missing == 0)
  }

  func timeline(
    _ query: HistoryQuery, _ conversations: [ConversationKey]?, as viewer: Viewer
  ) throws -> (filter: Messages.TimelineFilter, start: Messages.TimelinePosition)? {
    func time(_ bound: HistoryQuery.Bound) throws -> Timestamp {
      switch bound {
      case .message(let reference): try self.time(of: reference)
      case .time(let time): time
      }
    }
    var since = try query.since.map(time) ?? Timestamp.writable.lowerBound
    let filter = Messages.TimelineFilter(
      user: me, conversations: conversations, sender: try query.sender.map(userKey),
      mentionsOnly: query.mentionsOnly, before: try query.before.map(time) ?? Timestamp(microseconds: .max),
      lastKey: try store.messages.lastMessageKey(), unreadOnly: query.unreadOnly,
      unmutedAt: query.unmutedOnly ? viewer.now : nil)
    if query.unreadOnly {
      guard let oldest = try store.readState.oldestUnread(of: me) else { return nil }
      since = max(since, oldest)
    }
    if query.limit.map({ $0 <= 0 }) ?? false { return nil }
    let start = try query.limit.map { try store.messages.start(ofNewest: $0, filter, since: since, as: viewer) }
    if !query.unreadOnly { try countLeftOut(conversations, since: start?.createdAt ?? since) }
    return (filter, start ?? .start(of: since))
  }
}
