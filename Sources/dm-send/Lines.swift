internal import DMCLI
internal import DMKit

extension DMSend {
  static func sendTexts(_ call: Invocation, _ messenger: Messenger, _ conversation: ConversationReference) throws {
    let extras = try extras(call.arguments)
    let texts = try TextOptions(call.arguments)
    try call.answerLines { line, number in
      try Outgoing(
        to: conversation, text: texts.text(line), nonce: extras.nonce.map { "\($0)-\(number)" },
        lifetime: extras.lifetime)
    } nonce: {
      $0.nonce
    } act: {
      try messenger.send($0, once: extras.once)
    } print: { message, line in
      try call.print(call.settled(message), line: line) { answer($0, conversation.description) }
    }
  }

  static func sendLines(_ call: Invocation, _ messenger: Messenger) throws {
    let once = call.arguments[once]
    try call.answerLines { line, _ in
      try Outgoing(line: line)
    } nonce: {
      $0.nonce
    } act: {
      try messenger.send($0, once: once)
    } print: { message, line in
      try call.print(call.settled(message), line: line) { answer($0, $0.conversationID.description) }
    }
  }

  /// A reference to the sent message, ready for --reply-to.
  static func answer(_ message: Message, _ conversation: String) -> String {
    let place = message.seq.map { visible("\(conversation):\($0)") } ?? "\(message.reference) (queued)"
    return place + (message.isDuplicate ? " (sent before)" : "")
  }
}
