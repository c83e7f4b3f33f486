internal import DMCLI
internal import DMKit

extension DMSend {
  /// The action that the options and operands select.
  enum Mode {
    /// Sends JSON lines, each of which names its conversation.
    case jsonLines
    case consumerLines(String)
    /// Sends each line of standard input as a message.
    case textLines(ConversationReference)
    /// - Parameter name: the conversation as it was typed.
    case sendDraft(ConversationReference, name: String)
    case saveDraft(ConversationReference, words: [String])
    case send(to: [ConversationReference], words: [String])
  }

  static func mode(_ arguments: Arguments) throws -> Mode {
    var words = arguments.operands
    var names = try arguments.all(to)
    if names.isEmpty, !words.isEmpty { names = [words.removeFirst()] }
    guard let name = names.first else { return try lineMode(arguments) }
    try arguments.refuse([consumer, skipFailed, stopAtFailed]) {
      "\($0) is for JSON lines on standard input; leave out '\(name)'"
    }
    try arguments.check(messageRules)
    let conversations = try names.map(ConversationReference.init)
    if conversations.count > 1 {
      try arguments.refuse([lines, draft, fromDraft]) { "'\($0)' is for one conversation; leave out all but one --to" }
    }
    if let word = words.first {
      if arguments[lines] { throw arguments.unexpected(word) }
      try arguments.refuse([fromDraft, forward]) { "unexpected '\(word)'; '\($0)' brings its own text" }
    }
    if try arguments[overflow] == .attach { try arguments.check([.excludes(overflow, [lines, draft])]) }
    if arguments[lines] { return .textLines(conversations[0]) }
    if arguments[fromDraft] { return .sendDraft(conversations[0], name: name) }
    if arguments[draft] { return .saveDraft(conversations[0], words: words) }
    return .send(to: conversations, words: words)
  }

  /// The mode when no conversation is named.
  private static func lineMode(_ arguments: Arguments) throws -> Mode {
    let ofMessages: [any Declared] =
      [lines, nonce, replyTo, edit, draft, fromDraft, forward, expiresIn, attach, lossy, overflow]
      + PreparationArguments.options
    try arguments.refuse(ofMessages) { "\($0) needs a conversation; see --help" }
    if isTerminal(.input) { throw arguments.missing("CONVERSATION").adding(", or pipe JSON lines into it") }
    try arguments.check(lineRules)
    return try arguments[consumer].map(Mode.consumerLines) ?? .jsonLines
  }
}
