internal import DMDigest
internal import DMJSON
internal import DMKit

extension AgentTool {
  /// The tools that change nothing.
  static let reading = [listConversations, readHistory, search, digest, getAttachment, findPeople, receipts]

  private static let listConversations = AgentTool(
    .listConversations,
    "Lists your conversations: pinned ones first, then those with the newest activity, each with its last message and "
      + "its number of unread messages.", .nothing
  ) { arguments, scope in
    var query = ListQuery()
    query.archived = arguments.flag("include_archived") ? .included : .excluded
    query.unreadOnly = arguments.flag("unread_only")
    query.matching = arguments.text("match").map { Outgoing.cut($0, to: titleLimit) }
    query.limit = arguments.count("limit") ?? 50
    query.after = try arguments.text("after").map(scope.pageCursor)
    query.isOpening = true
    let conversations = try list(query, scope)
    let rows = try scope.rows(conversations)
    return { json in
      let count = json.list("conversations", fitting: rows) { $0(&$1) }
      let hasMore = count < rows.count || count == query.limit
      json.member("next", hasMore ? conversations.prefix(count).last?.pageCursor.map(scope.shown) : nil)
    }
  }

  /// The conversations that match a query and that the agent may use.
  static func list(_ query: ListQuery, _ scope: Scope) throws -> [Conversation] {
    var query = query
    if let existing = try scope.existing() {
      // In a query, an empty list means all conversations.
      if existing.isEmpty { return [] }
      query.conversations = existing.map { .id($0.id) }
    }
    return try scope.messenger.conversations(query)
  }

  private static let readHistory = AgentTool(
    .readHistory,
    "Returns messages, oldest first, as arrays in the order of columns. What all share stands once before them; an object "
      + "at the end has what few have. Refer to a message as CONVERSATION:SEQ. Times are in UTC. Read a text that has "
      + "cut_from_bytes with around and limit 1. Marks nothing as read.",
    .nothing
  ) { arguments, scope in
    var query = try historyQuery(arguments, scope)
    query.isOpening = true
    let limit = arguments.count("limit") ?? 30
    query.limit = limit
    var center: Identifier?
    if let around = try arguments.message("around") { center = try select(limit, around: around, &query, scope) }
    let (messages, cursor) = try history(query, scope)
    return { json in
      scope.table(messages, around: messages.firstIndex { $0.id == center }).write(to: &json)
      json.member("cursor", cursor.map(scope.shown))
    }
  }

  /// Limits a query to the messages around one message: half of them before it, and half of them after it.
  ///
  /// - Returns: the id of this message.
  private static func select(
    _ limit: Int, around reference: MessageReference, _ query: inout HistoryQuery, _ scope: Scope
  ) throws -> Identifier? {
    var reference = reference
    if case .number(let number, in: nil) = reference, query.conversations.count == 1 {
      reference = .number(number, in: query.conversations[0])
    }
    guard let message = try scope.messenger.messages([reference]).first, let seq = message.seq else { return nil }
    query.conversations = [.id(message.conversationID)]
    let first = max(1, seq - limit / 2)
    query.ranges = [RangeReference(from: first, to: first + limit - 1)]
    return message.id
  }

  /// A query for the messages that the arguments name.
  private static func historyQuery(_ arguments: ToolArguments, _ scope: Scope) throws -> HistoryQuery {
    var query = HistoryQuery()
    if let conversation = try arguments.conversation() {
      query.conversations = [conversation]
    } else if let only = scope.only {
      (query.conversations, query.allowsMissing) = (only, true)
    }
    query.before = try arguments.bound("before")
    query.since = try arguments.bound("since")
    query.unreadOnly = arguments.flag("unread_only")
    return query
  }

  /// All messages of a query, and the cursor after them.
  static func history(_ query: HistoryQuery, _ scope: Scope) throws -> ([Message], Cursor?) {
    let history = try scope.messenger.history(query)
    var messages: [Message] = []
    while case let batch = try history.next(), !batch.isEmpty { messages += batch }
    return (try scope.labeled(messages), history.cursor)
  }

