internal import DMKit

/// The pages of a conversation, read from the store.
struct Pages {
  let messenger: Messenger
  let conversation: ConversationReference

  /// - Parameter isWhole: true to read all messages of the query, false to read only the first few hundred.
  private func read(
    isWhole: Bool = true, _ change: (inout HistoryQuery) -> Void
  ) throws -> (messages: [Message], cursor: Cursor?) {
    var query = HistoryQuery(conversation)
    query.limit = LoadedMessages.page
    query.includesDeleted = true
    query.allowsMissing = true
    query.includesReaders = true
    change(&query)
    let history = try messenger.history(query)
    var messages: [Message] = []
    while case let batch = try history.next(), !batch.isEmpty {
      messages += batch
      if !isWhole { break }
    }
    return (messages, history.cursor)
  }

  /// The newest messages, and the cursor at which the events continue; the cursor is nil if there is no store yet.
  ///
  /// - Parameter isOpening: whether the window opens with these messages.
  func newest(isOpening: Bool = false) throws -> (messages: [Message], cursor: Cursor?) {
    try read { $0.isOpening = isOpening }
  }

  /// The page before a number, and the first few hundred messages from that number on.
  ///
  /// - Throws: `unknown_message` for a number that the conversation does not have.
  func around(_ number: Int) throws -> (before: [Message], after: [Message]) {
    let bound = HistoryQuery.Bound.message(.number(number, in: nil))
    let before = try read { $0.before = bound }.messages.numbered
    let after = try read(isWhole: false) { ($0.since, $0.limit) = (bound, nil) }.messages.numbered
    return (before, after)
  }

  /// The page before the message `first`.
  func older(than first: Int) throws -> [Message] {
    // Asks for a range of numbers, because the message `first` may have been deleted after it was loaded.
    let range = RangeReference(from: 1, to: first - 1)
    return try read { $0.ranges = [range] }.messages.numbered
  }

  /// The first few hundred messages after the message `last`.
  func newer(than last: Int) throws -> [Message] {
    try read(isWhole: false) {
      ($0.ranges, $0.limit) = ([RangeReference(from: last + 1, to: nil)], nil)
    }.messages.numbered
  }

  /// All messages in some ranges.
  func messages(_ ranges: [SeqRange]) throws -> [Message] {
    try read { query in
      query.ranges = ranges.map { RangeReference(from: $0.lowerBound, to: $0.upperBound) }
      query.limit = nil
    }.messages
  }
}

extension [Message] {
  /// The messages that have a number; those that wait for the hub have none.
  fileprivate var numbered: [Message] { filter { $0.seq != nil } }
}
