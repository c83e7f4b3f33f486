internal import DMCLI
internal import DMKit

@main struct DMRead: Program {
  static let command = Command(
    "dm-read", "mark messages as read, or as unread, and show who has got and read what",
    synopsis: [
      "CONVERSATION RANGE...", "CONVERSATION --up-to MESSAGE | --since WHEN | --before WHEN | --all",
      "--everywhere --since WHEN | --before WHEN | --all",
      "--receipts MESSAGE | CONVERSATION RANGE...", "<MESSAGE-LINES",
    ],
    options: [
      Declaration("up-to", value: "MESSAGE", "everything to this message, itself included"),
      Declaration("since", value: "WHEN", "everything from a message or a time on; goes with --before"),
      Declaration("before", value: "WHEN", "everything that was said before a message or a time"),
      Declaration("all", "everything"),
      Declaration("from", value: "USER", "only messages of this sender"),
      Declaration("everywhere", "in all conversations"),
      Declaration("except", value: "NAME", "with --everywhere: but not in this one; may be given several times"),
      Declaration("muted", "with --everywhere: only in muted conversations"),
      Declaration("unmuted", "with --everywhere: only in conversations that are not muted"),
      Declaration("private", "without a receipt: nobody else learns of it"),
      Declaration("unread", "mark as unread instead; the receipts stay"),
      Declaration("delivered", "mark as delivered instead: for those who take messages by other ways than dm-tail"),
      Declaration("receipts", "print who has got and who has read these messages, and when"),
      Declaration("dry-run", "print what would change, and change nothing"),
    ],
    examples: [
      ("dm-read bob 40..57 60", "those messages"),
      ("dm-tail bob -n 20 | dm-read", "exactly these 20"),
      ("dm-read --everywhere --before 7d --except +ops", "for cron: whatever is older than a week"),
      ("dm-read +ops --all --from bob --private", "what bob said, without a receipt"),
      ("dm-read --receipts bob:-1", "who has got and who has read the last message, and when"),
    ], reads: "read_line", writes: ["marked", "read_receipt", "delivery_receipt", "error"])

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    let messenger = try call.messenger()
    if arguments.has("receipts") {
      try arguments.allowOnly("receipts")
      for receipt in try messenger.receipts(for: selections(arguments.operands)) { try print(receipt, call) }
      return
    }
    let options = try options(arguments)
    let target = try target(arguments)
    if arguments.has("everywhere") {
      try arguments.atMost(0)
      try arguments.exclude("everywhere", "up-to")
      guard let target else { throw usage("--everywhere needs --since WHEN, --before WHEN or --all") }
      if target.namesMessage {
        throw usage("--everywhere goes with a time; messages are numbered in each conversation")
      }
      let muted = arguments.has("muted") ? true : arguments.has("unmuted") ? false : nil
      let marked = try messenger.markReadEverywhere(
        target, options, except: try arguments.all("except").map(ConversationReference.init), muted: muted)
      for marked in marked { try print(marked, call) }
      return
    }
    for name in ["except", "muted", "unmuted"] where arguments.isGiven(name) {
      throw usage("--\(name) goes with --everywhere")
    }
    if let name = arguments.operands.first {
      let (conversations, ranges) = try conversationsAndRanges(arguments.operands, several: false)
      if ranges != nil, target != nil { throw usage("a range and an option exclude each other; write one of them") }
      guard let conversation = conversations.first, let chosen = ranges.map(ReadTarget.ranges) ?? target else {
        throw usage("which messages of '\(name)'? Write a range, --up-to MESSAGE, --before WHEN or --all")
      }
      if let marked = try messenger.markRead(chosen, in: conversation, options) { try print(marked, call) }
    } else if target != nil {
      throw usage("name a conversation, or add --everywhere")
    } else if options.sender != nil {
      throw usage("--from goes with a conversation or --everywhere")
    } else if isTerminal(.input) {
      throw usage("name a conversation, or pipe the lines of dm-tail into it; see --help")
    } else {
      try readLines(call, messenger, options)
    }
  }
}
