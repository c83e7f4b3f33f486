internal import DMCLI
internal import DMKit

@main struct DMSearch: Program {
  static let command = Command(
    "dm-search", "search the messages that you can see, those that answer best first",
    synopsis: ["[OPTION]... [QUERY]..."],
    options: [
      Declaration("in", value: "CONV", "only in this conversation; may stand more than once"),
      Declaration("from", value: "USER", "only what this user said"),
      Declaration("since", value: "WHEN", "only from a message or a time on"),
      Declaration("before", value: "WHEN", "only before a message or a time"),
      Declaration(
        "has", value: "KIND", values: .words(SearchRequest.Content.allCases.map(\.rawValue)),
        "only with a link, an attachment, an image or a mention; may stand more than once"),
      Declaration("newest", "the newest first"),
      Declaration(nil, short: "n", value: "N", "at most N messages, or 'all' [20]"),
    ],
    examples: [
      ("dm-search lunch tomorrow", "what has both words, in any order"),
      ("dm-search '\"see you\" OR goodby*'", "a phrase, or what begins like that"),
      ("dm-search --in +ops --from bob --since 7d 'deploy* NOT staging'", "what bob said there in a week"),
      ("dm-search --has link --newest -n 5", "the newest five links"),
      ("dm-search 北京 -n all | jq -r .snippet", "what stands around each"),
    ], writes: ["message"])

  static func run(_ call: Invocation) throws {
    let request = try request(call.arguments)
    let messenger = try call.messenger()
    let results = try messenger.search(request)
    var page = MessagePage(messenger, [])
    let marks = try TextFormat.HitMarks(isTerminal: isTerminal(.output))
    while case let batch = try results.next(), !batch.isEmpty {
      for found in batch {
        try call.print(found.message) {
          TextFormat.line($0, found.snippet, in: try page.name($0.conversationID), marks)
        }
      }
    }
  }

  private static func request(_ arguments: Arguments) throws -> SearchRequest {
    var request = SearchRequest(arguments.operands.isEmpty ? nil : arguments.operands.joined(separator: " "))
    request.conversations = try arguments.all("in").map(ConversationReference.init)
    request.sender = arguments.value("from").map { $0.without("@") }
    request.since = try arguments.value("since").map(messageOrTime)
    request.before = try arguments.value("before").map(messageOrTime)
    request.contents = Set(
      try arguments.all("has").map { name in
        guard let content = SearchRequest.Content(rawValue: name) else {
          let names = SearchRequest.Content.allCases.map(\.rawValue).joined(separator: ", ")
          throw usage("'\(name)' is nothing that a message has; say one of \(names)")
        }
        return content
      })
    request.newestFirst = arguments.has("newest")
    request.limit = try arguments.count("n", default: 20)
    if request.words == nil, !["in", "from", "since", "before", "has"].contains(where: arguments.isGiven) {
      throw usage("search for what? Write words, or one of --in, --from, --since, --before and --has")
    }
    return request
  }
}
