/// A message in its current state, as one user sees it.
public struct Message: Equatable, Identifiable, Sendable {
  /// How far the delivery of a message has come.
  ///
  /// Expect more cases in later versions. No message of a store without a hub is `sending` or `failed`.
  public enum Status: String, Sendable, CaseIterable {
    /// The message waits for the hub, and has no number yet.
    case sending
    /// The message has a number: from the hub, or from the store if the store has no hub.
    case sent
    /// At least one other participant got the message.
    case delivered
    /// At least one other participant read the message.
    case read
    /// The hub refused the message, which gets a number only if it is queued again and the hub then accepts it.
    case failed
  }

  /// The kind of an announcement in a conversation.
  ///
  /// Expect more cases in later versions. Stores contain the `number` of each kind.
  public enum SystemKind: String, Sendable, CaseIterable {
    /// The first message of a group; `subject` is the title of the group.
    case conversationCreated = "conversation_created"
    /// A user was added; `subject` is the handle of this user.
    case userJoined = "user_joined"
    /// A user left or was removed; `subject` is the handle of this user.
    case userLeft = "user_left"
    /// The title was changed; `subject` is the new title.
    case titleChanged = "title_changed"
    /// Messages were imported after this one.
    case historyImported = "history_imported"
    /// A message, not an announcement, that a later version of dm wrote and this version cannot read.
    case unreadable

    /// The number that stores contain for the kind; nil for `unreadable`, which is never stored.
    package var number: Int64? {
      switch self {
      case .conversationCreated: 1
      case .userJoined: 2
      case .userLeft: 3
      case .titleChanged: 4
      case .historyImported: 5
      case .unreadable: nil
      }
    }

    package init?(number: Int64) {
      guard let kind = Self.allCases.first(where: { $0.number == number }) else { return nil }
      self = kind
    }
  }

  /// The users who reacted with one emoji, in the order of their reactions.
  public struct Reactions: Equatable, Sendable {
    /// One emoji, as users see it.
    public let emoji: String
    /// The users who reacted with the emoji.
    public var users: [Handle]

    /// Makes a value, for example for a preview of a view.
    public init(emoji: String, users: [Handle]) {
      self.emoji = emoji
      self.users = users
    }
  }

  /// Who pinned a message, for everybody in the conversation, and when.
  public struct Pin: Equatable, Sendable {
    /// The user who pinned the message.
    public let user: Handle
    /// The time when the message was pinned.
    public let at: Timestamp

    /// Makes a value, for example for a preview of a view.
    public init(user: Handle, at: Timestamp) { (self.user, self.at) = (user, at) }
  }

  /// What has happened to the message of an event.
  package enum Update: Sendable {
    case edited
    /// The hub has given the message its number.
    case ordered
    /// The message has no number yet, and was edited or refused.
    case waits
  }

  /// A message that another message answers.
  public struct Reply: Equatable, Sendable {
    /// The maximum number of characters of `text`.
    package static let textLimit = 100

    /// The id of the answered message.
    public let id: Identifier
    /// The number of the answered message; nil, like `sender` and `text`, if the user does not see this message.
    public var seq: Int?
    /// The sender of the answered message.
    public var sender: Handle?
    /// The beginning of the text of the answered message.
    public var text: String?
    /// Whether the answered message was deleted or has expired.
    package var isDeleted = false

    /// Makes a value, for example for a preview of a view.
    public init(id: Identifier, seq: Int? = nil, sender: Handle? = nil, text: String? = nil) {
      self.id = id
      self.seq = seq
      self.sender = sender
      self.text = text
    }
  }

