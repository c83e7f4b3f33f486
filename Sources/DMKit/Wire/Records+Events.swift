package import DMModel
package import DMWire

extension MessagingEvent: Record {
  package func write(to json: inout JSONWriter) {
    switch self {
    case .message(let message, let cursor): message.write(to: &json, as: "message", cursor: cursor)
    case .messageUpdated(let message, let cursor):
      message.write(to: &json, as: "message_updated", changed: message.update.fields, cursor: cursor)
    case .messageStatus(let status, let cursor): status.write(to: &json, cursor: cursor)
    case .messageDeleted(let deletion, let cursor): deletion.write(to: &json, cursor: cursor)
    case .reaction(let reaction, let cursor): reaction.write(to: &json, cursor: cursor)
    case .readReceipt(let receipt, let cursor), .deliveryReceipt(let receipt, let cursor):
      receipt.write(to: &json, cursor: cursor)
    case .conversationUpdated(let conversation, let cursor):
      conversation.write(to: &json, as: "conversation_updated", cursor: cursor)
    case .typing(let typing): typing.write(to: &json)
    case .presence(let presence): presence.write(to: &json)
    case .caughtUp(let cursor): Self.write("caught_up", cursor, to: &json)
    case .heartbeat(let cursor): Self.write("heartbeat", cursor, to: &json)
    case .gap(let from, let to):
      json.object { json in
        json.member("type", "gap")
        json.member("from", from)
        json.member("to", to)
        json.member("cursor", to)
      }
    }
  }

  private static func write(_ type: String, _ cursor: Cursor, to json: inout JSONWriter) {
    json.object { json in
      json.member("type", type)
      json.member("cursor", cursor)
    }
  }
}

extension MessageStatus {
  func write(to json: inout JSONWriter, cursor: Cursor) {
    json.object { json in
      json.member("type", "message_status")
      json.member("conversation_id", conversationID)
      json.member("conversation_title", conversationTitle)
      json.member("sender", sender.description)
      json.member("status", status.rawValue)
      json.member("ranges", ranges: ranges)
      json.member("user", user.description)
      json.member("cursor", cursor)
    }
  }
}

extension Typing: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "typing")
      json.member("conversation_id", conversationID)
      json.key("users")
      json.array { json in for user in users { json.value(user.description) } }
    }
  }
}

extension Presence: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "presence")
      json.member("user", user.description)
      json.member("is_online", isOnline)
      json.member("last_seen_at", lastSeenAt)
    }
  }
}

extension Acknowledgement: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "ack")
      json.member("consumer", consumer)
      json.member("cursor", cursor)
    }
  }
}

extension Consumer: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "consumer")
      json.member("name", name)
      json.member("cursor", cursor)
      json.member("behind_count", behindCount)
      json.member("skipped_count", skippedCount)
      json.member("used_at", usedAt)
    }
  }
}

extension Message.Update {
  /// The members of a record that may have changed.
  fileprivate var fields: [String] {
    switch self {
    case .edited: ["text"]
    case .ordered: ["seq", "created_at", "status"]
    case .waits: ["text", "status"]
    }
  }
}
