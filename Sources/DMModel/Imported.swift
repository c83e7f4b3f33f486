/// A message of history, with its own time and sender.
public struct ImportedMessage: Equatable, Sendable {
  public enum Group: Hashable, Sendable {
    /// A group that an import made, found or created.
    case title(String)
    case id(Identifier)

    public static func == (a: Group, b: Group) -> Bool { a.exact == b.exact }
    public func hash(into hasher: inout Hasher) { hasher.combine(exact) }
    private var exact: ExactString {
      switch self {
      case .title(let title): ExactString("+" + title)
      case .id(let id): ExactString(id.description)
      }
    }
  }

  public enum Reply: Equatable, Sendable {
    case id(Identifier)
    case nonce(String)
  }

  public let group: Group
  public let id: Identifier?
  public let sender: Handle
  /// Nil of an announcement.
  public let text: String?
  public let createdAt: Timestamp
  public let nonce: String?
  public let replyTo: Reply?
  public let systemKind: Message.SystemKind?
  public let subject: String?
  public let expiresAt: Timestamp?

  /// Microseconds that it lives.
  package var lifetime: Int64? { expiresAt.map { max(0, $0.microseconds - createdAt.microseconds) } }

  /// - Throws: `empty_text`, `text_too_long`, or `bad_field` for the nonce or the title.
  public init(
    group: Group, id: Identifier? = nil, sender: Handle, text: String?, createdAt: Timestamp, nonce: String? = nil,
    replyTo: Reply? = nil, systemKind: Message.SystemKind? = nil, subject: String? = nil,
    expiresAt: Timestamp? = nil
  ) throws {
    if systemKind == nil || text != nil { try Outgoing.check(text: text ?? "") }
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
  }
}

/// A conversation of history, as `dm-list` prints it.
public struct ImportedConversation: Equatable, Sendable {
  public let id: Identifier
  public let isGroup: Bool
  public let title: String?
  public let creator: Handle?
  public let participants: [Handle]
  /// Its place in a list while it has no messages; nil for the present.
  public let lastActivity: Timestamp?

  /// - Throws: `bad_field` for the title, or for a direct conversation of other than one or two.
  public init(
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

/// A line of history.
public enum Imported: Equatable, Sendable {
  case conversation(ImportedConversation)
  case message(ImportedMessage)

  /// What became of it.
  public enum Outcome: Equatable, Sendable {
    case conversation(Conversation)
    case message(Message)
  }
}

/// Refuses a time that every later message would have to exceed.
///
/// A day is granted to clocks that differ.
///
/// - Throws: `bad_time`.
private func checkPast(_ time: Timestamp) throws {
  guard time.microseconds <= Timestamp.now.microseconds + 86_400_000_000 else {
    throw DMError(
      .badTime, "'\(time)' is in the future; history is what has been said", subject: time.description)
  }
}
