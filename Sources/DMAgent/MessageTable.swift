internal import DMJSON
internal import DMKit

/// Messages as an agent gets them: rows of a table, before which stands once what all of them share.
///
/// A record for each message, as the programs print it, would be more than three times as long.
struct MessageTable {
  private let messages: [Message]
  private let user: Handle
  /// Whether all messages have the conversation, the sender or the date of the first.
  private let hasOneConversation: Bool
  private let hasOneSender: Bool
  private let hasOneDate: Bool
  /// Whether all messages of others are unread.
  private let areUnread: Bool
  private let anchor: Int

  /// - Parameters:
  ///   - user: the user who sees the messages.
  ///   - anchor: the index of the message beside which messages are kept if they do not all fit.
  init(_ messages: [Message], for user: Handle, around anchor: Int) {
    (self.messages, self.user, self.anchor) = (messages, user, anchor)
    let first = messages.first
    hasOneConversation = messages.allSatisfy { $0.conversationID == first?.conversationID }
    hasOneSender = messages.allSatisfy { $0.sender == first?.sender }
    hasOneDate = messages.allSatisfy { $0.createdAt.date == first?.createdAt.date }
    areUnread = messages.contains(where: \.isUnread) && messages.allSatisfy { $0.isUnread || $0.isMine }
  }

  /// Writes the members of an object: what the messages share, the names of the columns, and the rows.
  func write(to json: inout JSONWriter) {
    if let first = messages.first {
      json.member("you", user.description)
      if hasOneConversation {
        json.member("conversation", first.conversation.reference)
        json.member("title", first.conversation.titleBesideReference)
      }
      if hasOneSender { json.member("sender", first.sender.description) }
      if hasOneDate { json.member("date", first.createdAt.date) }
      if areUnread { json.member("unread", true) }
      json.member(
        "columns",
        texts: [hasOneConversation ? "seq" : "ref", "time"] + (hasOneSender ? [] : ["sender"]) + ["text", "more"])
    }
    let rows = rows()
    let fitting = Budget.fitting(rows.map(\.count), around: anchor)
    json.key("messages")
    json.array { json in
      for (index, row) in rows[fitting].enumerated() {
        if index > 0 { json.append(raw: ",") }
        json.append(lines: row)
      }
    }
    if fitting.lowerBound > 0 { json.member("left_out_before", fitting.lowerBound) }
    if fitting.upperBound < rows.count { json.member("left_out_after", rows.count - fitting.upperBound) }
  }

  /// The rows, whose texts are cut if they are too long for one answer together.
  private func rows() -> [[UInt8]] {
    var rows: [[UInt8]] = []
    for limit in Budget.texts {
      let least = messages.reduce(0) { $0 + min($1.text?.utf8.count ?? 0, limit) }
      if least > Budget.answer, limit != Budget.texts.last { continue }
      rows = messages.map { message in
        var json = JSONWriter()
        write(message, limit, to: &json)
        return json.bytes
      }
      if rows.reduce(0, { $0 + $1.count }) <= Budget.answer { break }
    }
    return rows
  }

  private func write(_ message: Message, _ limit: Int, to json: inout JSONWriter) {
    let text = message.text.map { Budget.cut($0, to: limit) }
    json.array { json in
      switch message.seq {
      case nil where hasOneConversation: json.null()
      case nil: json.value(message.reference)
      case let seq? where hasOneConversation: json.value(seq)
      case let seq?: json.value(message.conversation.reference, colon: seq)
      }
      json.value(hasOneDate ? message.createdAt.clock : message.createdAt.inSeconds)
      if !hasOneSender { json.value(message.sender.description) }
      if let text { json.value(text) } else { json.null() }
      var more = JSONWriter()
      more.object { json in
        let bytes = message.text?.utf8.count
        if bytes != text?.utf8.count { json.member("cut_from_bytes", bytes) }
        writeMore(message, to: &json)
      }
      if more.bytes.count > "{}".utf8.count {
        json.append(raw: ",")
        json.append(lines: more.bytes)
      }
    }
  }

