public import DMModel
internal import DMStore
internal import DMSystem

extension Messenger {
  /// The messages with these ids, in the order of the ids.
  ///
  /// - Parameters:
  ///   - ids: the ids.
  ///   - includesReaders: whether each message has `readBy`.
  /// - Returns: nil if there are no ids, or if no message has the first id.
  /// - Throws: `unknown_message`, also for a message that the user does not see.
  package func messages(_ ids: [Identifier], includesReaders: Bool = false) throws -> [Message]? {
    let start = monotonicMicroseconds()
    let found: [Message]? = try reading(nil) { session in
      let store = session.store
      guard let first = ids.first, try store.conversations.row(first) == nil,
        try store.messages.address(of: first) != nil
      else {
        return nil
      }
      let viewer = Viewer(store, session.me, includesReaders: includesReaders)
      return try ids.map { try session.visibleMessage(.id($0), as: viewer).message }
    }
    if let found { report(.opened, UsageAct.Extent(found), since: start) }
    return found
  }

  /// The messages that these references name, in their order.
  ///
  /// - Throws: `unknown_message`, also for a message that the user does not see; `unknown_user`, `unknown_conversation`,
  ///   `ambiguous_title`, `not_allowed`; `bad_reference` for a number without a conversation.
  package func messages(_ references: [MessageReference], includesReaders: Bool = false) throws -> [Message] {
    let start = monotonicMicroseconds()
    let found: [Message]? = try reading(nil) { session in
      let viewer = Viewer(session.store, session.me, includesReaders: includesReaders)
      return try references.map { try session.visibleMessage($0, as: viewer).message }
    }
    guard let found else { throw nothingYet(references[0]) }
    report(.opened, UsageAct.Extent(found), since: start)
    return found
  }

  /// The messages with these ids that the user sees, in the order of the ids; ids of other messages are left out.
  ///
  /// - Throws: an error of the store.
  public func messages(ids: [Identifier]) throws -> [Message] {
    try reading([]) { session in
      let viewer = session.freshViewer()
      return try ids.compactMap { id in
        try session.store.messages.address(ofIDOrAlias: id).flatMap {
          try session.store.messages.seen(at: $0, as: viewer)
        }
      }
    }
  }

  /// The ids of the messages with the numbers in some ranges, ascending by number.
  ///
  /// Such ranges are in a `MessageStatus` and in a `Receipt`.
  ///
  /// Messages that the user does not see are left out. Linear in the number of messages in the ranges.
  ///
  /// - Throws: an error of the store.
  public func messageIDs(_ ranges: [SeqRange], in conversation: Identifier) throws -> [Identifier] {
    try reading([]) { session in
      guard let row = try session.store.conversations.row(conversation) else { return [] }
      return try ranges.flatMap {
        try session.store.messages.seen(in: row.key, $0, as: session.viewer).map(\.id)
      }
    }
  }

  /// The message that the user sent with a nonce, even if the message waits for a hub; nil if there is none.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func message(nonce: String, in conversation: ConversationReference) throws -> Message? {
    try reading(nil) { session in
      guard let row = try session.findIfPresent(conversation) else { return nil }
      guard let address = try session.store.messages.address(of: nonce, from: session.me, in: row.key) else {
        return try session.waitingMessage(nonce, in: row.key)
      }
      return try session.store.messages.seen(at: address, as: session.freshViewer())
    }
  }

  /// The messages that a query selects.
  ///
  /// Reading the messages does not mark them as read.
  ///
  /// - Throws: `unknown_user`, also for the sender in the query; `unknown_conversation`, `ambiguous_title`,
  ///   `not_allowed`; `unknown_message` for a bound of the query.
  public func history(_ query: HistoryQuery) throws -> History {
    let meter = query.isOpening && onAct != nil ? ActMeter(.opened, self) : nil
    let history = try meter.timed { try History(self, query) }
    history.meter = meter
    return history
  }

  /// The last messages of a conversation that come before a message number, oldest first.
  ///
  /// - Parameters:
  ///   - conversation: the conversation.
  ///   - seq: the message number; nil for the end of the conversation.
  ///   - limit: the maximum number of messages.
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func messages(in conversation: ConversationReference, before seq: Int? = nil, limit: Int) throws -> [Message] {
    var query = HistoryQuery(conversation)
    query.before = seq.map { .message(.number($0, in: nil)) }
    query.limit = limit
    return try history(query).rest()
  }
}
