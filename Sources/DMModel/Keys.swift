/// The number of a row in the database.
///
/// Each table has its own type of key, so that the compiler refuses the key of a user as the key of a conversation.
///
/// Programs outside this package name rows by their ids. The keys are in this target because some of its values contain
/// keys. Each key is `@frozen`, so that other targets compare and hash it as fast as a number.
@usableFromInline
package protocol RowKey: Hashable, Comparable, Sendable, CustomStringConvertible {
  var number: Int64 { get }
  init(number: Int64)
}

extension RowKey {
  @inlinable
  package static func < (a: Self, b: Self) -> Bool { a.number < b.number }

  /// The number alone, as SQL and errors contain it.
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

@frozen @usableFromInline
package struct AttachmentKey: RowKey {
  @usableFromInline package let number: Int64
  @inlinable package init(number: Int64) { self.number = number }
}

@frozen @usableFromInline
package struct ConsumerKey: RowKey {
  @usableFromInline package let number: Int64
  @inlinable package init(number: Int64) { self.number = number }
}

@frozen @usableFromInline
package struct ReportKey: RowKey {
  @usableFromInline package let number: Int64
  @inlinable package init(number: Int64) { self.number = number }
}

/// The number of an operation in the outbox; each new operation has a higher number, and no number is used twice.
@frozen @usableFromInline
package struct OutboxKey: RowKey {
  @usableFromInline package let number: Int64
  @inlinable package init(number: Int64) { self.number = number }
}

/// The key of a row of any table whose rows have digests.
@frozen @usableFromInline
package struct RowNumber: RowKey {
  @usableFromInline package let number: Int64
  @inlinable package init(number: Int64) { self.number = number }
}

/// The number of a change in the change log; each new change has a higher number, and no number is used twice.
@frozen @usableFromInline
package struct Rev: RowKey {
  @usableFromInline package let number: Int64
  @inlinable package init(number: Int64) { self.number = number }

  /// The number before that of the first change.
  package static var zero: Rev { Rev(number: 0) }

  @inlinable package static func + (rev: Rev, count: Int64) -> Rev { Rev(number: rev.number + count) }
  @inlinable package static func - (rev: Rev, count: Int64) -> Rev { Rev(number: rev.number - count) }
}
