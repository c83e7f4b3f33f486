/// Which messages a user is notified of: those of others that are unread, in conversations that are not muted.
///
/// A message of a group counts only if it mentions the user, contains a keyword, or if all messages count. In the quiet hours
/// there are no notifications.
public struct NotificationRule: Equatable, Sendable {
  /// Whether all messages of groups count.
  public var takesAll = false
  /// Words or phrases of which a message that counts contains one; upper and lower case are equal.
  public var keywords: [String] = []
  /// The times of the day without notifications; nil for none.
  public var quietHours: QuietHours?

  /// Makes a rule for direct conversations and mentions.
  public init() {}

  /// Whether a message is one to notify of while it is unread, its conversation is not muted, and the hours are not quiet.
  public func takes(_ message: Message, for user: Handle) -> Bool {
    guard !message.isMine, message.systemKind == nil, message.deletedAt == nil else { return false }
    return takesAll || !message.conversation.isGroup || message.mentions.contains(user) || containsKeyword(message.text)
  }

  private func containsKeyword(_ text: String?) -> Bool {
    guard let text, !keywords.isEmpty else { return false }
    let words = Self.words(text)
    return keywords.contains { words.contains(text: Self.words($0)) }
  }

  /// The keywords of a text, which commas separate; parts without a letter or a digit are left out.
  package static func keywords(_ text: String) -> [String] {
    text.split(separator: ",").map { String($0) }.filter { words($0) != " " }
  }

  /// The words of a text in lower case, each with a space before and after it.
  private static func words(_ text: String) -> String {
    var words = " "
    for character in text.lowercased() {
      if character.isLetter || character.isNumber {
        words.append(character)
      } else if !words.utf8.ends(with: 0x20) {
        words += " "
      }
    }
    return words.utf8.ends(with: 0x20) ? words : words + " "
  }
}

extension String.UTF8View {
  fileprivate func ends(with byte: UInt8) -> Bool { last == byte }
}

/// A part of each day, such as `22:00-07:00`; it may go past midnight.
public struct QuietHours: Equatable, Sendable {
  /// Minutes after midnight, from 0 to 1,439; the last one is not a part of the quiet hours.
  public let first, end: Int

  /// - Returns: nil if the text is not two different times with a hyphen between them.
  public init?(_ text: String) {
    let times = text.split(separator: "-", omittingEmptySubsequences: false).map(Self.minutes)
    guard times.count == 2, let first = times[0], let end = times[1], first != end else { return nil }
    (self.first, self.end) = (first, end)
  }

  /// Whether a minute of the day is in the quiet hours.
  public func contains(minute: Int) -> Bool {
    first < end ? (first..<end).contains(minute) : minute >= first || minute < end
  }

  private static func minutes(_ text: Substring) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let digits: ClosedRange<UInt8> = 0x30...0x39
    guard parts.count == 2,
      parts.allSatisfy({ part in (1...2).contains(part.utf8.count) && part.utf8.allSatisfy { digits.contains($0) } }),
      let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
    else { return nil }
    return hour * 60 + minute
  }
}
