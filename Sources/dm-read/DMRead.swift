package import DMCLI
internal import DMKit
internal import DMSystem

package struct DMRead: Program {
  static let upTo = Option(
    "up-to", value: "MESSAGE", "everything to this message, itself included", as: MessageReference.init)
  static let since = Option(
    "since", value: "WHEN", "everything from a message or a time on; goes with --before", as: messageOrTime)
  static let before = Option(
    "before", value: "WHEN", "everything that was said before a message or a time", as: messageOrTime)
  static let all = Flag("all", "everything")
  static let from = Option("from", user: "USER", "only messages of this sender")
  static let everywhere = Flag("everywhere", "in all conversations")
  static let except = Option(
    "except", value: "NAME", values: [.conversations],
    "with --everywhere: but not in this one; may be given several times",
    as: ConversationReference.init)
  static let muted = Flag("muted", "with --everywhere: only in muted conversations")
  static let unmuted = Flag("unmuted", "with --everywhere: only in conversations that are not muted")
  static let isPrivate = Flag("private", "without a receipt: nobody else learns of it")
  static let unread = Flag("unread", "mark as unread instead; the receipts stay")
  static let delivered = Flag(
    "delivered", "mark as delivered instead: for those who take messages by other ways than dm-tail")
  static let receipts = Flag("receipts", "print who has got and who has read these messages, and when")
  static let dryRun = Flag("dry-run", "print what would change, and change nothing")

  package static let command = Command(
    "dm-read", "mark messages as read, or as unread, and show who has got and read what",
    synopsis: [
      "CONVERSATION RANGE...", "CONVERSATION --up-to MESSAGE | --since WHEN | --before WHEN | --all",
      "--everywhere --since WHEN | --before WHEN | --all",
      "--receipts MESSAGE | CONVERSATION RANGE...", "<MESSAGE-LINES",
    ],
    options: [
      upTo, since, before, all, from, everywhere, except, muted, unmuted, isPrivate, unread, delivered, receipts,
      dryRun,
    ],
    operands: "CONVERSATION|RANGE RANGE...",
    operandsWith: [(receipts, "MESSAGE RANGE|MESSAGE..."), (everywhere, "")],
    rules: [
      .alone(receipts, with: []), .excludes(unread, [delivered]), .excludes(isPrivate, [unread, delivered]),
      .excludes(from, [delivered]), .excludes(muted, [unmuted]), .atMostOne([upTo, before, all]),
      .excludes(since, [upTo, all]), .excludes(everywhere, [upTo]), .needs(except, [everywhere]),
      .needs(muted, [everywhere]), .needs(unmuted, [everywhere]),
    ],
    examples: [
      ("dm-read bob 40..57 60", "those messages"),
      ("dm-tail bob -n 20 | dm-read", "exactly these 20"),
      ("dm-read --everywhere --before 7d --except +ops", "for cron: everything older than a week"),
      ("dm-read +ops --all --from bob --private", "what bob said, without a receipt"),
      ("dm-read --receipts bob:-1", "who has got and who has read the last message, and when"),
    ], reads: "read_line", writes: ["marked", "read_receipt", "delivery_receipt", "error"])

  package static func run(_ call: Invocation) throws {
    let (arguments, messenger) = (call.arguments, try call.messenger())
    let options = try markOptions(arguments)
    switch try mode(arguments) {
    case .receipts(let messages):
      for receipt in try messenger.receipts(for: messages) { try print(receipt, call) }
    case .everywhere(let target):
      let isMuted = arguments[muted] ? true : arguments[unmuted] ? false : nil
      let all = try messenger.markReadEverywhere(target, options, except: arguments.all(except), muted: isMuted)
      for marked in all { try print(marked, call) }
    case .conversation(let conversation, let target):
      if let marked = try messenger.markRead(target, in: conversation, options) { try print(marked, call) }
    case .lines: try readLines(call, messenger, options)
    }
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
