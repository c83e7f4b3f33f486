internal import DMCLI
internal import DMKit

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
      throw arguments.missing("CONVERSATION").adding(", or pipe the lines of dm-tail into it")
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

  /// The messages that the options choose; nil for none of these options.
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

  /// The operands of `--receipts`: messages, and conversations with ranges after each.
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
  /// Whether its bounds are messages, which belong to one conversation.
  fileprivate var namesMessage: Bool {
    switch self {
    case .before(.message), .since(.message, _), .since(_, before: .message?): true
    case .before, .since, .ranges, .upTo, .all: false
    }
  }
}
