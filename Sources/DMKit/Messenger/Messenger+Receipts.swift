public import DMModel
internal import DMStore

/// The messages whose receipts are listed.
public enum MessageSelection: Sendable {
  /// One message.
  case message(MessageReference)
  /// The messages with these numbers in a conversation. Numbers without a message are ignored.
  case ranges([RangeReference], in: ConversationReference)
}

extension Messenger {
  /// The read receipts of one message, oldest first.
  package func receipts(for reference: MessageReference) throws -> [Receipt] {
    try receipts(for: [.message(reference)], [.read])
  }

  /// The receipts of messages: who received them, who read them, and when.
  ///
  /// Sorted by conversation, then oldest first.
  ///
  /// The sender of a message is left out, and so are users that the sender or the acting user blocks. Linear in the
  /// length of the change log if delivery receipts are requested.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`, `unknown_message`.
  public func receipts(
    for selections: [MessageSelection], _ kinds: Set<Receipt.Kind> = [.delivery, .read]
  ) throws -> [Receipt] {
    try reading([]) { session in
      var order: [Conversations.Row] = []
      var wanted: [ConversationKey: [SeqRange]] = [:]
      for selection in selections {
        let (row, ranges) = try session.numbers(of: selection)
        if wanted[row.key] == nil { order.append(row) }
        wanted[row.key, default: []] += ranges
      }
      return try order.flatMap { row in
        let ranges = coalesced((wanted[row.key] ?? []).sorted { $0.lowerBound < $1.lowerBound })
        return try ReceiptList(ranges, in: row, as: session.viewer).receipts(kinds)
      }
    }
  }

}

extension Session {
  fileprivate func numbers(of selection: MessageSelection) throws -> (Conversations.Row, [SeqRange]) {
    switch selection {
    case .message(let reference):
      let (row, message) = try visibleMessage(reference)
      return (row, [message.number...message.number])
    case .ranges(let references, let conversation):
      let row = try find(conversation)
      return (row, try resolved(references, in: row))
    }
  }
}

/// The receipts of some messages of one conversation, as a user sees them.
private struct ReceiptList {
  private struct Acknowledgement: Hashable {
    let user: UserKey
    let at: Timestamp?
  }

  private let row: Conversations.Row
  private let viewer: Viewer
  private let ranges: [SeqRange]
  /// The messages that the user sees, ascending.
  private let messages: [(seq: Int, sender: UserKey)]

  init(_ ranges: [SeqRange], in row: Conversations.Row, as viewer: Viewer) throws {
    (self.ranges, self.row, self.viewer) = (ranges, row, viewer)
    messages = try ranges.flatMap { try viewer.store.messages.senders(of: $0, in: row.key, as: viewer) }.flatMap {
      run in
      run.seqs.joined().map { (seq: $0, sender: run.sender) }
    }.sorted { $0.seq < $1.seq }
  }

  func receipts(_ kinds: Set<Receipt.Kind>) throws -> [Receipt] {
    guard let first = ranges.first, let last = ranges.last else { return [] }
    let hull = first.lowerBound...last.upperBound
    var found: [Found] = []
    if kinds.contains(.delivery) { found += try deliveries(within: hull) }
    if kinds.contains(.read) { found += try reads(within: hull) }
    found.sort {
      ($0.act.at?.microseconds ?? 0, $0.kind == .read ? 1 : 0, $0.act.user)
        < ($1.act.at?.microseconds ?? 0, $1.kind == .read ? 1 : 0, $1.act.user)
    }
    let store = viewer.store
    let title = try store.conversations.title(of: row.key, as: viewer.user)
    return try found.map {
      Receipt(
        kind: $0.kind, conversationID: row.id, conversationTitle: title, user: try store.users.handle($0.act.user),
        ranges: coalesced($0.ranges), at: $0.act.at)
    }
  }

  private typealias Found = (kind: Receipt.Kind, act: Acknowledgement, ranges: [SeqRange])

  private func deliveries(within hull: SeqRange) throws -> [Found] {
    let store = viewer.store
    var found: [Found] = []
    let times = try store.changes.deliveries(in: row.key, overlapping: hull)
    for (user, end) in try store.readState.delivered(in: row.key, as: viewer.user) {
      let hidden = try store.readState.hidden(.neverSeen, from: user, in: row.key)
      let got = try seqs(of: user, in: 1...end, besides: hidden)
      var rest = got
      for (range, at) in times[user] ?? [] {
        let part = got.filter(range.overlaps).map { $0.clamped(to: range) }
        if !part.isEmpty { found.append((.delivery, Acknowledgement(user: user, at: at), part)) }
        rest = difference(of: rest, minus: [range])
      }
      if !rest.isEmpty { found.append((.delivery, Acknowledgement(user: user, at: nil), rest)) }
    }
    return found
  }

  private func reads(within hull: SeqRange) throws -> [Found] {
    var acts: [Acknowledgement: [SeqRange]] = [:]
    for receipt in try viewer.store.readState.receipts(in: row.key, overlapping: hull, as: viewer.user) {
      let read = try seqs(of: receipt.user, in: receipt.range)
      if !read.isEmpty { acts[Acknowledgement(user: receipt.user, at: receipt.at), default: []] += read }
    }
    return acts.map { (.read, $0.key, $0.value) }
  }

  /// The messages of a range for which a receipt of a user counts.
  ///
  /// The receipt does not count for messages that the user has sent or whose sender blocks the user.
  private func seqs(of user: UserKey, in range: SeqRange, besides hidden: [SeqRange] = []) throws -> [SeqRange] {
    if try viewer.hasBlocked(user) { return [] }
    var found: [SeqRange] = []
    // Finds the first message of the range by binary search, because this is done for each receipt, and each message
    // may have its own.
    var (lower, upper) = (0, messages.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      if messages[middle].seq < range.lowerBound { lower = middle + 1 } else { upper = middle }
    }
    for message in messages[lower...] {
      if message.seq > range.upperBound { break }
      if message.sender == user { continue }
      if user != viewer.user, try viewer.statuses.blockedUsers(by: message.sender).contains(user) { continue }
      found.append(message.seq...message.seq)
    }
    return difference(of: coalesced(found), minus: hidden)
  }
}
