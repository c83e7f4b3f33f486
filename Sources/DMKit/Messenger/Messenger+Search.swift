public import DMModel
internal import DMStore

/// The results of a search, read in batches.
///
/// Between two batches there is no open transaction.
public final class SearchResults {
  /// A message that a search found.
  public struct Found: Sendable {
    /// The message.
    public let message: Message
    /// The part of the text that matches; nil if the request has no words.
    public let snippet: Snippet?
  }

  private let messenger: Messenger
  private var query: SearchExpression?
  private var keys: ArraySlice<MessageKey> = []
  /// How much the messages are like the example of a search by meaning.
  private var likenesses = KeyTable<Double>()
  private var viewer: Viewer?
  /// The matching messages that wait for the hub.
  ///
  /// These messages come before all other results.
  private var waiting: [Found] = []
  /// The meter for the usage log; nil if there is none.
  var meter: ActMeter?

  private static let batch = 100

  init(_ messenger: Messenger, _ request: SearchRequest) throws {
    self.messenger = messenger
    query = request.words.map(SearchExpression.init)
    if query != nil { try messenger.existingStore()?.searchIndex.prepareSnippets() }
    try messenger.reading(()) { session in
      viewer = session.viewer
      let filter = try session.filter(request)
      try session.countLeftOut(filter.conversations, since: filter.since)
      waiting = try session.foundWaiting(query, filter, request)
      keys = try session.keys(query, filter, request, besides: waiting.count)[...]
    }
  }

  /// Makes the results of a search by meaning.
  ///
  /// - Parameter find: returns the keys of the messages, the best first, and a query for their snippets.
  init(
    _ messenger: Messenger,
    _ find: (Session) throws -> (query: SearchExpression?, found: [(key: MessageKey, likeness: Double?)])
  ) throws {
    self.messenger = messenger
    try messenger.existingStore()?.searchIndex.prepareSnippets()
    try messenger.reading(()) { session in
      viewer = session.viewer
      let found = try find(session)
      query = found.query
      keys = found.found.map(\.key)[...]
      for (key, likeness) in found.found { likenesses[key.number] = likeness }
    }
  }

  /// Returns the next results, at most 100; an empty array at the end.
  ///
  /// - Throws: an error of the store.
  public func next() throws -> [Found] {
    let found = try meter.timed(nextFound)
    meter?.extent.add(found.lazy.map(\.message))
    if found.isEmpty { meter = nil }
    return found
  }

  private func nextFound() throws -> [Found] {
    if !waiting.isEmpty {
      defer { waiting = [] }
      return waiting
    }
    while let viewer, !keys.isEmpty {
      let batch = keys.prefix(Self.batch)
      keys = keys.dropFirst(Self.batch)
      let found = try messenger.reading([]) { session -> [Found] in
        let store = session.store
        let found = try store.messages.seen(batch, as: viewer)
        let texts = found.map { (key: $0.key, text: $0.message.text ?? "") }
        let snippets = try query.map { try store.searchIndex.snippets(of: texts, for: $0) } ?? KeyTable()
        return found.map { key, message in
          var message = message
          message.snippet = snippets[key.number]?.marked
          message.likeness = likenesses[key.number]
          return Found(message: message, snippet: snippets[key.number])
        }
      }
      if !found.isEmpty { return found }
    }
    return []
  }
}

extension Session {
  /// The matching messages that wait for the hub, newest first.
  ///
  /// Linear in the number of messages that wait.
  fileprivate func foundWaiting(
    _ query: SearchExpression?, _ filter: Messages.SearchFilter, _ request: SearchRequest
  ) throws -> [SearchResults.Found] {
    // A message that waits has no number, and a search for attachments, links or mentions does not find it.
    guard filter.sender ?? me == me, filter.contents.isEmpty, filter.attachmentName == nil,
      filter.seqs.upperBound == .max
    else { return [] }
    var all = HistoryQuery()
    all.limit = nil
    let messages = try waitingMessages(all, filter.conversations).filter { message in
      message.createdAt >= filter.since && message.createdAt < filter.before
    }
    guard !messages.isEmpty else { return [] }
    let texts = messages.enumerated().map { (key: MessageKey(number: Int64($0)), text: $1.text ?? "") }
    let snippets = try query.map { try store.searchIndex.snippets(of: texts, for: $0) }
    let found = texts.indices.reversed().compactMap { index -> SearchResults.Found? in
      let snippet = snippets?[Int64(index)]
      guard snippets == nil || snippet != nil else { return nil }
      var message = messages[index]
      message.snippet = snippet?.marked
      return SearchResults.Found(message: message, snippet: snippet)
    }
    return Array(found.prefix(request.limit ?? .max))
  }

  /// The keys of the numbered messages that match, in the order of the results.
  ///
  /// - Parameter count: the number of results that come before these messages.
  fileprivate func keys(
    _ query: SearchExpression?, _ filter: Messages.SearchFilter, _ request: SearchRequest, besides count: Int
  ) throws -> [MessageKey] {
    let limit = request.limit.map { $0 - count } ?? .max
    if limit <= 0 { return [] }
    var found: [MessageKey] = []
    func take(_ key: MessageKey) -> Bool {
      found.append(key)
      return found.count < limit
    }
    if let query {
      let among = try filter.conversations.map(store.messages.messageKeys)
      try store.searchIndex.search(query, request.newestFirst ? .newest : .rank, among: among) { key in
        try store.messages.passes(key, filter, as: viewer) ? take(key) : true
      }
    } else {
      try store.messages.newest(filter, as: viewer) { take($0) }
    }
    return found
  }

  func filter(_ request: SearchRequest) throws -> Messages.SearchFilter {
    let rows = try request.conversations.map(find)
    // In a search of one conversation, a bound that is a message is compared by its number. In any other search, it is
    // compared by its time.
    func seq(_ bound: HistoryQuery.Bound?) throws -> Int? {
      guard rows.count == 1, case .message(let reference)? = bound else { return nil }
      return try self.seq(of: reference, in: rows[0])
    }
    func time(_ bound: HistoryQuery.Bound?) throws -> Timestamp? {
      switch bound {
      case .time(let time): time
      case .message(let reference) where rows.count != 1: try self.time(of: reference)
      case .message, nil: nil
      }
    }
    let sender = try request.sender.map(userKey)
    return Messages.SearchFilter(
      conversations: rows.isEmpty ? nil : rows.map(\.key), sender: sender,
      since: try time(request.since) ?? Timestamp.writable.lowerBound,
      before: try time(request.before) ?? Timestamp(microseconds: .max),
      seqs: try seqs(since: seq(request.since), before: seq(request.before)), contents: request.contents,
      attachmentName: request.attachmentName)
  }
}

private func seqs(since: Int?, before: Int?) -> Range<Int> {
  let first = since ?? 1
  return first..<max(first, before ?? .max)
}

extension Messenger {
  /// Searches the messages that the user sees.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`,
  ///   `not_allowed`, `unknown_message` for a bound.
  public func search(_ request: SearchRequest) throws -> SearchResults {
    let meter = onAct.map { _ in ActMeter(.searched, self) }
    let results = try meter.timed { try SearchResults(self, request) }
    results.meter = meter
    return results
  }
}
