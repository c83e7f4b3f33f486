/// A message to import, with its own time and sender.
package struct ImportedMessage: Equatable, Sendable {
  package enum Group: Hashable, Sendable {
    /// A group with this title that the user is in or that an earlier import created; if there is none, the import
    /// creates it.
    case title(String)
    case id(Identifier)

    package static func == (a: Group, b: Group) -> Bool { a.exact == b.exact }
    package func hash(into hasher: inout Hasher) { hasher.combine(exact) }
    private var exact: ExactString {
      switch self {
      case .title(let title): ExactString("+" + title)
      case .id(let id): ExactString(id.description)
      }
    }
  }

  package enum Reply: Equatable, Sendable {
    case id(Identifier)
    case nonce(String)
  }

  /// A file that the message has as an attachment.
  package struct File: Equatable, Sendable {
    package let path: String
    /// The name of the attachment; nil for the name of the file.
    package let name: String?

    package init(path: String, name: String? = nil) {
      self.path = path
      self.name = name
    }
  }

  package let group: Group
  package let id: Identifier?
  package let sender: Handle
  /// Nil for an announcement, and for a message that has only attachments.
  package let text: String?
  /// The time of the message in the line.
  ///
  /// After the message is added, this is the time that the store has.
  package internal(set) var createdAt: Timestamp
  package let nonce: String?
  package let replyTo: Reply?
  package let systemKind: Message.SystemKind?
  package let subject: String?
  package let expiresAt: Timestamp?
  /// The files to attach.
  ///
  /// The files are prepared before the message is imported.
  package let files: [File]
  /// What a link of the text leads to; without an image, because the attachments have other ids than in the line.
  package let linkPreview: LinkPreview?
  /// The prepared attachments, in the order of `files`.
  package var attachments: [Identifier] = []

  /// Whether a second import of the line can be recognized, because the line has an id or a nonce.
  var isRecognizable: Bool { id != nil || nonce != nil }

  /// The time from creation to expiry in microseconds; nil if the message does not expire.
  package var lifetime: Int64? { expiresAt.map { max(0, $0.microseconds - createdAt.microseconds) } }

  /// - Throws: `empty_text`, `text_too_long`, `bad_time` for a time in the future, or `bad_field` for the nonce, the
  ///   title or the subject.
  package init(
    group: Group, id: Identifier? = nil, sender: Handle, text: String?, createdAt: Timestamp, nonce: String? = nil,
    replyTo: Reply? = nil, systemKind: Message.SystemKind? = nil, subject: String? = nil,
    expiresAt: Timestamp? = nil, files: [File] = [], linkPreview: LinkPreview? = nil
  ) throws {
    if systemKind == .unreadable {
      throw DMError(.badField, "'system_kind' is 'unreadable': there are no words to import", subject: "system_kind")
    }
    if systemKind == nil && files.isEmpty || text != nil { try Outgoing.check(text: text ?? "") }
    guard files.count <= Attachment.limit else {
      throw DMError(
        .badField, "'attachments' has more than \(Attachment.limit) files; make several messages of it",
        subject: "attachments")
    }
    if let subject { try checkTitle(subject) }
    try Outgoing.check(nonce: nonce)
    try checkPast(createdAt)
    if case .title(let title) = group { try checkTitle(title) }
    self.group = group
    self.id = id
    self.sender = sender
    self.text = text
    self.createdAt = createdAt
    self.nonce = nonce
    self.replyTo = replyTo
    self.systemKind = systemKind
    self.subject = subject
    self.expiresAt = expiresAt
    self.files = files
    // An edit may have removed the link.
    self.linkPreview = linkPreview.flatMap { text?.contains(text: $0.url) == true ? $0.with(attachment: nil) : nil }
  }
}

/// A user to import, from a line that `dm-user` has printed.
///
/// A user who exists is not changed.
package struct ImportedUser: Equatable, Sendable {
  package let handle: Handle
  package let profile: ProfileChange
  /// Whether the line states that a user of the store with this handle is the same person.
  package var isKnown: Bool

  /// - Throws: `bad_field`.
  package init(handle: Handle, _ profile: ProfileChange, isKnown: Bool = false) throws {
    try profile.check()
    self.handle = handle
    self.profile = profile
    self.isKnown = isKnown
  }
}

/// A conversation to import, from a line that `dm-list` has printed.
package struct ImportedConversation: Equatable, Sendable {
  package let id: Identifier
  package let isGroup: Bool
  package let title: String?
  package let creator: Handle?
  package let participants: [Handle]
  /// The time by which lists sort the conversation as long as it has no messages; nil means now.
  package let lastActivity: Timestamp?

  /// - Throws: `bad_field` for the title, or for a direct conversation without one or two participants; `bad_time` for
  ///   a future time.
  package init(
    id: Identifier, isGroup: Bool, title: String?, creator: Handle?, participants: [Handle],
    lastActivity: Timestamp? = nil
  ) throws {
    if let title { try checkTitle(title) }
    if let lastActivity { try checkPast(lastActivity) }
    guard isGroup || (1...2).contains(Set(participants).count) else {
      throw DMError(.badField, "a direct conversation has one or two participants", subject: "participants")
    }
    self.id = id
    self.isGroup = isGroup
    self.title = title
    self.creator = creator
    self.participants = participants
    self.lastActivity = lastActivity
  }
}

/// A line of input to import.
package enum Imported: Equatable, Sendable {
  case user(ImportedUser)
  case conversation(ImportedConversation)
  /// A line for a conversation that cannot be created, and the error to return for the line.
  case refusedConversation(Identifier, DMError)
  case message(ImportedMessage)

  /// The result of the import of a line.
  package enum Outcome: Equatable, Sendable {
    case user(User)
    case conversation(Conversation)
    case message(Message)
  }
}

/// Refuses a time in the future: all later messages of the conversation would need a time after it.
///
/// A time up to a day ahead of the clock is accepted, because the clocks of machines differ.
///
/// - Throws: `bad_time`.
private func checkPast(_ time: Timestamp) throws {
  guard time.microseconds <= Timestamp.now.microseconds + 86_400_000_000 else {
    throw DMError(
      .badTime, "'\(time)' is in the future; history is what has been said", subject: time.description)
  }
}
