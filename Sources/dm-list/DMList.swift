package import DMCLI
internal import DMKit

package struct DMList: Program {
  static let unread = Flag("unread", "only those with unread messages")
  static let unmuted = Flag("unmuted", "only those that are not muted")
  static let archived = Flag("archived", "only archived ones")
  static let all = Flag("all", "archived ones too")
  static let match = Option(
    "match", value: "TEXT", "only those with TEXT in their name, or in a handle or name of their people", as: matched)
  static let limit = Option("limit", short: "n", count: "N", "at most N conversations, or 'all' [50]")
  static let after = Option(
    "after", value: "CURSOR", "the page after the conversation with this cursor", as: PageCursor.init)
  static let count = Flag("count", "print how many messages are unread, and nothing else")
  static let follow = Flag(
    "follow", short: "f", "go on with each conversation that changes, and the count when it does")
  static let invisible = Flag("invisible", "do not show that you are online while following")

  package static let command = Command(
    "dm-list", "list conversations: pinned first, then newest activity",
    synopsis: ["[OPTION]... [CONVERSATION]..."],
    options: [unread, unmuted, archived, all, match, limit, after, count, follow, invisible],
    operands: "[CONVERSATION]...",
    rules: [
      .excludes(archived, [all]), .excludes(count, [Common.quiet]), .excludes(follow, [after, Common.quiet]),
      .needs(invisible, [follow]),
    ],
    examples: [
      ("dm-list --unread", "what waits for me"),
      ("dm-list --count", "the number for a status bar"),
      ("dm-list -f --count", "the same for one that is kept up to date"),
      ("dm-list --count +ops bob", "the number for two conversations"),
      ("dm-list --match ops", "those whose name or people have 'ops' in them"),
      ("dm-list --unread | jq -r '\"\\(.unread_count) \\(.name)\"'", "a digest"),
    ], writes: ["conversation"])

  package static func run(_ call: Invocation) throws {
    let messenger = try call.messenger()
    let list = Listing(call, messenger, try query(call.arguments, messenger))
    if call.arguments[follow] { return try list.follow() }
    try call.inPages { try list.print() }
    if call.arguments[count] { return }
    if list.isEmpty, call.arguments[unread] { try call.note("nothing is unread; 'dm-list' has all conversations") }
    if list.isEmpty, let text = try call.arguments[match] {
      try call.note("no conversation has '\(text)' in its name or its people; 'dm-list' has all")
    }
    try call.suggestNext()
  }

  private static func query(_ arguments: Arguments, _ messenger: Messenger) throws -> ListQuery {
    var query = ListQuery()
    query.archived = arguments[archived] ? .only : arguments[all] ? .included : .excluded
    query.unreadOnly = arguments[unread]
    query.matching = try arguments[match]
    query.unmutedOnly = arguments[unmuted]
    query.limit = try arguments[limit] ?? 50
    query.after = try arguments[after]
    // By their ids, because titles may change during the stream.
    query.conversations = try arguments.operands.map {
      .id(try messenger.conversation(ConversationReference($0)).id)
    }
    return query
  }

  private static func matched(_ text: String) throws -> String {
    if text.utf8.count <= titleLimit { return text }
    throw usage("the TEXT of --match has at most \(titleLimit) bytes; shorten it")
  }
}
