package import DMJSON
package import DMModel

/// A value that is printed as one line.
///
/// `RecordSchema` lists the members of each record, in the order in which they are printed.
package protocol Record {
  func write(to json: inout JSONWriter)
}

extension JSONWriter {
  /// Appends a record as one line.
  ///
  /// - Parameter asOf: the time of the last comparison of the store with its hub; nil for a store without a hub.
  package mutating func line(_ record: some Record, asOf: Timestamp? = nil) {
    record.write(to: &self)
    if let asOf { extendObject { $0.member("as_of", asOf) } }
    endLine()
  }
}

extension JSONWriter {
  /// Appends a record as `line(_:asOf:)` does, with null for each optional member that the record does not have.
  ///
  /// The members with null come last. Records inside of the record are not changed.
  package mutating func completeLine(_ record: some Record, asOf: Timestamp? = nil) throws {
    let start = bytes.count
    record.write(to: &self)
    let object = try JSONReader.object(bytes[start...])
    let fields = object.text("type").flatMap(RecordSchema.named)?.fields ?? []
    let absent = fields.filter { $0.isOptional && object[$0.name] == nil }
    extendObject { json in
      for field in absent {
        json.key(name: field.name)
        json.null()
      }
      json.member("as_of", asOf)
    }
    endLine()
  }
}

extension User: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "user")
      json.member("handle", handle.description)
      json.member("display_name", displayName)
      json.member("bio", bio)
      json.member("avatar_url", avatarURL)
      json.member("shows_presence", showsPresence)
      json.member("sends_read_receipts", sendsReadReceipts)
      json.member("created_at", createdAt)
    }
  }
}

extension Message: Record {
  package func write(to json: inout JSONWriter) { write(to: &json, as: "message") }

  func write(to json: inout JSONWriter, as type: String, changed: [String] = [], cursor: Cursor? = nil) {
    json.object { json in
      json.member("type", type)
      json.member("id", id)
      json.key("ref")
      if let seq { json.value(conversation.reference, colon: seq) } else { json.value(reference) }
      json.member("conversation_id", conversationID)
      json.member("conversation_title", conversation.title)
      json.member("is_group", conversation.isGroup)
      json.member("seq", seq)
      json.member("sender", sender.description)
      json.member("sender_name", senderName)
      json.member("is_mine", isMine)
      json.member("text", text)
      json.member("created_at", createdAt)
      json.member("status", status.rawValue)
      json.member("is_unread", isUnread)
      json.member("read_by_count", readByCount)
      if let readBy { json.member("read_by", handles: readBy) }
      writeContents(to: &json)
      json.member("edited_at", editedAt)
      json.member("expires_at", expiresAt)
      json.member("deleted_at", deletedAt)
      json.member("failure", failure)
      json.member("replaces", replaces)
      json.member("system_kind", systemKind?.rawValue)
      json.member("subject", subject)
      if isDuplicate { json.member("duplicate", true) }
      json.member("line", line)
      json.member("snippet", snippet)
      json.member("likeness", likeness)
      if isTruncated { json.member("is_truncated", true) }
      if !changed.isEmpty { json.member("changed", texts: changed) }
      json.member("cursor", cursor)
    }
  }

  /// Writes the member `reactions`, if there are any.
  ///
  /// - Parameter most: the maximum number of emojis, and of users of each; if there are more, members say how many.
  package func writeReactions(to json: inout JSONWriter, most: Int = .max) {
    if reactions.isEmpty { return }
    json.key("reactions")
    json.array { json in
      for reaction in reactions.prefix(most) {
        json.object { json in
          json.member("emoji", reaction.emoji)
          json.member("users", handles: Array(reaction.users.prefix(most)))
          if reaction.users.count > most { json.member("users_count", reaction.users.count) }
        }
      }
    }
    if reactions.count > most { json.member("reactions_count", reactions.count) }
  }

  /// Writes the members that most messages do not have, such as `reply_to`, `attachments` and `reactions`.
  private func writeContents(to json: inout JSONWriter) {
    if let replyTo {
      json.key("reply_to")
      json.object { json in
        json.member("id", replyTo.id)
        json.member("seq", replyTo.seq)
        json.member("sender", replyTo.sender?.description)
        json.member("text", replyTo.text)
      }
    }
    json.member("forwarded_from", forwardedFrom?.description)
    json.member("nonce", nonce)
    if !attachments.isEmpty {
      json.key("attachments")
      json.array { json in for attachment in attachments { attachment.write(to: &json) } }
    }
    if let linkPreview {
      json.key("link_preview")
      linkPreview.write(to: &json)
    }
    if !mentions.isEmpty { json.member("mentions", handles: mentions) }
    writeReactions(to: &json)
    if let pin {
      json.member("pinned_at", pin.at)
      json.member("pinned_by", pin.user.description)
    }
  }
}

