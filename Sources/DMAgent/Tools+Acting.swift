internal import DMKit
internal import DMWire

extension AgentTool {
  /// The tools that other users notice.
  static let acting = [send, react, markRead]

  private static let send = AgentTool(
    .send, title: "Send a message",
    "Sends a message to a conversation, and returns it when it is stored. Call again with the same nonce if the answer "
      + "is lost: the message is sent once.", .adds
  ) { arguments, scope in
    let message = try scope.messenger.send(
      Outgoing(
        to: arguments.requiredConversation(), text: arguments.required("text"),
        nonce: arguments.required("nonce"), replyTo: arguments.message("reply_to"),
        lifetime: arguments.text("expires_in").map(duration)))
    let sent = try scope.labelled([message])
    return { json in
      json.key("message")
      for message in sent { message.write(to: &json) }
    }
  }

  private static let react = AgentTool(
    .react, title: "React to a message",
    "Sets your reaction to a message, of which there is at most one, or takes it back.", .replaces
  ) { arguments, scope in
    let emoji = arguments.required("emoji")
    let reference = try arguments.requiredMessage("message")
    let outcomes = try scope.messenger.edit([Edit(reference, .react(emoji.isEmpty ? nil : emoji))])
    let outcome = try outcomes[0].get()
    return { json in
      json.key("reaction")
      outcome.write(to: &json)
    }
  }

  private static let markRead = AgentTool(
    .markRead, title: "Mark messages as read",
    "Marks the messages of a conversation up to one of them as read, which their senders see.", .adds
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
