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
    "find only messages with a link, mention, attachment, image, video, audio, voice or file; can be repeated")
  static let file = Option(
    "file", value: "NAME", values: [], "find only messages with an attachment whose name contains NAME",
    as: attachmentName)
  static let newest = Flag("newest", "print the newest messages first, not the best matches")
  static let like = Option(
    "like", value: "EXAMPLE", "find what means something like this text, or this message", as: Meaning.example)
  static let answer = Flag("answer", "have a model answer QUERY from the messages that are most like it")
  static let fill = Flag("fill", "compute the vectors that --like needs, and print nothing")
  static let embed = Option(
    "embed", value: "COMMAND", "with --like, --answer, --fill: this program for vectors [$DM_EMBED]", as: { $0 })
  static let model = Option("model", value: "COMMAND", "with --answer: the model [$DM_MODEL]", as: { $0 })
  static let limit = Option("limit", short: "n", count: "N", "print at most N messages, or 'all' [20]")

  package static let command = Command(
    "dm-search", "search the messages that you can see, best matches first",
    synopsis: ["[OPTION]... [QUERY]...", "[OPTION]... --like EXAMPLE", "[OPTION]... --answer QUESTION...", "--fill"],
    options: [
      inConversation, from, since, before, has, file, newest, limit, like, answer, fill, embed, model, fresh,
    ],
    rules: [
      .excludes(like, [newest, answer, fill]), .excludes(answer, [newest, fill]),
      .excludes(fill, [inConversation, from, since, before, has, file, newest, limit]),
    ],
    examples: [
      ("dm-search lunch tomorrow", "messages with both words, in any order"),
      ("dm-search '\"see you\" OR goodby*'", "a phrase, or words that begin with 'goodby'"),
      (
        "dm-search --in +ops --from bob --since 7d 'deploy* NOT staging'",
        "what bob wrote about deploying in the last week"
      ),
      ("dm-search --has link --newest -n 5", "the newest five messages with links"),
      ("dm-search --file report --from bob", "the messages in which bob sent a file such as 'Report 2026.pdf'"),
      ("dm-search 北京 -n all | jq -r .snippet", "the words around each match"),
      ("dm-search --like 'the day we agreed on the price'", "messages that mean something like this"),
      ("dm-search --like bob:57 --in +ops", "messages of the group that are like this message"),
      ("dm-search --answer 'what did we agree on?' --model 'llm -m small'", "an answer with references"),
    ], writes: ["message", "answer"])

  package static func run(_ call: Invocation) throws {
    let (arguments, messenger) = (call.arguments, try call.messenger())
    let words = arguments.operands.joined(separator: " ")
    if arguments[fill] || arguments.isGiven(like), !words.isEmpty {
      throw usage("unexpected '\(words)'; '--like' and '--fill' take no QUERY")
    }
    if arguments[fill] {
      try call.refresh()
      return try Meaning(call, messenger).fill()
    }
    let request = try request(arguments)
    try call.refresh()
    if let example = try arguments[like] {
      if case .text(let text) = example, text.allSatisfy(\.isWhitespace) {
        throw usage("nothing to search for; write a text or a message after --like")
      }
      return try print(call, messenger, Meaning(call, messenger).search(like: example, request).next)
    }
    guard arguments[answer] else { return try print(call, messenger, messenger.search(request).next) }
    if words.allSatisfy(\.isWhitespace) { throw usage("there is no question; write it after --answer") }
    let asking = try Asking(call, messenger)
    let results = try Meaning(call, messenger).search(like: .text(words), request)
    var found: [SearchResults.Found] = []
    while case let batch = try results.next(), !batch.isEmpty { found += batch }
    try asking.answer(words, from: found.map(\.message)) {
      try print(call, messenger) {
        defer { found = [] }
        return found
      }
    }
  }

  /// Prints messages in batches, until a batch is empty.
  private static func print(
    _ call: Invocation, _ messenger: Messenger, _ next: () throws -> [SearchResults.Found]
  ) throws {
    var page = MessagePage(messenger, [])
    var isEmpty = true
    try call.inPages {
      while case let batch = try next(), !batch.isEmpty {
        isEmpty = false
        for found in batch {
          try call.print(found.message) {
            TextFormat.line($0, found.snippet, try page.people(of: $0), in: try page.name($0.conversationID))
          }
        }
      }
    }
    if !isEmpty { return }
    try call.note(
      call.arguments.isGiven(like)
        ? "no message that you can see is like that"
        : "no message that you can see matches\(prefixHint(call.arguments.operands.last))")
  }

  /// The end of the note that nothing was found, with the last word as a prefix; empty if the word is more than letters.
  private static func prefixHint(_ word: String?) -> String {
    guard let word, !word.isEmpty, word.allSatisfy(\.isLetter), !["AND", "OR", "NOT"].contains(word) else { return "" }
    return "; '\(word)*' finds words that begin with '\(word)'"
  }

  private static func attachmentName(_ text: String) throws -> String {
    if text.isEmpty { throw usage("the NAME of --file is empty; write a part of the name") }
    if text.utf8.count <= Attachment.nameLimit { return text }
    throw usage("the NAME of --file has at most \(Attachment.nameLimit) bytes; shorten it")
  }

  private static func request(_ arguments: Arguments) throws -> SearchRequest {
    var request = SearchRequest(arguments.operands.isEmpty ? nil : arguments.operands.joined(separator: " "))
    if let words = request.words, !arguments[answer], words.utf8.count(where: { $0 == UInt8(ascii: "\"") }) % 2 == 1 {
      throw usage("a quotation mark has no end; write another after the phrase, or leave it out")
    }
    request.conversations = try arguments.all(inConversation)
    request.sender = try arguments[from]
    request.since = try arguments[since]
    request.before = try arguments[before]
    if arguments.isGiven(has) { request.contents = Set(try arguments.all(has)) }
    request.attachmentName = try arguments[file]
    request.newestFirst = arguments[newest]
    request.limit = try arguments[limit] ?? 20
    let filters: [any Declared] = [inConversation, from, since, before, has, file, like, answer]
    if request.words == nil, !filters.contains(where: arguments.isGiven) {
      throw usage("nothing to search for; write words, or one of --in, --from, --since, --before, --has and --file")
    }
    return request
  }
}
