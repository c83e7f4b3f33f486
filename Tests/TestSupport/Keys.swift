public import DMModel

// Tests write keys as numbers; a program has them from the database.

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

// And handles as texts.

extension Handle: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(typed: text) }
}
