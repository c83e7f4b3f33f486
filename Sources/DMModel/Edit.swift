/// An action on a message.
public struct Edit: Sendable {
  /// What to do to the message.
  public enum Act: Equatable, Sendable {
    /// Replaces the text.
    case text(String)
    /// Deletes the message for all, or for the user only.
    case delete(forEveryone: Bool)
    /// Sets the user's only reaction to the message; nil removes it.
    case react(String?)
    /// Reports the message to the operators of the store, with a reason of at most 1,024 bytes.
    case report(reason: String?)
    /// Pins the message for everybody in the conversation, or unpins it.
    case pin(Bool)
  }

  /// The message, which the user must be able to see.
  package let message: MessageReference
  /// The reference to the message that is printed in errors.
  package private(set) var typed: MessageReference
  /// What to do to the message.
  package let act: Act

  /// The maximum number of bytes of an emoji; a long emoji, the kiss of two people with skin tones, has 35.
  static let emojiLimit = 64

  /// The maximum number of bytes of a reason.
  package static let reasonLimit = 1024

  /// Makes an action on a message that the user sees.
  ///
  /// - Throws: `empty_text`, `text_too_long`, `bad_field`.
  public init(_ message: MessageReference, _ act: Act) throws(DMError) {
    switch act {
    case .text(let text):
      try Outgoing.check(text: text)
      try Outgoing.refuseBlank(text)
    case .react(let emoji?): try Self.check(emoji: emoji)
    case .report(let reason?):
      guard reason.utf8.count <= Self.reasonLimit, !reason.contains(byte: 0) else {
        throw DMError(
          .badField, "a reason has at most \(Self.reasonLimit) bytes and no NUL; shorten it", subject: "reason")
      }
    case .delete, .react(nil), .report(nil), .pin: break
    }
    self.message = message
    typed = message
    self.act = act
  }

  /// Makes an action whose errors contain the reference that the user typed, instead of `message`.
  package init(_ message: MessageReference, typedAs typed: MessageReference, _ act: Act) throws(DMError) {
    try self.init(message, act)
    self.typed = typed
  }

  /// Whether the action is possible only on messages from users, not on announcements.
  package static func needsUserMessage(_ act: Act) -> Bool { act != .delete(forEveryone: false) }

  /// The result of an action on a message.
  public enum Outcome: Equatable, Sendable {
    /// The edited message.
    case message(Message)
    /// The message was deleted.
    case deleted(Deletion)
    /// The reaction was set or removed.
    case reaction(Reaction)
    /// The message was reported.
    case report(Report)
    /// The message was pinned or unpinned.
    case pin(MessagePin)
  }

  /// - Throws: `bad_field` if the text is not one emoji as users see it (unicode.org/reports/tr51, section 1.4.9).
  package static func check(emoji: String) throws(DMError) {
    guard emoji.utf8.count <= emojiLimit, emoji.count == 1, emoji.unicodeScalars.last != "\u{200D}",
      let first = emoji.unicodeScalars.first, isEmoji(first, emoji.unicodeScalars)
    else {
      throw DMError(.badField, "'\(emoji)' is not one emoji; react with one, such as 👍", subject: "emoji")
    }
  }

  private static func isEmoji(_ first: Unicode.Scalar, _ all: String.UnicodeScalarView) -> Bool {
    let (picture, keycap, joiner): (Unicode.Scalar, Unicode.Scalar, Unicode.Scalar) = (
      "\u{FE0F}", "\u{20E3}", "\u{200D}"
    )
    let rest = all.dropFirst()
    // A flag is two regional indicators.
    if (0x1F1E6...0x1F1FF).contains(first.value) {
      return rest.count == 1 && rest.allSatisfy { (0x1F1E6...0x1F1FF).contains($0.value) }
    }
    let isPicture = first.properties.isEmoji && (first.value >= 0x2000 || rest.first == picture)
    // A digit is part of an emoji only in a keycap.
    if first.value < 0x80, rest.last != keycap { return false }
    return isPicture
      && rest.allSatisfy { scalar in
        scalar == picture || scalar == keycap || scalar == joiner || scalar.properties.isEmojiModifier
          || scalar.properties.isEmoji && scalar.value >= 0x2000 || (0xE0020...0xE007F).contains(scalar.value)
      }
  }
}

/// The deletion or the expiry of a message, for the user only or for all.
public struct Deletion: Equatable, Sendable {
  /// The id of the message.
  public let messageID: Identifier
  /// The id of the conversation.
  public let conversationID: Identifier
  /// The number of the message in the conversation; nil if the message never got a number.
  public let seq: Int?
  /// Whether the message was deleted for all, not for the user only.
  public let forEveryone: Bool

  package init(messageID: Identifier, conversationID: Identifier, seq: Int?, forEveryone: Bool) {
    self.messageID = messageID
    self.conversationID = conversationID
    self.seq = seq
    self.forEveryone = forEveryone
  }
}

/// A reaction that a user added to a message or removed.
public struct Reaction: Equatable, Sendable {
  /// The id of the message.
  public let messageID: Identifier
  /// The id of the conversation.
  public let conversationID: Identifier
  /// The number of the message in the conversation.
  public let seq: Int
  /// The user who reacted.
  public let user: Handle
  /// The emoji; nil if the reaction was removed.
  public let emoji: String?
  /// The time when the reaction was added or removed.
  public let reactedAt: Timestamp

  package init(
    messageID: Identifier, conversationID: Identifier, seq: Int, user: Handle, emoji: String?, reactedAt: Timestamp
  ) {
    self.messageID = messageID
    self.conversationID = conversationID
    self.seq = seq
    self.user = user
    self.emoji = emoji
    self.reactedAt = reactedAt
  }
}

/// A report of a message to the operators of the store, with a copy of the message at that time.
public struct Report: Equatable, Sendable {
  /// The id of the message.
  public let messageID: Identifier
  /// The id of the conversation.
  public let conversationID: Identifier
  /// The number of the message in the conversation.
  public let seq: Int
  /// The sender of the message.
  public let sender: Handle
  /// The user who reported the message.
  public let user: Handle
  /// The reason; nil if none was given.
  public let reason: String?
  /// The text at the time of the report; nil if the message had none.
  public let text: String?
  /// The time of the report.
  public let reportedAt: Timestamp

  package init(
    messageID: Identifier, conversationID: Identifier, seq: Int, sender: Handle, user: Handle, reason: String?,
    text: String?, reportedAt: Timestamp
  ) {
    self.messageID = messageID
    self.conversationID = conversationID
    self.seq = seq
    self.sender = sender
    self.user = user
    self.reason = reason
    self.text = text
    self.reportedAt = reportedAt
  }
}
