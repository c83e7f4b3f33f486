package import DMModel

extension Statement {
  // Not generic: a generic function costs more where another target calls it.

  package mutating func bind(_ key: UserKey) { bind(key.number) }
  package mutating func bind(_ key: UserKey?) { bind(key?.number) }
  package mutating func bind(_ key: ConversationKey) { bind(key.number) }
  package mutating func bind(_ key: ConversationKey?) { bind(key?.number) }
  package mutating func bind(_ key: MessageKey) { bind(key.number) }
  package mutating func bind(_ key: MessageKey?) { bind(key?.number) }

  package borrowing func userKey(_ column: Int32) -> UserKey { UserKey(number: int64(column)) }
  package borrowing func optionalUserKey(_ column: Int32) -> UserKey? { isNull(column) ? nil : userKey(column) }
  package borrowing func conversationKey(_ column: Int32) -> ConversationKey { ConversationKey(number: int64(column)) }
  package borrowing func messageKey(_ column: Int32) -> MessageKey { MessageKey(number: int64(column)) }
  package borrowing func optionalMessageKey(_ column: Int32) -> MessageKey? {
    isNull(column) ? nil : messageKey(column)
  }
}
