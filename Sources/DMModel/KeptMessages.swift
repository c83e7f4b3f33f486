/// Which messages of each conversation a linked store keeps; the others are only on the hub.
package enum KeptMessages: Equatable, Sendable {
  /// The last messages of each conversation.
  case last(Int)
  /// The messages that are younger than this, in microseconds.
  case youngerThan(Int64)

  /// The numbers that are allowed for `last`.
  package static let counts = 1...1_000_000_000

  /// Parses a number of messages, or a time such as 90d; nil for anything else.
  package init?(_ text: String) {
    if let count = Int(text), Self.counts ~= count {
      self = .last(count)
    } else if let age = microseconds(of: text), age >= 1_000_000 {
      self = .youngerThan(age)
    } else {
      return nil
    }
  }
}
