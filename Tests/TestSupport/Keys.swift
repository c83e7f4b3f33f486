public import DMModel

// Lets tests write keys as numbers; programs get keys from the database.

extension RowKey {
  @usableFromInline
  package init(integerLiteral number: Int64) { self.init(number: number) }
}

extension UserKey: ExpressibleByIntegerLiteral {}
extension ConversationKey: ExpressibleByIntegerLiteral {}
extension MessageKey: ExpressibleByIntegerLiteral {}
extension AttachmentKey: ExpressibleByIntegerLiteral {}
extension ConsumerKey: ExpressibleByIntegerLiteral {}
extension RowNumber: ExpressibleByIntegerLiteral {}
extension Rev: ExpressibleByIntegerLiteral {}

// Lets tests write handles as texts.

extension Handle: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(typed: text) }
}
