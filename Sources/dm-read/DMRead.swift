internal import DMCLI
internal import DMKit

@main struct DMRead: Program {
  static let command = Command(
    "dm-read", "mark messages as read, or as unread, and show who has read what",
    synopsis: [
      "CONVERSATION RANGE...", "CONVERSATION --up-to MESSAGE | --before WHEN | --all",
      "--everywhere --before WHEN | --all",
      "--receipts MESSAGE", "<MESSAGE-LINES",
    ],
    options: [
      Option("up-to", value: "MESSAGE", "everything to this message, itself included"),
      Option("before", value: "WHEN", "everything that was said before a message or a time"),
      Option("all", "everything"),
      Option("everywhere", "in all conversations"),
      Option("unread", "mark as unread instead; the receipts stay"),
      Option("delivered", "mark as delivered instead: for those who take messages by other ways than dm-tail"),
      Option("receipts", value: "MESSAGE", "print who has read this message, and when"),
      Option("dry-run", "print what would change, and change nothing"),
    ],
    examples: [
      ("dm-read bob 40..57 60", "those messages"),
      ("dm-tail bob -n 20 | dm-read", "exactly these 20"),
      ("dm-read --everywhere --before 7d", "for cron: whatever is older than a week"),
      ("dm-read --receipts bob:-1", "who has read the last message, and when"),
    ], reads: "read_line", writes: ["marked", "read_receipt", "error"])

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    let messenger = try call.messenger()
    var options = Messenger.MarkOptions()
    try arguments.exclude("unread", "delivered")
    options.act = arguments.has("unread") ? .unread : arguments.has("delivered") ? .delivered : .read
    options.isDryRun = arguments.has("dry-run")

    if let message = arguments.value("receipts") {
      try arguments.atMost(0)
      try arguments.exclude(
        "receipts", beside: "up-to", "before", "all", "everywhere", "unread", "delivered", "dry-run")
      for receipt in try messenger.receipts(for: MessageReference(message)) { try print(receipt, call) }
      return
    }
    let target = try target(arguments)
    if arguments.has("everywhere") {
      try arguments.atMost(0)
      try arguments.exclude("everywhere", "up-to")
      guard let target else { throw usage("--everywhere needs --before WHEN or --all") }
      if case .before(.message) = target {
        throw usage("--everywhere goes with a time; messages are numbered in each conversation")
      }
      for marked in try messenger.markReadEverywhere(target, options) { try print(marked, call) }
    } else if let name = arguments.operands.first {
      let (conversations, ranges) = try conversationsAndRanges(arguments.operands, several: false)
      if ranges != nil, target != nil { throw usage("a range and an option exclude each other; write one of them") }
      guard let conversation = conversations.first, let chosen = ranges.map(ReadTarget.ranges) ?? target else {
        throw usage("which messages of '\(name)'? Write a range, --up-to MESSAGE, --before WHEN or --all")
      }
      if let marked = try messenger.markRead(chosen, in: conversation, options) { try print(marked, call) }
    } else if target != nil {
      throw usage("name a conversation, or add --everywhere")
    } else if isTerminal(.input) {
      throw usage("name a conversation, or pipe the lines of dm-tail into it; see --help")
    } else {
      try readLines(call, messenger, options)
    }
  }

  static func target(_ arguments: Arguments) throws -> ReadTarget? {
    try arguments.exclude("up-to", "before", "all")
    if let message = arguments.value("up-to") { return .upTo(try MessageReference(message)) }
    if let bound = arguments.value("before") { return .before(try messageOrTime(bound)) }
    return arguments.has("all") ? .all : nil
  }

  static func print(_ receipt: Receipt, _ call: Invocation) throws {
    try call.print(receipt) { TextFormat.line($0, in: try name($0.conversationID, call)) }
  }

  static func print(_ marked: Marked, _ call: Invocation) throws {
    try call.print(marked) { TextFormat.line($0, in: try name($0.conversationID, call)) }
  }

  private static func name(_ conversation: Identifier, _ call: Invocation) throws -> String {
    let messenger = try call.messenger()
    return TextFormat.name(try messenger.conversation(.id(conversation)), for: messenger.identity.handle)
  }
}
