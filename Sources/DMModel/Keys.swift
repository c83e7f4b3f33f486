/// The number of a row in the database, of a type for each table: the key of a user is not taken for that of a conversation.
///
/// Programs outside this package name rows by their ids. The keys are in this target because its values have them, and each
/// is `@frozen` so that other targets compare and hash it as fast as a number.
@usableFromInline
package protocol RowKey: Hashable, Comparable, Sendable, CustomStringConvertible {
  var number: Int64 { get }
  init(number: Int64)
}

extension RowKey {
  @inlinable
  package static func < (a: Self, b: Self) -> Bool { a.number < b.number }

  /// The number alone, as SQL and errors have it.
  @inlinable
  package var description: String { String(number) }
}

@frozen @usableFromInline
package struct UserKey: RowKey {
  @usableFromInline package let number: Int64
  @inlinable package init(number: Int64) { self.number = number }
}

@frozen @usableFromInline
package struct ConversationKey: RowKey {
  @usableFromInline package let number: Int64
  @inlinable package init(number: Int64) { self.number = number }
}

@frozen @usableFromInline
package struct MessageKey: RowKey {
  @usableFromInline package let number: Int64
  @inlinable package init(number: Int64) { self.number = number }
}
