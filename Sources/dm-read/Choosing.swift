internal import DMCLI
internal import DMKit

extension DMRead {
  static func options(_ arguments: Arguments) throws -> Messenger.MarkOptions {
    try arguments.exclude("unread", "delivered")
    try arguments.exclude("private", beside: "unread", "delivered")
    try arguments.exclude("from", "delivered")
    try arguments.exclude("muted", "unmuted")
    var options = Messenger.MarkOptions()
    options.act = arguments.has("unread") ? .unread : arguments.has("delivered") ? .delivered : .read
    options.isDryRun = arguments.has("dry-run")
    options.isPrivate = arguments.has("private")
    options.sender = arguments.value("from")?.without("@")
    return options
  }

  static func target(_ arguments: Arguments) throws -> ReadTarget? {
    try arguments.exclude("up-to", "before", "all")
    try arguments.exclude("since", beside: "up-to", "all")
    if let message = arguments.value("up-to") { return .upTo(try MessageReference(message)) }
    let before = try arguments.value("before").map(messageOrTime)
    if let since = try arguments.value("since").map(messageOrTime) { return .since(since, before: before) }
    if let before { return .before(before) }
    return arguments.has("all") ? .all : nil
  }

  /// The operands of `--receipts`: messages, and conversations each with ranges after it.
  static func selections(_ operands: [String]) throws -> [MessageSelection] {
    var selections: [MessageSelection] = []
    var rest = operands[...]
    while let operand = rest.popFirst() {
      var ranges: [RangeReference] = []
      while let next = rest.first, let range = RangeReference(next) {
        ranges.append(range)
        rest.removeFirst()
      }
      if ranges.isEmpty {
        if let (conversation, range) = try splitReference(operand), range.from != range.to {
          selections.append(.ranges([range], in: conversation))
        } else {
          selections.append(.message(try MessageReference(operand)))
        }
      } else if let (conversation, range) = try splitReference(operand) {
        selections.append(.ranges([range] + ranges, in: conversation))
      } else {
        selections.append(.ranges(ranges, in: try ConversationReference(operand)))
      }
    }
    if selections.isEmpty { throw usage("--receipts needs messages: write bob:57, or bob 40..57") }
    return selections
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

extension ReadTarget {
  /// Whether its bounds are messages, which belong to one conversation.
  var namesMessage: Bool {
    switch self {
    case .before(.message), .since(.message, _), .since(_, before: .message?): true
    case .before, .since, .ranges, .upTo, .all: false
    }
  }
}
