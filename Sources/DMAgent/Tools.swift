internal import DMDigest
internal import DMJSON
internal import DMKit

extension AgentTool {
  /// The tools that change nothing.
  static let reading = [listConversations, readHistory, search, digest]

  private static let listConversations = AgentTool(
    .listConversations, title: "List conversations",
    "Lists your conversations: pinned ones first, then those with the newest activity. Each conversation has its last "
      + "message and its number of unread messages.", .nothing
  ) { arguments, scope in
    var query = ListQuery()
    query.archived = arguments.flag("include_archived") ? .included : .excluded
    query.unreadOnly = arguments.flag("unread_only")
    query.matching = arguments.text("match").map { Outgoing.cut($0, to: titleLimit) }
    query.limit = arguments.count("limit") ?? 50
    query.after = try arguments.text("after").map(scope.pageCursor)
    let conversations = try list(query, scope)
    return { json in
      json.key("conversations")
      json.array { json in for conversation in conversations { scope.write(conversation, to: &json) } }
    }
  }

  /// The conversations that match a query and that the agent may use.
  static func list(_ query: ListQuery, _ scope: Scope) throws -> [Conversation] {
    var query = query
    query.isOpening = true
    if let existing = try scope.existing() {
      // In a query, an empty list means all conversations.
      if existing.isEmpty { return [] }
      query.conversations = existing.map { .id($0.id) }
    }
    return try scope.messenger.conversations(query)
  }

  private static let readHistory = AgentTool(
    .readHistory, title: "Read messages",
    "Returns messages of a conversation, oldest first. Does not mark them as read; mark_read does that.", .nothing
  ) { arguments, scope in
    var query = try historyQuery(arguments, scope)
    query.isOpening = true
    query.limit = arguments.count("limit") ?? 30
    let (messages, cursor) = try history(query, scope)
    return { json in
      json.list("messages", messages)
      json.member("cursor", cursor.map(scope.shown))
    }
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
    .digest, title: "Digest messages",
    "Returns the points of messages: what needs you, action items, decisions, questions that nobody has answered, and "
      + "a summary. Each point has the refs of its messages. Points are found by phrases and are guesses: some are "
      + "missing, others are wrong. Without since and before, reads the unread messages. Does not mark them as read.",
    .nothing
  ) { arguments, scope in
    var query = try historyQuery(arguments, scope)
    if query.since == nil, query.before == nil { query.unreadOnly = true }
    query.limit = arguments.count("limit") ?? 1000
    let messages = try history(query, scope).0.compactMap(DigestMessage.init)
    let digest = Digest(
      try Cues(), for: scope.messenger.identity.handle,
      kinds: arguments.texts("kinds").compactMap(DigestPoint.Kind.init), limit: arguments.count("summary_points") ?? 5)
    let points = digest.points(messages)
    return { json in
      json.list("points", points)
      json.member("message_count", messages.count)
    }
  }

  private static let search = AgentTool(
    .search, title: "Search messages",
    "Searches the messages that you can see, best matches first. With a query, each message has a snippet of its text, "
      + "with ** before and after each hit.", .nothing
  ) { arguments, scope in
    var request = SearchRequest(arguments.text("query"))
    request.sender = arguments.text("from").map { Handle(typed: $0.without("@")) }
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
    return { $0.list("messages", found) }
  }

  /// The tool that waits for messages of others; the server runs it, and answers other calls meanwhile.
  ///
  /// - Parameter marksDelivered: whether the returned messages are marked as delivered, which the senders see.
  static func waitForMessage(marksDelivered: Bool) -> AgentTool {
    AgentTool(
      .waitForMessage, title: "Wait for messages",
      "Returns the messages of others since a cursor, oldest first. If there is none yet, waits for the first. If no "
        + "message arrives in time, returns an empty list and a cursor: call again with this cursor.",
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

extension JSONWriter {
  /// Writes records as an array.
  mutating func list(_ name: StaticString, _ records: [some Record]) {
    key(name)
    array { json in for record in records { record.write(to: &json) } }
  }
}

extension AgentTool {
  /// The tools that other users notice.
  static let acting = [send, react, markRead]

  private static let send = AgentTool(
    .send, title: "Send a message",
    "Sends a message to a conversation, and returns the message when it is stored. If the answer is lost, call again "
      + "with the same nonce: the message is sent only once.", .adds
  ) { arguments, scope in
    let message = try scope.messenger.send(
      Outgoing(
        to: arguments.requiredConversation(), text: arguments.required("text"),
        nonce: arguments.required("nonce"), replyTo: arguments.message("reply_to"),
        lifetime: arguments.text("expires_in").map(duration)))
    let sent = try scope.labeled([message])
    return { json in
      json.key("message")
      for message in sent { message.write(to: &json) }
    }
  }

  private static let react = AgentTool(
    .react, title: "React to a message",
    "Sets your reaction to a message, or removes it. You can have one reaction to each message.", .replaces
  ) { arguments, scope in
    let emoji = arguments.required("emoji")
    let reference = try arguments.requiredMessage("message")
    let outcomes = try scope.messenger.edit([Edit(reference, .react(emoji.isEmpty ? nil : emoji))])
    let outcome = try outcomes[0].get()
    return { json in
      json.key("reaction")
      outcome.write(to: &json)
    }
  }

  private static let markRead = AgentTool(
    .markRead, title: "Mark messages as read",
    "Marks a message and all earlier messages of its conversation as read. Their senders see this.", .adds
  ) { arguments, scope in
    let conversation = try arguments.requiredConversation()
    let last = try arguments.requiredMessage("up_to")
    let marked = try scope.messenger.markRead(.upTo(last), in: conversation)
    return { json in
      guard let marked else { return }
      json.key("marked")
      marked.write(to: &json)
    }
  }
}
