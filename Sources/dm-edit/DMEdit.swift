internal import DMCLI
internal import DMKit

@main struct DMEdit: Program {
  static let command = Command(
    "dm-edit", "edit messages, delete them, react to them and report them",
    synopsis: [
      "text MESSAGE TEXT...", "delete [--for-everyone] MESSAGE... | CONVERSATION RANGE...",
      "react EMOJI MESSAGE... | CONVERSATION RANGE...", "react --remove MESSAGE... | CONVERSATION RANGE...",
      "report [--reason TEXT] MESSAGE... | CONVERSATION RANGE...", "text|delete|react|report <MESSAGE-LINES",
    ],
    subcommands: [
      Command.Subcommand("text", operands: "MESSAGE TEXT...", "give a message of one's own another text"),
      Command.Subcommand(
        "delete", operands: "MESSAGE...", "delete messages for oneself",
        options: [Declaration("for-everyone", "delete messages of one's own for all")]),
      Command.Subcommand(
        "react", operands: "EMOJI MESSAGE...", "react by an emoji, one a message",
        options: [Declaration("remove", "take the reaction back")]),
      Command.Subcommand(
        "report", operands: "MESSAGE...", "report messages to whoever runs the store, who gets a copy",
        options: [Declaration("reason", value: "TEXT", "why")]),
    ],
    examples: [
      ("dm-edit text +ops:-1 'deployed at one'", "correct the last message"),
      ("dm-edit delete bob 40..57", "delete those messages for oneself"),
      ("dm-edit delete --for-everyone +ops:-1", "take back what one has said"),
      ("dm-edit react 👍 bob:-1", "agree"),
      ("dm-tail bob -n 20 | dm-edit react 👀", "react to each of the last 20"),
    ], reads: "edit_line", writes: ["message", "message_deleted", "reaction", "report", "error"])

  static func run(_ call: Invocation) throws {
    let messenger = try call.messenger()
    var operands = call.arguments.operands[...]
    let act = try act(call.arguments, &operands)
    guard let first = operands.popFirst() else {
      if isTerminal(.input) { throw usage("name a message, or pipe the lines of dm-tail into it; see --help") }
      return try editLines(call, messenger, act)
    }
    if act == .text {
      guard !operands.isEmpty else { throw usage("TEXT is missing; see --help") }
      let text = operands.joined(separator: " ")
      return try edit([Edit(MessageReference(first), .text(text))], call, messenger)
    }
    let edit = try act.act(text: nil)
    let messages = try references([first] + operands, messenger, wordsOnly: Edit.isForWords(edit))
    try self.edit(messages.map { try Edit($0, edit) }, call, messenger)
  }

  /// The messages that operands name, one by one or as ranges of a conversation; of a range those that one sees.
  static func references(_ operands: [String], _ messenger: Messenger, wordsOnly: Bool) throws -> [MessageReference] {
    // `bob 40..57 60`, where the second word is a range.
    let isSpread = operands.count > 1 && RangeReference(operands[1]) != nil
    if isSpread || operands.contains(where: { $0.contains("..") }) {
      let (conversations, ranges) = try conversationsAndRanges(operands, several: false)
      guard let conversation = conversations.first, let ranges else { throw usage("RANGE is missing; see --help") }
      let messages = try messenger.messages(in: conversation, ranges)
      if messages.isEmpty {
        throw DMError(
          .unknownMessage,
          "there is no message '\(operands.joined(separator: " "))' that you can see; dm-tail prints those",
          subject: operands.joined(separator: " "))
      }
      return messages.filter { !wordsOnly || $0.systemKind == nil }.map { .id($0.id) }
    }
    return try operands.map(MessageReference.init)
  }

  static func edit(_ batch: [Edit], _ call: Invocation, _ messenger: Messenger) throws {
    let me = messenger.identity.handle
    // One that was named alone fails like any other call; of several each is answered.
    for (index, result) in try messenger.edit(batch).enumerated() {
      switch result {
      case .success(let outcome): try call.print(outcome) { text(of: $0, for: me) }
      case .failure(let error):
        if batch.count == 1 { throw error }
        try call.fail(line: index + 1, error)
      }
    }
  }
}
