/// A named position in the stream, which a user's program moves forward by acknowledging events.
package struct Consumer: Equatable, Sendable {
  /// The name, unique among the consumers of a user.
  package let name: String
  /// The position; all events up to it are acknowledged.
  package let cursor: Cursor
  /// How many messages from other users are visible in the consumer's conversations and not yet acknowledged.
  package let behindCount: Int
  /// The number of input lines that were skipped because they could never succeed.
  package let skippedCount: Int
  /// The time when the consumer was last streamed or moved.
  package let usedAt: Timestamp

  package init(name: String, cursor: Cursor, behindCount: Int, skippedCount: Int, usedAt: Timestamp) {
    self.name = name
    self.cursor = cursor
    self.behindCount = behindCount
    self.skippedCount = skippedCount
    self.usedAt = usedAt
  }

  /// The reason why a consumer needs attention.
  package enum Warning: String, CaseIterable, Sendable {
    /// Unacknowledged changes are older than 30 days; the log keeps them until 90 days after the last use of the
    /// consumer.
    case late
    /// The next changes for the consumer are no longer in the log.
    case gap
  }

  /// The maximum number of bytes of a name.
  package static let nameLimit = 128

  /// - Throws: `bad_field` if the name is empty, has over 128 bytes, or has a control or direction character.
  package static func check(name: String) throws {
    let isFit = (1...nameLimit).contains(name.utf8.count) && !name.unicodeScalars.contains(where: isHidden)
    guard isFit else {
      throw DMError(
        .badField, "cannot use '\(name)' for a consumer: a name has 1 to \(nameLimit) bytes without control characters",
        subject: "consumer")
    }
  }

  /// Refuses invisible characters in a new name; older versions of dm accepted them.
  ///
  /// - Throws: `bad_field` if the name has an invisible character.
  package static func check(newName name: String) throws {
    guard let character = invisibleCharacter(in: name) else { return }
    throw DMError(
      .badField, "cannot use '\(name)' for a consumer: it has the invisible character \(character) in it; remove it",
      subject: "consumer")
  }
}

/// The position of a consumer after an acknowledgement.
public struct Acknowledgement: Equatable, Sendable {
  /// The name of the consumer.
  public let consumer: String
  /// The new position of the consumer.
  public let cursor: Cursor

  package init(consumer: String, cursor: Cursor) {
    self.consumer = consumer
    self.cursor = cursor
  }
}
