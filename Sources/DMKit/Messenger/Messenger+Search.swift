public import DMModel
public import DMStore

/// The results of a search, in batches.
///
/// Between two batches it holds no transaction.
public final class SearchResults {
  /// A message that a search found.
  public struct Found: Sendable {
    /// The message.
    public let message: Message
    /// The part of its text that matches; nil if the request has no words.
    public let snippet: Snippet?
  }

  private let messenger: Messenger
  private let query: SearchQuery?
  private var keys: ArraySlice<MessageKey> = []
  private var viewer: Viewer?

  private static let batch = 100

  init(_ messenger: Messenger, _ request: SearchRequest) throws {
    self.messenger = messenger
    query = request.words.map(SearchQuery.init)
    try messenger.reading(()) { session in
      viewer = session.viewer
      keys = try session.keys(query, session.filter(request), request)[...]
    }
  }

  /// The next results, at most 100; empty at the end.
  ///
  /// - Throws: an error of the store.
  public func next() throws -> [Found] {
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
          return Found(message: message, snippet: snippets[key.number])
        }
      }
      if !found.isEmpty { return found }
    }
    return []
  }

}

extension Session {
  /// The keys of the messages that match, in the order of the results.
  fileprivate func keys(
    _ query: SearchQuery?, _ filter: Messages.SearchFilter, _ request: SearchRequest
  ) throws -> [MessageKey] {
    if request.limit == 0 { return [] }
    var found: [MessageKey] = []
    func take(_ key: MessageKey) -> Bool {
      found.append(key)
      return found.count < request.limit ?? .max
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

  fileprivate func filter(_ request: SearchRequest) throws -> Messages.SearchFilter {
    let rows = try request.conversations.map(find)
    // In one conversation, bounds are compared by number; in several, only by time.
    func seq(_ bound: HistoryQuery.Bound?) throws -> Int? {
      guard rows.count == 1, case .message(let reference)? = bound else { return nil }
      return try self.seq(of: reference, in: rows[0])
    }
    func time(_ bound: HistoryQuery.Bound?) throws -> Timestamp? {
      switch bound {
      case .time(let time): time
      case .message(let reference) where rows.count != 1: try store.messages.time(of: find(reference))
      case .message, nil: nil
      }
    }
    let sender = try request.sender.map(userKey)
    return Messages.SearchFilter(
      conversations: rows.isEmpty ? nil : rows.map(\.key), sender: sender,
      since: try time(request.since) ?? Timestamp.writable.lowerBound,
      before: try time(request.before) ?? Timestamp(microseconds: .max),
      seqs: try seqs(since: seq(request.since), before: seq(request.before)), contents: request.contents)
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
  public func search(_ request: SearchRequest) throws -> SearchResults { try SearchResults(self, request) }
}
