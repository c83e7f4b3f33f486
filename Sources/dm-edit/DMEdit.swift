package import DMCLI
internal import DMKit

package struct DMEdit: Program {
  static let forEveryone = Flag("for-everyone", "delete your own messages for all")
  static let remove = Flag("remove", "take the reaction back")
  static let reason = Option("reason", value: "TEXT", "why")

  package static let command = Command(
    "dm-edit", "edit messages, delete them, react to them and report them",
    synopsis: [
      "text MESSAGE [TEXT]...", "text MESSAGE <FILE", "delete [--for-everyone] MESSAGE... | CONVERSATION RANGE...",
      "react EMOJI MESSAGE... | CONVERSATION RANGE...", "react --remove MESSAGE... | CONVERSATION RANGE...",
      "report [--reason TEXT] MESSAGE... | CONVERSATION RANGE...", "text|delete|react|report <MESSAGE-LINES",
    ],
    options: [wait],
    subcommands: [
      Command.Subcommand("text", operands: "MESSAGE [TEXT]...", "change the text of your own message", run: setText),
      Command.Subcommand(
        "delete", operands: "MESSAGE...", "delete messages for yourself", options: [forEveryone]
      ) { try edit(.delete(forEveryone: $0.arguments[forEveryone]), $0.arguments.operands, $0) },
      Command.Subcommand(
        "react", operands: "EMOJI MESSAGE...", "react with an emoji, at most one for each message", options: [remove],
        operandsWith: [(remove, "MESSAGE...")], run: react),
      Command.Subcommand(
        "report", operands: "MESSAGE...", "report messages: the owner of the store gets a copy",
        options: [reason]
      ) { try edit(.report(reason: $0.arguments[reason]), $0.arguments.operands, $0) },
    ],
    examples: [
      ("dm-edit text +ops:-1 'deployed at one'", "correct the last message"),
      ("df -h / | dm-edit text +ops:-1", "the same with a text from a pipe; on a terminal an editor opens"),
      ("dm-edit delete bob 40..57", "delete those messages for yourself"),
      ("dm-edit delete --for-everyone +ops:-1", "take back your last message"),
      ("dm-edit react 👍 bob:-1", "agree"),
      ("dm-edit react :tada: bob:-1", "the same with the short code of an emoji"),
      ("dm-tail bob -n 20 | dm-edit react 👀", "react to each of the last 20"),
    ], reads: "edit_line", writes: ["message", "message_deleted", "reaction", "report", "error"])

  /// Applies one action to the messages of the operands, or of the lines of standard input if there are no operands.
  static func edit(_ act: Edit.Act, _ operands: [String], _ call: Invocation) throws {
    if operands.isEmpty { return try editLines(call) { _ in act } }
    let messages = try references(operands, call, wordsOnly: Edit.needsUserMessage(act))
    try edit(messages.map { try Edit($0.message, typedAs: $0.typed, act) }, call)
  }

  /// The messages that operands name, singly or as ranges of a conversation; of a range only those that the user sees.
  private static func references(
    _ operands: [String], _ call: Invocation, wordsOnly: Bool
  ) throws -> [(message: MessageReference, typed: MessageReference)] {
    // `bob 40..57 60`, where the second word is a range.
    let isSpread = operands.count > 1 && RangeReference(operands[1]) != nil
    if isSpread || operands.contains(where: { $0.contains("..") || dottedRange($0) != nil }) {
      let (conversations, ranges) = try call.arguments.conversationsAndRanges(operands, several: false)
      guard let conversation = conversations.first, let ranges else { throw call.arguments.missing("RANGE") }
      let messages = try call.messenger().messages(in: conversation, ranges)
      if messages.isEmpty {
        throw DMError(
          .unknownMessage,
          "no message '\(operands.joined(separator: " "))' that you can see; dm-tail prints what you can see",
          subject: operands.joined(separator: " "))
      }
      // By their ids, because a title may be another group's by now.
      return messages.filter { !wordsOnly || !$0.isAnnouncement }.map {
        (.id($0.id), .number($0.number, in: conversation))
      }
    }
    return try operands.map(MessageReference.init).map { ($0, $0) }
  }

  static func edit(_ batch: [Edit], _ call: Invocation) throws {
    let messenger = try call.messenger()
    // A single message fails like any other call; of several, each is answered.
    for (index, result) in try messenger.edit(batch).enumerated() {
      switch result {
      case .success(let outcome): try call.print(outcome) { text(of: $0, for: messenger.identity.handle) }
      case .failure(let error):
        if batch.count == 1 { throw error }
        try call.fail(line: index + 1, error)
      }
    }
  }
}
