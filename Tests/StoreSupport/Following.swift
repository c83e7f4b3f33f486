import DMStore
import Testing

@testable import DMKit
@testable import DMSystem

/// How many microseconds a test waits for an event that must come; long enough on any machine.
let testTimeout: Int64 = 60_000_000

extension Cursor {
  /// A cursor that no store of a test accepts.
  static let ofAnotherStore = Cursor(store: Identifier(high: 1, low: 2), Position(rev: .zero))
}

extension Messenger {
  /// The events from a position on, without the `caughtUp` at their end.
  func received(_ query: EventQuery) throws -> [MessagingEvent] {
    var query = query
    query.follows = false
    let events = try Follower(self, query).rest()
    guard case .caughtUp? = events.last else {
      Issue.record("the last event of a stream that does not follow must be caughtUp")
      return events
    }
    return events.dropLast()
  }

  func received(
    _ kinds: Set<MessagingEvent.Kind>, in conversations: [String] = [], from start: EventQuery.Start = .start,
    othersOnly: Bool = false
  ) throws -> [String] {
    var query = EventQuery(try conversations.map(ConversationReference.init), from: start)
    query.kinds = kinds
    query.othersOnly = othersOnly
    query.marksDelivered = false
    return try received(query).map(\.summary)
  }

  /// The present position in the stream.
  func here() throws -> EventQuery.Start {
    let store = try #require(try existingStore())
    return .cursor(Cursor(store: try store.uuid(), try store.position(of: .now)))
  }

  @discardableResult
  func read(_ seqs: SeqRange, of conversation: String) throws -> Marked? {
    try markRead(
      .ranges([RangeReference(from: seqs.lowerBound, to: seqs.upperBound)]), in: ConversationReference(conversation))
  }

  func take(_ act: Marked.Action, upTo seq: Int, of conversation: String) throws {
    var options = MarkOptions()
    options.act = act
    _ = try markRead(
      .ranges([RangeReference(from: 1, to: seq)]), in: ConversationReference(conversation), options)
  }
}

extension Follower {
  /// All events up to the end of a stream that does not follow; marks them as delivered.
  func rest() throws -> [MessagingEvent] {
    var events: [MessagingEvent] = []
    while let next = try next() {
      events += next
      try markDelivered(next)
    }
    return events
  }

  /// All events up to the event for which `isLast` is true; marks them as delivered.
  func until(_ isLast: (MessagingEvent) -> Bool) throws -> [MessagingEvent] {
    let deadline = monotonicMicroseconds() + testTimeout
    var events: [MessagingEvent] = []
    while monotonicMicroseconds() < deadline, let next = try next(within: .microseconds(testTimeout)) {
      events += next
      try markDelivered(next)
      if next.contains(where: isLast) { return events }
    }
    Issue.record("not received within \(testTimeout / 1_000_000) s, but \(events.map(\.summary))")
    return events
  }

  func untilCaughtUp() throws -> [MessagingEvent] {
    try until { if case .caughtUp = $0 { true } else { false } }
  }

  func until(_ summary: String) throws -> [String] { try until { $0.summary == summary }.map(\.summary) }
}

extension MessagingEvent {
  var isStatus: Bool { if case .messageStatus = self { true } else { false } }

  /// The event as a text, without ids, times and cursors.
  var summary: String {
    switch self {
    case .message(let message, _):
      "\(message.number) \(message.sender): "
        + (message.systemKind.map { "\($0.rawValue) \(message.subject ?? "")" } ?? message.text ?? "")
    case .messageUpdated(let message, _): "\(message.number) \(message.sender) is now \(message.text ?? "")"
    case .messageStatus(let status, _):
      "\(status.user) \(status.status == .read ? "read" : "got") "
        + status.ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }
        .joined(separator: " ") + " of \(status.sender)"
    case .messageDeleted(let deletion, _):
      "\(deletion.seq.map(String.init) ?? "-") deleted\(deletion.forEveryone ? "" : " for the user alone")"
    case .messagePin(let pin, _): "\(pin.user) \(pin.isPinned ? "pinned" : "unpinned") \(pin.seq)"
    case .reaction(let reaction, _): "\(reaction.user) reacted to \(reaction.seq): \(reaction.emoji ?? "")"
    case .readReceipt(let receipt, _):
      "\(receipt.user) read \(receipt.ranges[0].lowerBound)-\(receipt.ranges[0].upperBound)"
    case .deliveryReceipt(let receipt, _):
      "\(receipt.user) got \(receipt.ranges[0].lowerBound)-\(receipt.ranges[0].upperBound)"
    case .conversationUpdated(let conversation, _):
      "\(conversation.title ?? conversation.participants.map(\.description).joined(separator: "+")) changed"
    case .typing(let typing): "\(typing.users.map(\.description)) typing"
    case .presence(let presence): "\(presence.user) \(presence.isOnline ? "came" : "went")"
    case .caughtUp: "caught up"
    case .hub(let status): "hub \(status.state)"
    case .heartbeat: "heartbeat"
    case .gap: "gap"
    }
  }
}
