/// A named place in the stream that a user's program moves forward by acknowledging.
public struct Consumer: Equatable, Sendable {
  public let name: String
  public let cursor: Cursor
  /// Messages of others in its conversations that are not acknowledged.
  public let behindCount: Int
  /// Lines that could never succeed and were passed over.
  public let skippedCount: Int
  /// When it last streamed or acknowledged.
  public let usedAt: Timestamp

  package init(name: String, cursor: Cursor, behindCount: Int, skippedCount: Int, usedAt: Timestamp) {
    self.name = name
    self.cursor = cursor
    self.behindCount = behindCount
    self.skippedCount = skippedCount
    self.usedAt = usedAt
  }

  /// Why a consumer needs somebody.
  public enum Warning: String, CaseIterable, Sendable {
    /// What it has not acknowledged is older than 30 days: the log keeps that for it alone, for 90 days after its last
    /// use.
    case late
    /// Its next changes are no longer in the log.
    case gap
  }

  /// The most bytes of a name.
  public static let nameLimit = 128

  /// - Throws: `bad_field` unless it is 1 to 128 bytes without control or direction characters.
  package static func check(name: String) throws {
    let isFit = (1...nameLimit).contains(name.utf8.count) && !name.unicodeScalars.contains(where: isHidden)
    guard isFit else {
      throw DMError(
        .badField, "cannot use '\(name)' for a consumer: a name has 1 to \(nameLimit) bytes without control characters",
        subject: "consumer")
    }
  }

  /// Refuses in a new name what older versions of dm accepted, too.
  ///
  /// - Throws: `bad_field` where it has an invisible character.
  package static func check(newName name: String) throws {
    guard let character = invisibleCharacter(in: name) else { return }
    throw DMError(
      .badField, "cannot use '\(name)' for a consumer: it has the invisible character \(character) in it; remove it",
      subject: "consumer")
  }
}

/// That a consumer has come so far.
public struct Acknowledgement: Equatable, Sendable {
  public let consumer: String
  public let cursor: Cursor

  package init(consumer: String, cursor: Cursor) {
    self.consumer = consumer
    self.cursor = cursor
  }
}
