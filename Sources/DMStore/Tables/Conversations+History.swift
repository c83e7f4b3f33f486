package import DMModel

// Reads: change, conversation, history, message.
// Writes: change, conversation, former, hidden_range, history, hub_base, hub_unreadable, link_preview, mention, message, message_pin, participant, reaction, read_mark, read_range, receipt, report.

extension Conversations {
  /// The count of the imported messages of a conversation, and the message number of the last one.
  package struct History {
    package var count = 0
    /// The number of the last imported message; 0 if none was imported.
    package var lastSeq = 0

    package init(count: Int = 0, lastSeq: Int = 0) {
      self.count = count
      self.lastSeq = lastSeq
    }
  }

  package func history(of conversation: ConversationKey) throws -> History {
    var statement = try store.connection.prepare("SELECT message_count, last_seq FROM history WHERE conversation = ?")
    statement.bind(conversation)
    return try statement.step() ? History(count: statement.int(0), lastSeq: statement.int(1)) : History()
  }

  package func set(_ history: History, of conversation: ConversationKey) throws {
    var statement = try store.connection.prepare(
      "INSERT OR REPLACE INTO history (conversation, message_count, last_seq) VALUES (?, ?, ?)")
    statement.bind(conversation)
    statement.bind(history.count)
    statement.bind(history.lastSeq)
    try statement.run()
  }
}

extension Conversations {
  /// Removes the messages of a conversation, with their reactions, receipts and similar data, before the log of the hub
  /// is pulled again.
  ///
  /// The user's own settings for the conversation are kept: pin, mute, archive, draft and name. Linear in the number of
  /// messages.
  package func empty(_ conversation: ConversationKey, keeping user: UserKey) throws {
    try removeContents(of: conversation)
    let pictures = try store.members.formerAvatarURLs(of: conversation)
    let ofMessages = "message IN (SELECT id FROM message WHERE conversation = ?1)"
    for statement in [
      "DELETE FROM reaction WHERE \(ofMessages)", "DELETE FROM hub_base WHERE \(ofMessages)",
      "DELETE FROM hub_unreadable WHERE \(ofMessages)", "DELETE FROM report WHERE \(ofMessages)",
      "DELETE FROM link_preview WHERE \(ofMessages)",
      "DELETE FROM message_pin WHERE conversation = ?1",
      "DELETE FROM mention WHERE conversation = ?1", "DELETE FROM receipt WHERE conversation = ?1",
      "DELETE FROM read_range WHERE conversation = ?1", "DELETE FROM read_mark WHERE conversation = ?1",
      "DELETE FROM hidden_range WHERE conversation = ?1", "DELETE FROM former WHERE conversation = ?1",
      "DELETE FROM message WHERE conversation = ?1",
      "UPDATE conversation SET last_seq = 0, last_message = NULL WHERE id = ?1",
    ] {
      var change = try store.connection.prepare(text: statement)
      change.bind(conversation)
      try change.run()
    }
    for url in pictures { try store.pictures.release(url) }
    try store.changes.forget(conversation)
    do {
      var others = try store.connection.prepare(
        """
        DELETE FROM participant WHERE conversation = ?1 AND user <> ?2
        AND EXISTS (SELECT 1 FROM conversation WHERE id = ?1 AND direct_low IS NULL)
        """)
      others.bind(conversation)
      others.bind(user)
      try others.run()
    }
    var update = try store.connection.prepare(
      """
      UPDATE participant SET left_seq = NULL, is_owner = 0, delivered_seq = 0, read_count = 0, blocked_count = 0,
        mention_count = 0 WHERE conversation = ?
      """)
    update.bind(conversation)
    try update.run()
  }

  /// Removes the messages of a conversation from the search index, and deletes their vectors and attachments.
  private func removeContents(of conversation: ConversationKey) throws {
    var messages = try store.connection.prepare("SELECT id, text FROM message WHERE conversation = ?")
    messages.bind(conversation)
    var keys: [(MessageKey, String?)] = []
    while try messages.step() { keys.append((messages.messageKey(0), messages.optionalText(1))) }
    for (key, text) in keys {
      if let text { try store.searchIndex.remove(text, of: key) }
      try store.attachments.remove(of: key)
    }
    // The keys may be used again, for other messages.
    try store.vectors.remove(keys.map(\.0))
  }
}

extension Changes {
  /// Replaces each change of a conversation with a change that says only that the conversation has changed.
  ///
  /// No change is deleted, because a missing change number would count as damage.
  fileprivate func forget(_ conversation: ConversationKey) throws {
    var found = try store.connection.prepare("SELECT rev FROM change WHERE conversation = ? AND kind <> ?")
    found.bind(conversation)
    found.bind(Kind.conversation.rawValue)
    var revs: [Rev] = []
    while try found.step() { revs.append(found.rev(0)) }
    for rev in revs {
      var update = try store.connection.prepare(
        "UPDATE change SET kind = ?, from_seq = NULL, to_seq = NULL WHERE rev = ?")
      update.bind(Kind.conversation.rawValue)
      update.bind(rev)
      try update.run()
      try store.writeDigest(of: rev, in: .change)
    }
  }
}
