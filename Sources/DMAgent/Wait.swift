internal import DMJSON
internal import DMKit
internal import DMSystem

/// A call of `wait_for_message` that is not answered yet.
final class Wait {
  let call: AgentCall
  let replies: Replies
  /// The call in the owner's log; nil if there is no log.
  let entry: CallLog.Entry?
  /// The end of the wait, on the monotonic clock.
  let deadline: Int64
  /// When the next progress notification is due, on the monotonic clock; nil if the client asked for none.
  private(set) var nextProgress: Int64?
  private let progressToken: RPCRequest.ID?
  private var progressCount = 0
  private let scope: Scope
  private var query: EventQuery
  private(set) var cursor: Cursor
  private var messages: [Message] = []
  private var hasGap = false
  /// Whether `look` was not called yet.
  private(set) var isNew = true

  /// The maximum number of messages of one answer, and of their bytes; the last batch of changes may exceed them.
  private static let most = (messages: 100, bytes: Budget.answer)

  /// Microseconds between two progress notifications: many clients give up a call after 60 s without one.
  private static let progressInterval: Int64 = 15_000_000

  /// - Parameter progressToken: the token that names the call in progress notifications; nil if the client wants none.
  /// - Throws: `no_store`, `bad_cursor`, or an error about a conversation.
  init(
    _ arguments: ToolArguments, _ scope: Scope, _ call: AgentCall, progressToken: RPCRequest.ID?, _ replies: Replies,
    _ entry: CallLog.Entry?
  ) throws {
    (self.call, self.replies, self.scope, self.progressToken) = (call, replies, scope, progressToken)
    self.entry = entry
    nextProgress = progressToken.map { _ in monotonicMicroseconds() + Self.progressInterval }
    deadline = monotonicMicroseconds() + Int64(arguments.count("timeout_seconds") ?? 30) * 1_000_000
    guard try scope.messenger.hasStore() else {
      throw DMError(.noStore, "there is no store yet; the first message creates it")
    }
    query = EventQuery(try arguments.conversations())
    query.kinds = [.message]
    query.othersOnly = true
    query.follows = false
    query.signalsPresence = false
    query.start = try arguments.text("cursor").map { .cursor(try scope.cursor($0)) } ?? .now
    cursor = try Follower(scope.messenger, query).cursor
  }

  /// Reads the messages since the last call.
  ///
  /// - Returns: whether there are messages, or a gap, to answer with.
  func look() throws -> Bool {
    isNew = false
    query.start = .cursor(cursor)
    let follower = try Follower(scope.messenger, query)
    var size = 0
    while messages.count < Self.most.messages, size < Self.most.bytes, let batch = try follower.next() {
      for event in batch {
        switch event {
        case .message(let message, _):
          messages.append(message)
          size += message.text?.utf8.count ?? 0
        case .gap: hasGap = true
        default: break
        }
      }
      cursor = follower.cursor
    }
    messages = try scope.labeled(messages)
    return !messages.isEmpty || hasGap
  }

  /// The next progress notification, if it is due.
  func progress(at now: Int64) -> [UInt8]? {
    guard let progressToken, let due = nextProgress, now >= due else { return nil }
    nextProgress = now + Self.progressInterval
    progressCount += 1
    var json = JSONWriter()
    json.object { json in
      json.member("jsonrpc", "2.0")
      json.member("method", "notifications/progress")
      json.key("params")
      json.object { json in
        json.key("progressToken")
        progressToken.write(to: &json)
        json.member("progress", progressCount)
      }
    }
    return json.bytes + [UInt8(ascii: "\n")]
  }

  /// The members of the answer.
  func write(to json: inout JSONWriter) {
    scope.table(messages, around: 0).write(to: &json)
    json.member("cursor", scope.shown(cursor))
    if hasGap { json.member("has_gap", true) }
  }

  /// Marks the returned messages as delivered.
  func markDelivered() throws {
    var last: [Identifier: Int] = [:]
    for message in messages {
      if let seq = message.seq { last[message.conversationID] = max(last[message.conversationID] ?? 0, seq) }
    }
    if !last.isEmpty { try scope.messenger.markDelivered(upTo: last) }
  }
}
