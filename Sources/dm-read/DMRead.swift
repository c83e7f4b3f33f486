package import DMCLI
internal import DMKit
internal import DMSystem

package struct DMRead: Program {
  static let upTo = Option(
    "up-to", value: "MESSAGE", "mark all messages up to and including this message", as: MessageReference.init)
  static let since = Option(
    "since", value: "WHEN", "mark all messages since a message or a time; --before may set an end",
    as: messageOrTime)
  static let before = Option(
    "before", value: "WHEN", "mark all messages before a message or a time", as: messageOrTime)
  static let all = Flag("all", "mark all messages")
  static let from = Option("from", user: "USER", "mark only messages from this sender")
  static let everywhere = Flag("everywhere", "mark messages in all conversations")
  static let except = Option(
    "except", value: "NAME", values: [.conversations],
    "with --everywhere: leave out this conversation; can be repeated",
    as: ConversationReference.init)
  static let muted = Flag("muted", "with --everywhere: mark messages only in muted conversations")
  static let unmuted = Flag("unmuted", "with --everywhere: mark messages only in conversations that are not muted")
  static let isPrivate = Flag("private", "mark as read without a receipt, so that other users do not see it")
  static let unread = Flag("unread", "mark as unread instead of read; receipts that were sent stay")
  static let delivered = Flag(
    "delivered", "mark as delivered, for programs that do not get messages from dm-tail")
  static let receipts = Flag("receipts", "print who received and read these messages, and when")
  static let dryRun = Flag("dry-run", "print what would change, and change nothing")

  package static let command = Command(
    "dm-read", "mark messages as read or unread, and show who received and read them",
    synopsis: [
      "CONVERSATION RANGE...", "CONVERSATION --up-to MESSAGE | --since WHEN | --before WHEN | --all",
      "--everywhere --since WHEN | --before WHEN | --all",
      "--receipts MESSAGE | CONVERSATION RANGE...", "<MESSAGE-LINES",
    ],
    options: [
      upTo, since, before, all, from, everywhere, except, muted, unmuted, isPrivate, unread, delivered, receipts,
      dryRun, fresh,
    ],
    operands: "CONVERSATION|RANGE RANGE...",
    operandsWith: [(receipts, "MESSAGE RANGE|MESSAGE..."), (everywhere, "")],
    rules: [
      .alone(receipts, with: [fresh]), .excludes(unread, [delivered]), .excludes(isPrivate, [unread, delivered]),
      .excludes(from, [delivered]), .excludes(muted, [unmuted]), .atMostOne([upTo, before, all]),
      .excludes(since, [upTo, all]), .excludes(everywhere, [upTo]), .needs(except, [everywhere]),
      .needs(muted, [everywhere]), .needs(unmuted, [everywhere]),
    ],
    examples: [
      ("dm-read bob 40..57 60", "mark messages 40 to 57, and 60"),
      ("dm-tail bob -n 20 | dm-read", "mark exactly the newest 20 messages"),
      ("dm-read --everywhere --before 7d --except +ops", "for cron: mark what is older than a week, except in +ops"),
      ("dm-read +ops --all --from bob --private", "mark what bob said in the group, without a receipt"),
      ("dm-read --receipts bob:-1", "print who received and read the last message, and when"),
    ], reads: "read_line", writes: ["marked", "read_receipt", "delivery_receipt", "error"])

  package static func run(_ call: Invocation) throws {
    let (arguments, messenger) = (call.arguments, try call.messenger())
    let options = try markOptions(arguments)
    let mode = try mode(arguments)
    // Lines name messages that are already in the store, so the hub is not asked for newer ones.
    if case .lines = mode { return try readLines(call, messenger, options) }
    try call.refresh()
    switch mode {
    case .lines: break
    case .receipts(let messages):
      var page = MessagePage(messenger, [])
      for receipt in try messenger.receipts(for: messages) {
        try call.print(receipt) {
          TextFormat.line($0, try page.people(in: $0.conversationID), in: try page.name($0.conversationID))
        }
      }
    case .everywhere(let target):
      let isMuted = arguments[muted] ? true : arguments[unmuted] ? false : nil
      let all = try messenger.markReadEverywhere(target, options, except: arguments.all(except), muted: isMuted)
      for marked in all { try print(marked, call) }
    case .conversation(let conversation, let target):
      if let marked = try messenger.markRead(target, in: conversation, options) { try print(marked, call) }
    }
  }

  static func print(_ marked: Marked, _ call: Invocation) throws {
    try call.print(marked) { TextFormat.line($0, in: try name($0.conversationID, call)) }
  }

  private static func name(_ conversation: Identifier, _ call: Invocation) throws -> String {
    let messenger = try call.messenger()
    return TextFormat.name(try messenger.conversation(.id(conversation)), for: messenger.identity.handle)
  }
}

