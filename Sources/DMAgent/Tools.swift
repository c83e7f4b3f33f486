internal import DMJSON
internal import DMKit

extension AgentTool {
  /// The tools that change nothing.
  static let reading = [listConversations, readHistory, search]

  private static let listConversations = AgentTool(
    .listConversations, title: "List conversations",
    "Lists your conversations, pinned ones first, then the newest activity, each with its last message and the number "
      + "of unread messages.", .nothing
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

  /// The conversations of a query that the agent may use.
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
    .readHistory, title: "Read messages",
    "Returns messages of a conversation, oldest first. Marks nothing as read; mark_read does.", .nothing
  ) { arguments, scope in
    var query = HistoryQuery()
    if let conversation = try arguments.conversation() {
      query.conversations = [conversation]
    } else if let only = scope.only {
      (query.conversations, query.allowsMissing) = (only, true)
    }
    query.before = try arguments.bound("before")
    query.since = try arguments.bound("since")
    query.unreadOnly = arguments.flag("unread_only")
    query.limit = arguments.count("limit") ?? 30
    let (messages, cursor) = try history(query, scope)
    return { json in
      json.list("messages", messages)
      json.member("cursor", cursor.map(scope.shown))
    }
  }

  /// All messages of a query, and the cursor after them.
  static func history(_ query: HistoryQuery, _ scope: Scope) throws -> ([Message], Cursor?) {
    let history = try scope.messenger.history(query)
    var messages: [Message] = []
    while case let batch = try history.next(), !batch.isEmpty { messages += batch }
    return (try scope.labelled(messages), history.cursor)
  }

  private static let search = AgentTool(
    .search, title: "Search messages",
    "Searches the messages that you can see, best matches first. With a query, each has a snippet with its hits "
      + "between **.", .nothing
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
      "Returns the messages of others since a cursor, oldest first; waits for the first if there is none yet. With no "
        + "message in time, the list is empty: call again with the cursor that it returns.",
      marksDelivered ? .adds : .nothing, run: nil)
  }

  private static func find(
    _ request: SearchRequest, in named: [ConversationReference], _ scope: Scope
  ) throws -> [Message] {
    var request = request
    request.conversations = named
    if scope.only != nil {
      // Only those that exist: a direct conversation may have no message yet.
      request.conversations = try named.filter { try scope.exists($0) }
      if request.conversations.isEmpty { return [] }
    }
    do {
      let results = try scope.messenger.search(request)
      var found: [Message] = []
      while case let batch = try results.next(), !batch.isEmpty { found += batch.map(\.message) }
      return try scope.labelled(found)
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
    "Sends a message to a conversation, and returns it when it is stored. Call again with the same nonce if the answer "
      + "is lost: the message is sent once.", .adds
  ) { arguments, scope in
    let message = try scope.messenger.send(
      Outgoing(
        to: arguments.requiredConversation(), text: arguments.required("text"),
        nonce: arguments.required("nonce"), replyTo: arguments.message("reply_to"),
        lifetime: arguments.text("expires_in").map(duration)))
    let sent = try scope.labelled([message])
    return { json in
      json.key("message")
      for message in sent { message.write(to: &json) }
    }
  }

  private static let react = AgentTool(
    .react, title: "React to a message",
    "Sets your reaction to a message, of which there is at most one, or takes it back.", .replaces
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
    "Marks the messages of a conversation up to one of them as read, which their senders see.", .adds
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
