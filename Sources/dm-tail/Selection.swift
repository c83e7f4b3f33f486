internal import DMCLI
internal import DMKit

// The options that choose messages by their sender, their mentions or their thread, messages that are named one by one,
// and complete records.

extension DMTail {
  static let from = Option("from", user: "USER", "print only messages from this sender")
  static let mentions = Flag("mentions", "print only messages that mention you")
  static let thread = Option(
    "thread", value: "MESSAGE", "print only this message, what it answers, and all answers to it",
    as: MessageReference.init)
  static let notify = Flag(
    "notify", "print only messages of which you want to be notified, by the settings of dm-config(5)")
  static let allFields = Flag("all-fields", "as JSON: print members that a record does not have as null")

  /// Whether the options choose single messages of a conversation.
  ///
  /// Delivery marks include all earlier messages, also those that were not chosen, so such messages get none.
  static func choosesMessages(_ arguments: Arguments) -> Bool {
    [from, mentions, thread, notify].contains(where: arguments.isGiven)
  }

  /// The message of `--thread`.
  ///
  /// - Throws: `usage` if it does not go with the conversations.
  static func chosenThread(
    _ arguments: Arguments, _ conversations: [ConversationReference]
  ) throws -> MessageReference? {
    guard let message = try arguments[thread] else { return nil }
    if conversations.count > 1 { throw usage("a thread is in one conversation; name only that one") }
    return message
  }

  /// The conversation that is written in the message of `--thread`; empty without one.
  static func conversationOfThread(_ arguments: Arguments) throws -> [ConversationReference] {
    guard case .number(_, in: let conversation?)? = try arguments[thread] else { return [] }
    return [conversation]
  }

  /// Lets a stream have only events about the chosen messages.
  ///
  /// - Throws: `usage` if `--events` names none of them.
  static func select(
    _ call: Invocation, _ conversations: [ConversationReference], in query: inout EventQuery
  ) throws {
    let arguments = call.arguments
    guard choosesMessages(arguments) else { return }
    query.sender = try arguments[from]
    query.mentionsOnly = arguments[mentions]
    query.thread = try chosenThread(arguments, conversations)
    if arguments[notify] {
      query.notifications = try NotificationRule(call.settings)
      query.unmutedOnly = true
      query.kinds.formIntersection([.message, .hub])
    }
    query.marksDelivered = false
    query.kinds.formIntersection([.message, .messageUpdated, .messageDeleted, .reaction, .messagePin, .hub])
    if query.kinds.isEmpty {
      throw usage(
        arguments[notify]
          ? "with --notify, --events has message"
          : """
          with --from, --mentions or --thread, --events has message, message_updated, message_deleted, reaction or \
          message_pin
          """)
    }
  }

  /// The messages of operands such as `bob:1 +ops:7`, in the order of the operands; nil if the operands name ranges, or
  /// messages of only one conversation.
  static func messagesByReference(_ call: Invocation) throws -> [Message]? {
    let arguments = call.arguments
    var references: [MessageReference] = []
    var conversations: Set<ConversationReference> = []
    for operand in arguments.operands {
      if case .id(let id) = try ConversationReference(operand) {
        references.append(.id(id))
      } else if let (conversation, range) = try splitReference(operand), let number = range.from, range.to == number {
        references.append(.number(number, in: conversation))
        conversations.insert(conversation)
      } else {
        return nil
      }
    }
    let hasID = references.contains { if case .id = $0 { true } else { false } }
    guard conversations.count > 1 || hasID && !conversations.isEmpty else { return nil }
    let messages = try call.messenger().messages(references, includesReaders: arguments[with] == .readers)
    try arguments.refuseOwn(except: messageOptions) {
      "'\($0)' is for conversations, and '\(arguments.operands[0])' is a message; leave out '\($0)'"
    }
    return messages
  }

  /// The options that go with messages that are named one by one.
  static let messageOptions: [any Declared] = [with, read, peek, allFields]

  /// With `--all-fields`, prints all members of each record.
  ///
  /// - Throws: `usage` if records are not printed as JSON.
  static func completeFields(_ call: Invocation) throws {
    guard call.arguments[allFields] else { return }
    guard call.isJSON else { throw usage("'--all-fields' is for JSON; add --json") }
    call.output.hasAllFields = true
  }
}
