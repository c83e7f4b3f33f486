internal import DMKit
internal import DMSystem
internal import DMWire

/// A call of `wait_for_message` that is not answered yet.
final class Wait {
  let id: RPCRequest.ID
  let replies: Replies
  /// The end of the wait, on the monotonic clock.
  let deadline: Int64
  private let scope: Scope
  private var query: EventQuery
  private(set) var cursor: Cursor
  private var events: [MessagingEvent] = []
  private var hasGap = false

  /// The most messages of one answer, unless one batch of changes has more.
  private static let most = 100

  /// - Throws: `no_store`, `bad_cursor`, or what a conversation throws.
  init(_ arguments: ToolArguments, _ scope: Scope, id: RPCRequest.ID, _ replies: Replies) throws {
    (self.id, self.replies, self.scope) = (id, replies, scope)
    deadline = monotonicMicroseconds() + Int64(arguments.count("timeout_seconds") ?? 30) * 1_000_000
    guard try scope.messenger.hasStore() else {
      throw DMError(.noStore, "there is no store yet; the first message creates it")
    }
    query = EventQuery(try arguments.conversations())
    query.kinds = [.message]
    query.othersOnly = true
    query.follows = false
    query.signalsPresence = false
    query.start = try arguments.text("cursor").map { .cursor(try Cursor($0)) } ?? .now
    cursor = try Follower(scope.messenger, query).cursor
  }

  /// Reads what has come since the last look.
  ///
  /// - Returns: whether there is something to answer with.
  func look() throws -> Bool {
    query.start = .cursor(cursor)
    let follower = try Follower(scope.messenger, query)
    while events.count < Self.most, let batch = try follower.next() {
      for event in batch {
        switch event {
        case .message: events.append(event)
        case .gap: hasGap = true
        default: break
        }
      }
      cursor = follower.cursor
    }
    return !events.isEmpty || hasGap
  }

  /// The members of the answer.
  func write(to json: inout JSONWriter) {
    json.list("messages", events)
    json.member("cursor", cursor)
    if hasGap { json.member("has_gap", true) }
  }

  /// Marks what was answered as delivered.
  func markDelivered() throws {
    var last: [Identifier: Int] = [:]
    for case .message(let message, _) in events {
      if let seq = message.seq { last[message.conversationID] = max(last[message.conversationID] ?? 0, seq) }
    }
    if !last.isEmpty { try scope.messenger.markDelivered(upTo: last) }
  }
}
