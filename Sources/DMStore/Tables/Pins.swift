package import DMModel

// Reads: message_pin, participant.
// Writes: message_pin.

/// The messages that are pinned for everybody in a conversation.
package struct Pins {
  let store: Store

  /// The pinned messages of a conversation, by their numbers.
  static let ofConversation: StaticString = "SELECT seq, user, at FROM message_pin WHERE conversation = ?"

  /// The pins of a conversation, by the numbers of the messages.
  ///
  /// A linked store may have left some of these messages on the hub.
  package func all(in conversation: ConversationKey) throws -> [Int: Message.Pin] {
    var statement = try store.connection.prepare(Self.ofConversation)
    statement.bind(conversation)
    var pins: [Int: Message.Pin] = [:]
    while try statement.step() {
      pins[statement.int(0)] = Message.Pin(
        user: try store.users.handle(statement.userKey(1)), at: statement.timestamp(2))
    }
    return pins
  }

  /// Whether any message of the store is pinned.
  func any() throws -> Bool {
    var any = try store.connection.prepare("SELECT 1 FROM message_pin LIMIT 1")
    return try any.step()
  }

  /// The conversations with pinned messages that a user is or was in.
  static let conversationsOfUser: StaticString = """
    SELECT p.conversation FROM participant p
    WHERE p.user = ? AND EXISTS (SELECT 1 FROM message_pin x WHERE x.conversation = p.conversation)
    """

  /// The conversations with pinned messages that a user is or was in.
  package func conversations(of user: UserKey) throws -> [ConversationKey] {
    var statement = try store.connection.prepare(Self.conversationsOfUser)
    statement.bind(user)
    return try statement.conversationKeys()
  }

  /// Whether a message is pinned.
  package func has(_ address: Messages.Address) throws -> Bool {
    var statement = try store.connection.prepare("SELECT 1 FROM message_pin WHERE conversation = ? AND seq = ?")
    statement.bind(address.conversation)
    statement.bind(address.seq)
    return try statement.step()
  }

  /// Pins a message, or unpins it, and logs the change; does nothing if the message is in this state already.
  package func set(_ isPinned: Bool, _ address: Messages.Address, by user: UserKey, at time: Timestamp) throws {
    if try has(address) == isPinned { return }
    if isPinned {
      var insert = try store.connection.prepare(
        "INSERT INTO message_pin (conversation, seq, user, at) VALUES (?, ?, ?, ?)")
      insert.bind(address.conversation)
      insert.bind(address.seq)
      insert.bind(user)
      insert.bind(time)
      try insert.run()
    } else {
      try remove(address)
    }
    try store.changes.append(
      .pinned, conversation: address.conversation, user: user, seqs: address.seq...address.seq, at: time)
  }

  /// Removes the pin of a message that was deleted or has expired; no change is logged.
  package func remove(_ address: Messages.Address) throws {
    var delete = try store.connection.prepare("DELETE FROM message_pin WHERE conversation = ? AND seq = ?")
    delete.bind(address.conversation)
    delete.bind(address.seq)
    try delete.run()
  }
}
