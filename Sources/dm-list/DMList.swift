internal import DMCLI
internal import DMKit

@main struct DMList: Program {
  static let command = Command(
    "dm-list", "list conversations: pinned first, then newest activity",
    synopsis: ["[OPTION]... [QUERY]"],
    options: [
      Option("unread", "only those with unread messages"),
      Option("unmuted", "only those that are not muted"),
      Option("archived", "only archived ones"),
      Option("all", "archived ones too"),
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
      ("dm-list ops", "those whose title or people have 'ops' in them"),
      ("dm-list --unread | jq -r '\"\\(.unread_count) \\(.title // (.participants | join(\" \")))\"'", "a digest"),
    ], writes: ["conversation"])

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    try arguments.atMost(1)
    try arguments.exclude("archived", "all")
    try arguments.exclude("count", "quiet")
    if let words = arguments.operands.first, words.utf8.count > titleLimit {
      throw usage("a QUERY has at most \(titleLimit) bytes; shorten it")
    }
    var query = ListQuery()
    query.archived = arguments.has("archived") ? .only : arguments.has("all") ? .included : .excluded
    query.unreadOnly = arguments.has("unread")
    query.unmutedOnly = arguments.has("unmuted")
    query.matching = arguments.operands.first
    query.limit = try arguments.count("limit", default: 50)
    query.after = arguments.value("after")
    let list = Listing(call, try call.messenger(), query)
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