  /// The digest that needs no model, because the agent is one.
  private static let digest = AgentTool(
    .digest,
    "Returns the points of messages: what needs you, action items, decisions, open questions and a summary, each with the "
      + "refs of its messages. They are found by phrases, and are guesses. Reads unread messages without since and before.",
    .nothing
  ) { arguments, scope in
    var query = try historyQuery(arguments, scope)
    if query.since == nil, query.before == nil { query.unreadOnly = true }
    query.limit = arguments.count("limit") ?? 1000
    let messages = try beginnings(query, scope)
    let digest = Digest(
      try Cues(), for: scope.messenger.identity.handle,
      kinds: arguments.texts("kinds").compactMap(DigestPoint.Kind.init), limit: arguments.count("summary_points") ?? 5)
    let points = digest.points(messages)
    return { json in
      json.list("points", points) { $0.write(to: &$1) }
      json.member("message_count", messages.count)
    }
  }

  /// The messages of a query that have a text, as a digest reads them, with the beginnings of their texts.
  private static func beginnings(_ query: HistoryQuery, _ scope: Scope) throws -> [DigestMessage] {
    // The time of a digest grows with the bytes of all texts.
    let most = max(256, (2 << 20) / (query.limit ?? 1000))
    let history = try scope.messenger.history(query)
    var messages: [DigestMessage] = []
    while case let batch = try history.next(), !batch.isEmpty {
      messages += try scope.labeled(batch).compactMap { message in
        var message = message
        message.text = message.text.map { beginning(of: $0, bytes: most) }
        return DigestMessage(message)
      }
    }
    return messages
  }

  private static let search = AgentTool(
    .search,
    "Searches the messages that you can see, best matches first, in the form of read_history. A long text has a snippet "
      + "with ** before and after each hit.", .nothing
  ) { arguments, scope in
    var request = SearchRequest(arguments.text("query"))
    request.sender = try arguments.text("from").map(scope.user(named:))
    request.since = try arguments.bound("since")
    request.before = try arguments.bound("before")
    request.contents = Set(arguments.texts("has").compactMap(SearchRequest.Content.init))
    request.newestFirst = arguments.flag("newest_first")
    request.limit = arguments.count("limit") ?? 20
    let named = try arguments.conversations()
    let isNarrow =
      request.words != nil || request.sender != nil || request.since != nil || request.before != nil
      || !request.contents.isEmpty || !arguments.texts("conversations").isEmpty
    guard isNarrow else {
      throw DMError(.usage, "nothing to search for; give a query, conversations, from, since, before or has")
    }
    let found = try find(request, in: named, scope)
    return scope.table(found, around: 0).write
  }

  /// The tool that waits for messages of others; the server runs it, and answers other calls meanwhile.
  ///
  /// - Parameter marksDelivered: whether the returned messages are marked as delivered, which the senders see.
  static func waitForMessage(marksDelivered: Bool) -> AgentTool {
    AgentTool(
      .waitForMessage,
      "Returns the messages of others since a cursor, in the form of read_history, or waits for the first. If none arrives "
        + "in time, returns an empty list and a cursor: call again with it.",
      marksDelivered ? .adds : .nothing, run: nil)
  }

  private static func find(
    _ request: SearchRequest, in named: [ConversationReference], _ scope: Scope
  ) throws -> [Message] {
    var request = request
    request.conversations = named
    if scope.only != nil {
      // Keeps only conversations that exist, because a direct conversation may not exist yet.
      request.conversations = try named.filter { try scope.exists($0) }
      if request.conversations.isEmpty { return [] }
    }
    do {
      let results = try scope.messenger.search(request)
      var found: [Message] = []
      while case let batch = try results.next(), !batch.isEmpty { found += batch.map(\.message) }
      return try scope.labeled(found)
    } catch let error as DMError where error.code == .unknownUser && scope.only != nil {
      // Hides whether the user exists outside the agent's conversations.
      return []
    }
  }
}