extension Conversation: Record {
  package func write(to json: inout JSONWriter) { write(to: &json, pageCursor: pageCursor?.description) }

  /// - Parameter pageCursor: the cursor of the conversation's position in the list, as text.
  package func write(to json: inout JSONWriter, pageCursor: String?) {
    write(to: &json, as: "conversation", cursor: nil, pageCursor)
  }

  /// - Parameter cursor: the position in the stream for an event; nil for a conversation in a list.
  func write(to json: inout JSONWriter, as type: String, cursor: Cursor?, _ pageCursor: String? = nil) {
    json.object { json in
      json.member("type", type)
      json.member("id", id)
      json.member("name", name)
      json.member("is_group", isGroup)
      json.member("title", title)
      json.member("own_name", ownName)
      json.member("avatar_url", avatarURL)
      json.member("creator", creator?.description)
      if !owners.isEmpty { json.member("owners", handles: owners) }
      json.member("my_role", myRole?.rawValue)
      json.member("participants", handles: participants)
      if let lastMessage {
        json.key("last_message")
        lastMessage.write(to: &json)
      }
      json.member("last_activity_at", lastActivityAt)
      json.member("unread_count", unreadCount)
      json.member("unread_mentions_count", unreadMentionsCount)
      json.member("last_read_seq", lastReadSeq)
      json.member("first_unread_seq", firstUnreadSeq)
      json.member("is_pinned", isPinned)
      json.member("is_muted", mutedUntil != nil)
      json.member("muted_until", mutedUntil == .forever ? nil : mutedUntil)
      json.member("is_archived", isArchived)
      json.member("expire_after", expireAfter.map { Int($0.components.seconds) })
      json.member("draft_text", draftText)
      if let cursor {
        json.member("replaces", replaces)
        json.member("cursor", cursor)
      } else {
        json.member("page_cursor", pageCursor)
      }
    }
  }
}

extension JSONWriter {
  /// Writes a member whose value is an array of handles.
  mutating func member(_ name: StaticString, handles: [Handle]) {
    key(name)
    array(of: handles)
  }

  fileprivate mutating func array(of handles: [Handle]) {
    array { json in for handle in handles { json.value(handle.description) } }
  }

  /// Writes a member whose value is an array of ranges, each as an array of its first and last number.
  mutating func member(_ name: StaticString, ranges: [SeqRange]) {
    key(name)
    array { json in
      for range in ranges {
        json.array { json in
          json.value(range.lowerBound)
          json.value(range.upperBound)
        }
      }
    }
  }
}

extension Receipt: Record {
  package func write(to json: inout JSONWriter) { write(to: &json, cursor: nil) }

  func write(to json: inout JSONWriter, cursor: Cursor?) {
    json.object { json in
      switch kind {
      case .delivery: json.member("type", "delivery_receipt")
      case .read: json.member("type", "read_receipt")
      }
      json.member("conversation_id", conversationID)
      json.member("conversation_title", conversationTitle)
      json.member("user", user.description)
      json.member("ranges", ranges: ranges)
      switch kind {
      case .delivery: json.member("delivered_at", at)
      case .read: json.member("read_at", at)
      }
      json.member("cursor", cursor)
    }
  }
}

extension Marked: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "marked")
      json.member("action", action.rawValue)
      json.member("is_dry_run", isDryRun)
      json.member("conversation_id", conversationID)
      json.member("conversation_title", conversationTitle)
      json.member("ranges", ranges: ranges)
      json.member("marked_count", count)
      json.member("unread_count", unreadCount)
      json.member("marked_at", at)
    }
  }
}

/// An error in a line of input, or in the whole call.
package struct ErrorRecord: Record, Sendable {
  package let line: Int?
  package let error: DMError
  package let message: String

  /// - Parameter message: the text of the error, including what the user can do about it.
  package init(line: Int?, _ error: DMError, message: String) {
    self.line = line
    self.error = error
    self.message = message
  }

  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "error")
      json.member("line", line)
      json.member("code", error.code.rawValue)
      json.member("retryable", error.code.isRetryable)
      json.member("subject", error.subject)
      json.member("nonce", error.nonce)
      json.member("message", message)
    }
  }
}
