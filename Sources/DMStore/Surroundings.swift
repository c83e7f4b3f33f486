package import DMModel

// Reads: message, read_range, user.

/// The context of message records: names, the message that a message replies to, and whether a message is unread.
///
/// An instance is for one user and one snapshot of the store. The instance caches what it reads, so that consecutive
/// messages of one conversation cost only a few queries together.
package final class Surroundings {
  private final class Cached {
    let label: ConversationLabel
    /// The range around the last requested message in which all messages are read, or all messages are unread.
    var range: SeqRange?
    var isRead = false
    /// The pins, by the numbers of the messages; nil until one is requested.
    var pins: [Int: Message.Pin]?

    init(_ label: ConversationLabel) { self.label = label }
  }

  private let store: Store
  private let user: UserKey
  private var conversations = KeyTable<Cached>()
  private var names = KeyTable<String?>()
  private var replies: [Identifier: Message.Reply] = [:]
  /// Whether the user has an own name for any conversation; nil until this is needed.
  private var usesOwnNames: Bool?
  /// Whether the store has any pins; nil until one is requested.
  private var hasPins: Bool?

  /// The number of cached replies at which the cache is emptied.
  private static let capacity = 1000

  init(_ store: Store, _ user: UserKey) {
    self.store = store
    self.user = user
  }

  /// Makes the record of a message that was just written, or that waits for the hub, without reading the table of
  /// messages.
  ///
  /// - Parameter sender: the sender. The key is nil if the store does not have the sender.
  package func message(
    _ id: Identifier, in conversation: Conversations.Row, seq: Int?, from sender: (key: UserKey?, handle: Handle),
    _ text: String?, at time: Timestamp, _ status: Message.Status = .sent, nonce: String?
  ) throws -> Message {
    var message = Message(
      id, conversationID: conversation.id, conversation: try label(of: conversation.key), seq: seq,
      sender: sender.handle, text: text, createdAt: time, status: status, nonce: nonce)
    message.senderName = try sender.key.flatMap(displayName)
    message.isMine = sender.key == user
    return message
  }

  package func label(of conversation: ConversationKey) throws -> ConversationLabel { try cached(conversation).label }

  /// Whether the user has an own name for any conversation.
  ///
  /// All calls together cost one query.
  func hasOwnNames() throws -> Bool {
    let any = try usesOwnNames ?? store.conversations.hasOwnNames(of: user)
    usesOwnNames = any
    return any
  }

  /// Records the label of a conversation, which the caller has read with other data.
  func learn(_ label: ConversationLabel, of conversation: ConversationKey) {
    if conversations[conversation.number] == nil { conversations[conversation.number] = Cached(label) }
  }

  /// The display name of a user; nil if the user has none.
  package func displayName(of user: UserKey) throws -> String? {
    if let cached = names[user.number] { return cached }
    var statement = try store.connection.prepare("SELECT display_name FROM user WHERE id = ?")
    statement.bind(user)
    let name = try statement.step() ? statement.optionalText(0) : nil
    names[user.number] = .some(name)
    return name
  }

  func isRead(_ seq: Int, in conversation: ConversationKey) throws -> Bool {
    let cached = try cached(conversation)
    if cached.range?.contains(seq) == true { return cached.isRead }
    var before = try store.connection.prepare(
      """
      SELECT from_seq, to_seq FROM read_range WHERE conversation = ? AND user = ? AND from_seq <= ?
      ORDER BY from_seq DESC LIMIT 1
      """)
    let last = try range(&before, conversation, seq)
    if let last, last.contains(seq) {
      (cached.range, cached.isRead) = (last, true)
      return true
    }
    // The message is unread. The unread range around it ends before the first read range that follows it.
    var after = try store.connection.prepare(
      """
      SELECT from_seq, to_seq FROM read_range WHERE conversation = ? AND user = ? AND from_seq > ?
      ORDER BY from_seq LIMIT 1
      """)
    let next = try range(&after, conversation, seq)
    cached.range = (last.map { $0.upperBound + 1 } ?? 1)...(next.map { $0.lowerBound - 1 } ?? .max)
    cached.isRead = false
    return false
  }

  private func range(
    _ statement: inout Statement, _ conversation: ConversationKey, _ seq: Int
  ) throws -> SeqRange? {
    statement.bind(conversation)
    statement.bind(user)
    statement.bind(seq)
    return try statement.step() ? try statement.seqs(0, 1) : nil
  }

  /// Who pinned a message, and when; nil if it is not pinned.
  ///
  /// If the store has no pins, all calls together cost one query.
  func pin(of seq: Int, in conversation: ConversationKey) throws -> Message.Pin? {
    let any = try hasPins ?? store.pins.any()
    hasPins = any
    if !any { return nil }
    let cached = try cached(conversation)
    if let pins = cached.pins { return pins.isEmpty ? nil : pins[seq] }
    let pins = try store.pins.all(in: conversation)
    cached.pins = pins
    return pins[seq]
  }

  /// Reads the pins of a conversation again when they are requested next.
  package func forgetPins(of conversation: ConversationKey) {
    hasPins = nil
    conversations[conversation.number]?.pins = nil
  }

  /// The message to which another message replies.
  ///
  /// If that message is deleted, expired or hidden from the user, the result has only its id.
  package func reply(_ id: Identifier, as viewer: Viewer) throws -> Message.Reply {
    if let cached = replies[id] { return cached }
    var statement = try store.connection.prepare(
      "SELECT conversation, seq, sender, text, deleted_at IS NOT NULL, expires_at FROM message WHERE uuid = ?")
    statement.bind(id)
    var reply = Message.Reply(id: id)
    if try statement.step(),
      try viewer.reaches(statement.int(1), in: statement.conversationKey(0), from: statement.userKey(2))
    {
      // A deleted or expired message is never quoted, even if the `extras` of the viewer include such messages.
      reply.isDeleted = statement.bool(4) || statement.optionalTimestamp(5).map { $0 <= viewer.now } ?? false
      if !reply.isDeleted {
        reply.seq = statement.int(1)
        reply.sender = try store.users.handle(statement.userKey(2))
        reply.text = statement.optionalText(3).map { String($0.prefix(Message.Reply.textLimit)) }
      }
    }
    if replies.count >= Self.capacity { replies = [:] }
    replies[id] = reply
    return reply
  }

  /// Empties the cache of replies.
  ///
  /// Call this after the user has hidden a message.
  func forgetReplies() { replies = [:] }

  private func cached(_ conversation: ConversationKey) throws -> Cached {
    if let cached = conversations[conversation.number] { return cached }
    let cached = Cached(
      try store.conversations.label(of: conversation, for: user, hasOwnNames: hasOwnNames()))
    conversations[conversation.number] = cached
    return cached
  }
}
