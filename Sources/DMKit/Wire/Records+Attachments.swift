package import DMModel
package import DMWire

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
/// It bears a nonce, so that sending it twice sends once.
package struct SendLine: Record {
  package let conversation: ConversationReference
  package let text: String?
  package let attachments: [Attachment]

  /// - Throws: what `Outgoing` throws of it.
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
