package import DMModel

extension Statement {
  // Not generic: a generic function is slower when another target calls it.

  package mutating func bind(_ key: UserKey) { bind(key.number) }
  package mutating func bind(_ key: UserKey?) { bind(key?.number) }
  package mutating func bind(_ key: ConversationKey) { bind(key.number) }
  package mutating func bind(_ key: ConversationKey?) { bind(key?.number) }
  package mutating func bind(_ key: AttachmentKey) { bind(key.number) }
  package mutating func bind(_ key: ConsumerKey) { bind(key.number) }
  package mutating func bind(_ key: OutboxKey) { bind(key.number) }
  package mutating func bind(_ rev: Rev) { bind(rev.number) }
  package mutating func bind(_ key: MessageKey) { bind(key.number) }
  package mutating func bind(_ key: MessageKey?) { bind(key?.number) }

  package borrowing func userKey(_ column: Int32) -> UserKey { UserKey(number: int64(column)) }
  package borrowing func optionalUserKey(_ column: Int32) -> UserKey? { isNull(column) ? nil : userKey(column) }
  package borrowing func conversationKey(_ column: Int32) -> ConversationKey { ConversationKey(number: int64(column)) }
  package borrowing func messageKey(_ column: Int32) -> MessageKey { MessageKey(number: int64(column)) }
  package borrowing func optionalMessageKey(_ column: Int32) -> MessageKey? {
    isNull(column) ? nil : messageKey(column)
  }

  package borrowing func rev(_ column: Int32) -> Rev { Rev(number: Int64(int(column))) }

  /// The user keys in the first column of all rows.
  package mutating func userKeys() throws -> [UserKey] {
    var keys: [UserKey] = []
    while try step() { keys.append(userKey(0)) }
    return keys
  }

  /// The conversation keys in the first column of all rows.
  package mutating func conversationKeys() throws -> [ConversationKey] {
    var keys: [ConversationKey] = []
    while try step() { keys.append(conversationKey(0)) }
    return keys
  }
}

/// The keys as a JSON array, for `json_each`.
func jsonArray(_ keys: [some RowKey]) -> String { "[" + keys.map(\.description).joined(separator: ",") + "]" }
