internal import DMCLI
internal import DMKit

@main struct DMList: Program {
  static let command = Command(
    "dm-list", "list conversations: pinned first, then newest activity",
    synopsis: ["[OPTION]... [CONVERSATION]..."],
    options: [
      Option("unread", "only those with unread messages"),
      Option("unmuted", "only those that are not muted"),
      Option("archived", "only archived ones"),
      Option("all", "archived ones too"),
      Option("match", value: "TEXT", "only those with TEXT in their name, or in a handle or name of their people"),
      Option("limit", value: "N", "at most N conversations, or 'all' [50]"),
      Option("after", value: "CURSOR", "the page after the conversation with this cursor"),
      Option("count", "print how many messages are unread, and nothing else"),
      Option("follow", short: "f", "go on with each conversation that changes, and the count when it does"),
      Option("invisible", "do not show that one is there while following"),
    ],
    examples: [
      ("dm-list --unread", "what waits for me"),
      ("dm-list --count", "the number for a status bar"),
      ("dm-list -f --count", "the same for one that is kept up to date"),
      ("dm-list --count +ops bob", "the number for two conversations"),
      ("dm-list --match ops", "those whose name or people have 'ops' in them"),
      ("dm-list --unread | jq -r '\"\\(.unread_count) \\(.name)\"'", "a digest"),
    ], writes: ["conversation"])

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    try arguments.exclude("archived", "all")
    try arguments.exclude("count", "quiet")
    if let text = arguments.value("match"), text.utf8.count > titleLimit {
      throw usage("the TEXT of --match has at most \(titleLimit) bytes; shorten it")
    }
    var query = ListQuery()
    query.archived = arguments.has("archived") ? .only : arguments.has("all") ? .included : .excluded
    query.unreadOnly = arguments.has("unread")
    query.matching = arguments.value("match")
    query.unmutedOnly = arguments.has("unmuted")
    query.limit = try arguments.count("limit", default: 50)
    query.after = arguments.value("after")
    let messenger = try call.messenger()
    // By their ids: the titles may change while they are followed.
    query.conversations = try arguments.operands.map {
      .id(try messenger.conversation(ConversationReference($0)).id)
    }
    let list = Listing(call, messenger, query)
    if arguments.has("follow") {
      try arguments.exclude("follow", beside: "after", "quiet")
      try list.follow()
    } else if arguments.isGiven("invisible") {
      throw usage("--invisible goes with -f")
    } else {
      try list.print()
    }
  }
}
