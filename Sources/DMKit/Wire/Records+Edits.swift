package import DMModel
package import DMWire

extension Deletion: Record {
  package func write(to json: inout JSONWriter) { write(to: &json, cursor: nil) }

  func write(to json: inout JSONWriter, cursor: Cursor?) {
    json.object { json in
      json.member("type", "message_deleted")
      json.member("message_id", messageID)
      json.member("conversation_id", conversationID)
      json.member("seq", seq)
      json.member("for_everyone", forEveryone)
      json.member("cursor", cursor)
    }
  }
}

extension Reaction: Record {
  package func write(to json: inout JSONWriter) { write(to: &json, cursor: nil) }

  func write(to json: inout JSONWriter, cursor: Cursor?) {
    json.object { json in
      json.member("type", "reaction")
      json.member("message_id", messageID)
      json.member("conversation_id", conversationID)
      json.member("seq", seq)
      json.member("user", user.description)
      json.member("emoji", emoji)
      json.member("reacted_at", reactedAt)
      json.member("cursor", cursor)
    }
  }
}

extension Edit.Outcome: Record {
  package func write(to json: inout JSONWriter) {
    switch self {
    case .message(let message): message.write(to: &json)
    case .deleted(let deletion): deletion.write(to: &json)
    case .reaction(let reaction): reaction.write(to: &json)
    case .report(let report): report.write(to: &json)
    }
  }
}

extension Report: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "report")
      json.member("message_id", messageID)
      json.member("conversation_id", conversationID)
      json.member("seq", seq)
      json.member("sender", sender.description)
      json.member("user", user.description)
      json.member("reason", reason)
      json.member("text", text)
      json.member("reported_at", reportedAt)
    }
  }
}
