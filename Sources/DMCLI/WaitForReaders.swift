package import DMKit
internal import DMSystem

extension Invocation {
  /// Waits until all other participants have read messages that the user has just sent, and prints who has not read them
  /// when the time is over.
  ///
  /// Waits for the participants at the time of sending, except those who leave. If a message was not read by all of them,
  /// or was deleted or expired before, the program later ends with status 1.
  package func waitUntilRead(_ messages: [Message], within limit: Duration) throws {
    try output.flush()
    let messenger = try messenger()
    let end = monotonicMicroseconds() + limit.microseconds
    var query = EventQuery(messages.map { .id($0.conversationID) }, from: .now)
    query.kinds = [.messageStatus, .readReceipt, .messageUpdated, .messageDeleted, .conversationUpdated]
    query.marksDelivered = false
    query.signalsPresence = false
    // The stream begins before the messages are looked at, so that no receipt is missed between the two.
    let follower = try Follower(messenger, query)
    follower.keepCarrier = { [self] in startCarrier() }
    var awaited: [Set<Handle>?] = try messages.map { message in
      try messenger.participantsWhoHaveNotRead(message.id).map { Set($0) }
    }
    while true {
      for (index, message) in messages.enumerated() where awaited[index]?.isEmpty == false {
        let unread = try messenger.participantsWhoHaveNotRead(message.id)
        awaited[index] = unread.flatMap { awaited[index]?.intersection($0) }
      }
      let left = awaited.reduce(into: Set<Handle>()) { $0.formUnion($1 ?? []) }
      let now = monotonicMicroseconds()
      if left.isEmpty || now >= end { return finishWaiting(for: left, isGone: awaited.contains(nil)) }
      _ = try follower.next(within: .microseconds(end - now))
    }
  }

  private func finishWaiting(for left: Set<Handle>, isGone: Bool) {
    if !left.isEmpty {
      let names = left.sorted().prefix(4).map(\.description) + (left.count > 4 ? ["\(left.count - 4) others"] : [])
      note(failure: DMError(.unknownMessage, "sent, but not read in time by \(names.joined(separator: ", "))"))
    } else if isGone {
      note(failure: DMError(.unknownMessage, "sent, but deleted before all had read it"))
    }
  }
}
