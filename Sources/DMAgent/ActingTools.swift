internal import DMJSON
internal import DMKit

extension AgentTool {
  /// The tools that change something.
  static func acting(sendsFiles: Bool) -> [AgentTool] {
    [send(files: sendsFiles), react, markRead, editMessage, deleteMessage]
  }

  private static func send(files: Bool) -> AgentTool {
    AgentTool(
      answering: files ? .sendWithFiles : .send,
      "Sends a message to a conversation, and returns its ref and id when it is stored. If the answer is lost, call again "
        + "with the same nonce: the message is sent only once.", .adds
    ) { arguments, scope in
      let conversation = try scope.writable(arguments.requiredConversation())
      let nonce = arguments.required("nonce")
      let message = try scope.send(nonce, to: conversation) {
        let attachments = try arguments.text("file").map { name in
          try scope.messenger.checkMaySend(to: conversation)
          return [try scope.attach(name)]
        }
        return try scope.messenger.send(
          Outgoing(
            to: conversation, text: arguments.required("text"), nonce: nonce, replyTo: arguments.message("reply_to"),
            lifetime: arguments.text("expires_in").map(duration), attachments: attachments ?? []))
      }
      return try receipt(of: message, scope)
    }
  }

  /// What the agent gets for a message that it has sent or edited.
  private static func receipt(of message: Message, _ scope: Scope) throws -> Answer {
    let labeled = try scope.labeled([message])
    return answer(.message(message), "message", labeled[0].writeReceipt)
  }

  private static func answer(
    _ outcome: Edit.Outcome, _ name: StaticString, _ write: @escaping (inout JSONWriter) -> Void
  ) -> Answer {
    Answer(
      members: { json in
        json.key(name)
        write(&json)
      }, changed: outcome.changed)
  }

  private static let react = AgentTool(
    answering: .react,
    "Sets your reaction to a message, or removes it. You can have one reaction to each message.", .replaces
  ) { arguments, scope in
    let emoji = arguments.required("emoji")
    let outcome = try scope.change(arguments.requiredMessage("message"), .react(emoji.isEmpty ? nil : emoji))
    return answer(outcome, "reaction", outcome.write)
  }

  private static let editMessage = AgentTool(
    answering: .editMessage, "Replaces the text of a message that you have sent.", .replaces
  ) { arguments, scope in
    let outcome = try scope.change(arguments.requiredMessage("message"), .text(arguments.required("text")))
    guard case .message(let message) = outcome else { return answer(outcome, "message", outcome.write) }
    return try receipt(of: message, scope)
  }

  private static let deleteMessage = AgentTool(
    answering: .deleteMessage,
    "Deletes a message for yourself, or with for_everyone a message that you have sent for all. This cannot be undone.",
    .replaces
  ) { arguments, scope in
    let outcome = try scope.change(
      arguments.requiredMessage("message"), .delete(forEveryone: arguments.flag("for_everyone")))
    return answer(outcome, "deleted", outcome.write)
  }

  private static let markRead = AgentTool(
    .markRead,
    "Marks a message and all earlier messages of its conversation as read. Their senders see this.", .adds
  ) { arguments, scope in
    let conversation = try arguments.requiredConversation()
    let last = try arguments.requiredMessage("up_to")
    let marked = try scope.messenger.markRead(.upTo(last), in: conversation)
    return { json in
      guard let marked else { return }
      json.key("marked")
      marked.write(to: &json)
    }
  }
}

extension Edit.Outcome {
  fileprivate var changed: AgentTool.Changed? {
    switch self {
    case .message(let message):
      AgentTool.Changed(conversation: message.conversationID, seq: message.seq, message: message.id)
    case .deleted(let deletion):
      AgentTool.Changed(conversation: deletion.conversationID, seq: deletion.seq, message: deletion.messageID)
    case .reaction(let reaction):
      AgentTool.Changed(conversation: reaction.conversationID, seq: reaction.seq, message: reaction.messageID)
    default: nil
    }
  }
}