  /// Writes the members that most messages do not have.
  private func writeMore(_ message: Message, to json: inout JSONWriter) {
    if message.seq == nil { json.member("id", message.id) }
    if !hasOneConversation { json.member("title", message.conversation.titleBesideReference) }
    if message.isUnread, !areUnread { json.member("unread", true) }
    if message.isMine, message.status != .sent { json.member("status", message.status.rawValue) }
    json.member("failure", message.failure)
    if let reply = message.replyTo {
      json.key("reply_to")
      if let seq = reply.seq { json.value(seq) } else { json.value(reply.id) }
    }
    json.member("forwarded_from", message.forwardedFrom?.description)
    if message.mentions.contains(user) { json.member("mentions_you", true) }
    writeContents(message, to: &json)
    json.member("pinned_by", message.pin?.user.description)
    if message.editedAt != nil { json.member("edited", true) }
    json.member("expires_at", message.expiresAt?.inSeconds)
    if message.deletedAt != nil { json.member("deleted", true) }
    json.member("system", message.systemKind?.rawValue)
    json.member("subject", message.subject)
    // A snippet has two marks at each hit. One that is shorter than the text shows where in the text the hits are.
    if let snippet = message.snippet, let text = message.text, snippet.utf8.count < text.utf8.count {
      json.member("snippet", snippet)
    }
  }

  private func writeContents(_ message: Message, to json: inout JSONWriter) {
    if !message.attachments.isEmpty {
      json.key("attachments")
      json.array { json in for attachment in message.attachments { attachment.writeShort(to: &json) } }
    }
    if let preview = message.linkPreview {
      json.key("link_preview")
      json.object { json in
        json.member("title", preview.title)
        json.member("description", preview.description)
      }
    }
    message.writeReactions(to: &json, most: Budget.names)
  }
}

extension Attachment {
  func writeShort(to json: inout JSONWriter) {
    json.object { json in
      json.member("name", name)
      json.member("type", mimeType)
      json.member("bytes", sizeBytes)
    }
  }
}

extension Message {
  /// The message as the answer to the agent that has sent or edited it, without its text.
  func writeReceipt(to json: inout JSONWriter) {
    json.object { json in
      json.member("ref", reference)
      json.member("id", id)
      json.member("time", createdAt.inSeconds)
      if status != .sent { json.member("status", status.rawValue) }
      if isDuplicate { json.member("duplicate", true) }
    }
  }
}

extension ConversationLabel {
  /// The title of a group whose reference is its id; nil if the reference has the title.
  fileprivate var titleBesideReference: String? { isGroup && !reference.hasPrefix("+") ? title : nil }
}

extension Timestamp {
  /// `2026-11-21T14:30:00Z`: the time without the fraction of its second.
  var inSeconds: String { "\(description.prefix(19))Z" }
  fileprivate var date: String { String(description.prefix(10)) }
  fileprivate var clock: String { String(description.dropFirst(11).prefix(8)) }
}

extension Conversation {
  /// Writes the conversation for a list.
  ///
  /// - Parameter last: the last message, with the reference that the agent uses.
  func writeShort(_ last: Message?, for user: Handle, to json: inout JSONWriter) {
    let others = participants.filter { $0 != user }
    let reference = last?.conversation.reference ?? (isGroup ? id.description : (others.first ?? user).description)
    json.object { json in
      json.member("conversation", reference)
      if !reference.without("+").utf8.elementsEqual(name.utf8) { json.member("name", name) }
      if isGroup {
        json.member("participants", texts: others.prefix(Budget.names).map(\.description))
        if others.count > Budget.names { json.member("participants_count", participants.count) }
      }
      if let myRole, myRole != .member { json.member("my_role", myRole.rawValue) }
      if unreadCount > 0 {
        json.member("unread", unreadCount)
        json.member("first_unread_seq", firstUnreadSeq)
      }
      if unreadMentionsCount > 0 { json.member("unread_mentions", unreadMentionsCount) }
      if isPinned { json.member("pinned", true) }
      if mutedUntil != nil { json.member("muted", true) }
      if isArchived { json.member("archived", true) }
      guard let last else { return json.member("last_activity_at", lastActivityAt.inSeconds) }
      json.key("last")
      last.writePreview(to: &json)
    }
  }
}

extension Message {
  fileprivate func writePreview(to json: inout JSONWriter) {
    json.object { json in
      json.member("seq", seq)
      json.member("time", createdAt.inSeconds)
      json.member("sender", sender.description)
      json.member("text", text.map { Outgoing.cut($0, to: 120) })
      if !attachments.isEmpty { json.member("attachments", attachments.count) }
      json.member("system", systemKind?.rawValue)
      json.member("subject", subject)
    }
  }
}