extension DMRead {
  /// The action that the options and operands select.
  enum Mode {
    case receipts([MessageSelection])
    case everywhere(ReadTarget)
    case conversation(ConversationReference, ReadTarget)
    case lines
  }

  static func mode(_ arguments: Arguments) throws -> Mode {
    if arguments[receipts] { return .receipts(try selections(arguments.operands)) }
    let target = try target(arguments)
    if arguments[everywhere] { return .everywhere(try targetEverywhere(target, arguments)) }
    if let name = arguments.operands.first {
      let (conversations, ranges) = try arguments.conversationsAndRanges(arguments.operands, several: false)
      if ranges != nil, target != nil {
        throw usage("a range and '--up-to', '--since', '--before' or '--all' exclude each other; use one of them")
      }
      guard let conversation = conversations.first, let chosen = ranges.map(ReadTarget.ranges) ?? target else {
        throw usage(
          "no messages of '\(name)' are chosen; write a range, --up-to MESSAGE, --since WHEN, --before WHEN or --all")
      }
      return .conversation(conversation, chosen)
    }
    if target != nil { throw usage("name a conversation, or add --everywhere") }
    if arguments.isGiven(from) { throw usage("'--from' needs a conversation or --everywhere") }
    if isTerminal(.input) {
      throw arguments.missing("CONVERSATION", "name one, or pipe the lines of dm-tail into dm-read")
    }
    return .lines
  }

  static func markOptions(_ arguments: Arguments) throws -> Messenger.MarkOptions {
    var options = Messenger.MarkOptions()
    options.act = arguments[unread] ? .unread : arguments[delivered] ? .delivered : .read
    options.isDryRun = arguments[dryRun]
    options.isPrivate = arguments[isPrivate]
    options.sender = try arguments[from]
    return options
  }

  /// The messages that the options choose; nil without these options.
  private static func target(_ arguments: Arguments) throws -> ReadTarget? {
    if let message = try arguments[upTo] { return .upTo(message) }
    let end = try arguments[before]
    if let start = try arguments[since] { return .since(start, before: end) }
    return end.map(ReadTarget.before) ?? (arguments[all] ? .all : nil)
  }

  private static func targetEverywhere(_ target: ReadTarget?, _ arguments: Arguments) throws -> ReadTarget {
    try arguments.atMost(0)
    guard let target else { throw usage("'--everywhere' needs --since WHEN, --before WHEN or --all") }
    if !target.namesMessage { return target }
    throw usage("'--everywhere' needs a time; a message belongs to one conversation")
  }

  /// The operands of `--receipts`: messages, or conversations that are each followed by ranges.
  private static func selections(_ operands: [String]) throws -> [MessageSelection] {
    var selections: [MessageSelection] = []
    var rest = operands[...]
    while let operand = rest.popFirst() {
      let following = rest.prefix { RangeReference($0) != nil }
      rest.removeFirst(following.count)
      let ranges = following.compactMap { RangeReference($0) }
      if let (conversation, range) = try splitReference(operand), !ranges.isEmpty || range.from != range.to {
        selections.append(.ranges([range] + ranges, in: conversation))
      } else if ranges.isEmpty {
        selections.append(.message(try MessageReference(operand)))
      } else {
        selections.append(.ranges(ranges, in: try ConversationReference(operand)))
      }
    }
    if selections.isEmpty { throw usage("--receipts needs messages: write bob:57, or bob 40..57") }
    return selections
  }
}

extension ReadTarget {
  /// Whether `--since` or `--before` names a message, not a time.
  ///
  /// A message belongs to one conversation, so such a target cannot be used with `--everywhere`.
  fileprivate var namesMessage: Bool {
    switch self {
    case .before(.message), .since(.message, _), .since(_, before: .message?): true
    case .before, .since, .ranges, .upTo, .all: false
    }
  }
}

extension DMRead {
  /// Marks exactly the messages in the lines of standard input; ignores other lines.
  ///
  /// Prints one `marked` record for each conversation of a batch.
  static func readLines(_ call: Invocation, _ messenger: Messenger, _ options: Messenger.MarkOptions) throws {
    var input = LineInput()
    while let batch = try input.batch({ line, _ in try Messenger.MarkedMessage(line: line) }) {
      var lines: [Int] = []
      var messages: [Messenger.MarkedMessage] = []
      for case (let line, .success(let message?)) in batch {
        lines.append(line)
        messages.append(message)
      }
      let (marked, errors) = messages.isEmpty ? ([], [:]) : try messenger.markRead(messages, options)
      var faults: [(line: Int, error: DMError)] = errors.map { (lines[$0.key], $0.value) }
      for case (let line, .failure(let error)) in batch { faults.append((line, error)) }
      for fault in faults.sorted(by: { $0.line < $1.line }) { try call.fail(line: fault.line, fault.error) }
      for marked in marked { try print(marked, call) }
      try call.output.flush()
    }
  }
}
