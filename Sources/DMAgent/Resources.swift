internal import DMJSON
internal import DMKit

/// The conversations as resources; the URI of a conversation is `dm://conversation/`, followed by its id.
enum Resources {
  private static let prefix = "dm://conversation/"
  private static let mimeType = "text/plain"

  static func writeTemplates(to json: inout JSONWriter) {
    json.key("resourceTemplates")
    json.array { json in
      json.object { json in
        json.member("uriTemplate", prefix + "{id}")
        json.member("name", "conversation")
        json.member("description", "A conversation and its last 30 messages, as JSON.")
        json.member("mimeType", mimeType)
      }
    }
  }

  static func list(_ request: RPCRequest, _ scope: Scope) throws(RPCError) -> (inout JSONWriter) -> Void {
    var query = ListQuery()
    (query.archived, query.isOpening) = (.included, true)
    if let cursor = request.params["cursor"] {
      guard case .string(let text) = cursor else { throw .invalidParams("'cursor' is not a string") }
      do { query.after = try scope.pageCursor(text) } catch { throw .invalidParams(error.message) }
    }
    let conversations: [Conversation]
    do {
      conversations = try AgentTool.list(query, scope)
    } catch let error as DMError {
      throw error.code == .badCursor ? .invalidParams(error.message) : .failed(error)
    } catch {
      throw .failed(DMError(.internal, "unexpected fault: \(type(of: error))"))
    }
    let next = conversations.count == query.limit ? conversations.last?.pageCursor : nil
    return { json in
      json.key("resources")
      json.array { json in for conversation in conversations { write(conversation, to: &json) } }
      json.member("nextCursor", next.map(scope.shown))
    }
  }

  private static func write(_ conversation: Conversation, to json: inout JSONWriter) {
    json.object { json in
      json.member("uri", prefix + conversation.id.description)
      json.member("name", conversation.name)
      json.member("description", "A conversation. Its name was written by its participants.")
      json.member("mimeType", mimeType)
    }
  }

  static func read(
    _ request: RPCRequest, _ revision: Revision, _ scope: Scope
  ) throws(RPCError) -> (inout JSONWriter) -> Void {
    let uri = try request.text("uri")
    guard uri.utf8.starts(with: prefix.utf8), let id = Identifier(Substring(uri.utf8.dropFirst(prefix.utf8.count)))
    else { throw .unknownResource(uri, revision) }
    do {
      let reference = try scope.conversation(.id(id))
      let conversation = try scope.messenger.conversation(reference)
      var query = HistoryQuery(reference)
      query.isOpening = true
      let (messages, _) = try AgentTool.history(query, scope)
      let rows = try scope.rows([conversation])
      return { write(rows[0], scope.table(messages), at: uri, to: &$0) }
    } catch let error as DMError {
      // Hides whether other users have a conversation with this id.
      throw [.unknownConversation, .notAllowed].contains(error.code) ? .unknownResource(uri, revision) : .failed(error)
    } catch {
      throw .failed(DMError(.internal, "unexpected fault: \(type(of: error))"))
    }
  }

  private static func write(
    _ conversation: (inout JSONWriter) -> Void, _ messages: MessageTable, at uri: String, to json: inout JSONWriter
  ) {
    var content = JSONWriter()
    content.object { json in
      json.key("about")
      conversation(&json)
      messages.write(to: &json)
    }
    json.key("contents")
    json.array { json in
      json.object { json in
        json.member("uri", uri)
        json.member("mimeType", mimeType)
        json.member("text", framed(content.bytes))
      }
    }
  }
}
