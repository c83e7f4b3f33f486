package import DMCLI
internal import DMKit
internal import DMSystem

package struct DMSearch: Program {
  static let inConversation = Option(
    "in", value: "CONV", "search only this conversation; can be repeated", as: ConversationReference.init)
  static let from = Option("from", user: "USER", "find only messages from this user")
  static let since = Option("since", value: "WHEN", "find only messages since a message or a time", as: messageOrTime)
  static let before = Option(
    "before", value: "WHEN", "find only messages before a message or a time", as: messageOrTime)
  static let has = Option(
    "has", value: "KIND", oneOf: SearchRequest.Content.self,
    "find only messages with a link, attachment, image or mention; can be repeated")
  static let newest = Flag("newest", "print the newest messages first, not the best matches")
  static let limit = Option("limit", short: "n", count: "N", "print at most N messages, or 'all' [20]")

  package static let command = Command(
    "dm-search", "search the messages that you can see, best matches first",
    synopsis: ["[OPTION]... [QUERY]..."],
    options: [inConversation, from, since, before, has, newest, limit, fresh],
    examples: [
      ("dm-search lunch tomorrow", "messages with both words, in any order"),
      ("dm-search '\"see you\" OR goodby*'", "a phrase, or words that begin with 'goodby'"),
      (
        "dm-search --in +ops --from bob --since 7d 'deploy* NOT staging'",
        "what bob wrote about deploying in the last week"
      ),
      ("dm-search --has link --newest -n 5", "the newest five messages with links"),
      ("dm-search 北京 -n all | jq -r .snippet", "the words around each match"),
    ], writes: ["message"])

  package static func run(_ call: Invocation) throws {
    let request = try request(call.arguments)
    let messenger = try call.messenger()
    try call.refresh()
    let results = try messenger.search(request)
    var page = MessagePage(messenger, [])
    var isEmpty = true
    try call.inPages {
      while case let batch = try results.next(), !batch.isEmpty {
        isEmpty = false
        for found in batch {
          try call.print(found.message) {
            TextFormat.line($0, found.snippet, in: try page.name($0.conversationID))
          }
        }
      }
    }
    if isEmpty { try call.note("no message that you can see matches; 'wor*' finds what begins with 'wor'") }
  }

  private static func request(_ arguments: Arguments) throws -> SearchRequest {
    var request = SearchRequest(arguments.operands.isEmpty ? nil : arguments.operands.joined(separator: " "))
    request.conversations = try arguments.all(inConversation)
    request.sender = try arguments[from]
    request.since = try arguments[since]
    request.before = try arguments[before]
    request.contents = Set(try arguments.all(has))
    request.newestFirst = arguments[newest]
    request.limit = try arguments[limit] ?? 20
    let filters: [any Declared] = [inConversation, from, since, before, has]
    if request.words == nil, !filters.contains(where: arguments.isGiven) {
      throw usage("nothing to search for; write words, or one of --in, --from, --since, --before and --has")
    }
    return request
  }
}
