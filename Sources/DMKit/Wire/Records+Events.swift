package import DMJSON
package import DMModel

extension MessagingEvent: Record {
  package func write(to json: inout JSONWriter) {
    switch self {
    case .message(let message, let cursor): message.write(to: &json, as: "message", cursor: cursor)
    case .messageUpdated(let message, let cursor):
      message.write(to: &json, as: "message_updated", changed: message.update.fields, cursor: cursor)
    case .messageStatus(let status, let cursor): status.write(to: &json, cursor: cursor)
    case .messageDeleted(let deletion, let cursor): deletion.write(to: &json, cursor: cursor)
    case .reaction(let reaction, let cursor): reaction.write(to: &json, cursor: cursor)
    case .messagePin(let pin, let cursor): pin.write(to: &json, cursor: cursor)
    case .readReceipt(let receipt, let cursor), .deliveryReceipt(let receipt, let cursor):
      receipt.write(to: &json, cursor: cursor)
    case .conversationUpdated(let conversation, let cursor):
      conversation.write(to: &json, as: "conversation_updated", cursor: cursor)
    case .typing(let typing): typing.write(to: &json)
    case .presence(let presence): presence.write(to: &json)
    case .hub(let status): status.write(to: &json)
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
  /// The names of the members of the message record that this update may have changed.
  fileprivate var fields: [String] {
    switch self {
    case .edited: ["text"]
    case .ordered: ["seq", "created_at", "status"]
    case .waits: ["text", "status"]
    }
  }
}

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

extension MessagePin: Record {
  package func write(to json: inout JSONWriter) { write(to: &json, cursor: nil) }

  func write(to json: inout JSONWriter, cursor: Cursor?) {
    json.object { json in
      json.member("type", "message_pin")
      json.member("message_id", messageID)
      json.member("conversation_id", conversationID)
      json.member("seq", seq)
      json.member("user", user.description)
      json.member("is_pinned", isPinned)
      json.member("changed_at", changedAt)
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
    case .pin(let pin): pin.write(to: &json)
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

extension Attachment: Record {
  package func write(to json: inout JSONWriter) { write(to: &json) { _ in } }

  func write(to json: inout JSONWriter, _ more: (inout JSONWriter) -> Void) {
    json.object { json in
      json.member("type", "attachment")
      json.member("id", id)
      json.member("kind", kind.rawValue)
      json.member("name", name)
      json.member("mime_type", mimeType)
      json.member("size_bytes", sizeBytes)
      json.member("sha256", sha256.description)
      json.member("width", width)
      json.member("height", height)
      if let duration {
        json.key("duration")
        json.value(seconds: duration)
      }
      if let thumbnail {
        json.key("thumbnail")
        json.object { json in
          json.member("sha256", thumbnail.sha256.description)
          json.member("mime_type", thumbnail.mimeType)
          json.member("size_bytes", thumbnail.sizeBytes)
          json.member("width", thumbnail.width)
          json.member("height", thumbnail.height)
        }
      }
      if let waveform {
        json.key("waveform")
        json.array { json in for level in waveform { json.value(Int(level)) } }
      }
      more(&json)
    }
  }
}

extension SentAttachment: Record {
  package func write(to json: inout JSONWriter) {
    attachment.write(to: &json) { json in
      json.member("message_id", message.id)
      json.member("conversation_id", message.conversationID)
      json.member("seq", message.seq)
      json.member("sender", message.sender.description)
      json.member("created_at", message.createdAt)
    }
  }
}

extension SavedAttachment: Record {
  package func write(to json: inout JSONWriter) { attachment.write(to: &json) { $0.member("path", path) } }
}

/// A line that can be piped into `dm-send`.
///
/// The line has a nonce, so that the message is sent once even if the line is piped twice.
package struct SendLine: Record {
  package let conversation: ConversationReference
  package let text: String?
  package let attachments: [Attachment]

  /// - Throws: the errors of the initializer of `Outgoing`.
  package init(to conversation: ConversationReference, text: String?, attachments: [Attachment]) throws {
    _ = try Outgoing(to: conversation, text: text ?? "", attachments: attachments.map(\.id))
    self.conversation = conversation
    self.text = text
    self.attachments = attachments
  }

  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", RecordSchema.sendLine.name)
      json.member("conversation", conversation.description)
      json.member("text", text)
      json.member("nonce", attachments.first?.id.description)
      json.key("attachments")
      json.array { json in for attachment in attachments { attachment.write(to: &json) } }
    }
  }
}