  /// The id, which never changes.
  public let id: Identifier
  /// The id of the conversation.
  public let conversationID: Identifier
  /// The name of the conversation for the user, and a reference to it.
  public package(set) var conversation: ConversationLabel
  /// The number of the message in the conversation: 1, 2, 3 … without gaps; nil until the hub has numbered the message.
  public let seq: Int?
  /// The user who sent the message, or who caused the announcement.
  public let sender: Handle
  /// The sender's display name; nil if they have none.
  public var senderName: String?
  /// Whether the user who sees the message is the sender.
  public var isMine = false
  /// Whether the message counts as unread for the user.
  public var isUnread = false
  /// How many participants other than the sender have read the message and sent a receipt.
  ///
  /// Participants that the sender or the user blocks are not counted.
  public var readByCount = 0
  /// The participants that `readByCount` counts; nil if the query did not ask for them.
  public var readBy: [Handle]?
  /// The text, at most 64 KiB; nil for an announcement, a tombstone, and a message that has only attachments.
  public var text: String?
  /// The time when the message was sent.
  ///
  /// Order messages by `seq`, not by time: after a clock that was more than a minute ahead is corrected, new messages
  /// have earlier times than the messages before them.
  public let createdAt: Timestamp
  /// How far the delivery has come.
  public var status: Status
  /// The message that this message answers; nil if there is none.
  public var replyTo: Reply?
  /// The original sender of a forwarded message.
  public var forwardedFrom: Handle?
  /// The nonce with which the message was sent; nil if there was none.
  public let nonce: String?
  /// The attachments, in their order; a message with attachments may also have a text.
  public var attachments: [Attachment] = []
  /// What the first link of the text leads to; nil if the sender's program did not say it.
  public var linkPreview: LinkPreview?
  /// The participants that the text mentions.
  public var mentions: [Handle] = []
  /// The reactions, without those of users that the reader blocks.
  public var reactions: [Reactions] = []
  /// Who pinned the message, and when; nil if it is not pinned.
  public var pin: Pin?
  /// The time of the last edit; nil if the text is the original one.
  public var editedAt: Timestamp?
  /// The time when the message expires; nil if it does not expire.
  public var expiresAt: Timestamp?
  /// The time when the message was deleted for all or expired; set only on a tombstone, which has no text.
  public var deletedAt: Timestamp?
  /// The code of the reason why the hub refused the message; set only if `status` is `failed`.
  public var failure: String?
  /// The id that the message had while it waited for the hub; set only in the event in which the message gets another
  /// id.
  public var replaces: Identifier?
  /// What has happened to the message; used only in the event of a change.
  package var update = Update.edited
  /// The kind of an announcement, which is a message without a text.
  public var systemKind: SystemKind?
  /// Whether the message is an announcement, not from a user.
  package var isAnnouncement: Bool { systemKind != nil && systemKind != .unreadable }
  /// The subject of the announcement: a handle, or a title.
  public var subject: String?
  /// Whether a message with the same nonce existed before; set only on the result of a send.
  public var isDuplicate = false
  /// The number of the line of input, from 1; set only on an answer to a line.
  package var line: Int?
  /// The part of the text that matches a search, with each hit between `**`.
  package var snippet: String?
  /// How much the message is like the example of a search by meaning: 1 is the most, and 0 is nothing in common.
  public package(set) var likeness: Double?
  /// Whether `text` is only the beginning of the text; set only on `Conversation.lastMessage`.
  public var isTruncated = false

  /// `seq`, or 0 for a message that has no number.
  package var number: Int { seq ?? 0 }

  /// A reference to the message that every program accepts: `bob:57`, or `dm:UUID` while it has no number.
  public var reference: String { seq.map { "\(conversation.reference):\($0)" } ?? "dm:\(id)" }

  /// Whether the message's text equals another text, byte for byte; a text of nil counts as empty.
  package func hasText(_ other: String) -> Bool { ExactString(text ?? "") == ExactString(other) }

  /// The maximum number of Unicode code points of the text of a preview.
  static let previewLimit = 200

  /// The message with the beginning of its text, for a list of conversations.
  package var preview: Message {
    guard let text,
      let end = text.unicodeScalars.index(text.startIndex, offsetBy: Self.previewLimit, limitedBy: text.endIndex),
      end < text.endIndex
    else { return self }
    var preview = self
    preview.text = String(text[..<end])
    preview.isTruncated = true
    preview.linkPreview = nil
    return preview
  }
}

extension Message {
  /// Makes a message that is not in a store, for example for a preview or a test of a view.
  ///
  /// Set the other properties afterwards.
  public init(
    id: Identifier, in conversation: ConversationLabel, _ conversationID: Identifier, seq: Int?, sender: Handle,
    text: String?, createdAt: Timestamp, status: Status = .sent, nonce: String? = nil
  ) {
    self.init(
      id, conversationID: conversationID, conversation: conversation, seq: seq, sender: sender, text: text,
      createdAt: createdAt, status: status, nonce: nonce)
  }

  /// Makes a message for other targets, because the memberwise initializer of Swift is internal.
  ///
  /// Calls the memberwise initializer: an initializer that assigns each property itself would first store all default
  /// values.
  package init(
    _ id: Identifier, conversationID: Identifier, conversation: ConversationLabel, seq: Int?, sender: Handle,
    senderName: String? = nil, isMine: Bool = false, isUnread: Bool = false, readByCount: Int = 0,
    readBy: [Handle]? = nil, text: String? = nil, createdAt: Timestamp, status: Status, replyTo: Reply? = nil,
    forwardedFrom: Handle? = nil, nonce: String?, attachments: [Attachment] = [],
    linkPreview: LinkPreview? = nil, mentions: [Handle] = [],
    reactions: [Reactions] = [], editedAt: Timestamp? = nil, expiresAt: Timestamp? = nil, deletedAt: Timestamp? = nil,
    systemKind: SystemKind? = nil, subject: String? = nil, isDuplicate: Bool = false, line: Int? = nil,
    snippet: String? = nil, isTruncated: Bool = false
  ) {
    self.init(
      id: id, conversationID: conversationID, conversation: conversation, seq: seq, sender: sender,
      senderName: senderName, isMine: isMine, isUnread: isUnread, readByCount: readByCount, readBy: readBy,
      text: text, createdAt: createdAt, status: status, replyTo: replyTo, forwardedFrom: forwardedFrom, nonce: nonce,
      attachments: attachments, linkPreview: linkPreview, mentions: mentions, reactions: reactions, editedAt: editedAt,
      expiresAt: expiresAt,
      deletedAt: deletedAt, systemKind: systemKind, subject: subject, isDuplicate: isDuplicate, line: line,
      snippet: snippet, isTruncated: isTruncated)
  }
}
