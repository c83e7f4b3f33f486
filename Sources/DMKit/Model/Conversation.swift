/// A direct conversation or a group, as one of its participants sees it.
public struct Conversation: Equatable, Sendable {
  public let id: Identifier
  public let isGroup: Bool
  public let title: String?
  public let creator: Handle?
  /// In the order in which they became users of the store.
  public let participants: [Handle]
  public let lastMessage: Message?
  /// When its last message was said by one whom the user does not block, or when it was created.
  public let lastActivity: Timestamp
  public let unreadCount: Int
  /// Those of them that mention the user.
  public var unreadMentionsCount = 0
  public let lastReadSeq: Int?
  public var firstUnreadSeq: Int?
  public let isPinned: Bool
  public let isArchived: Bool
  /// Set while it is muted; `Timestamp.forever` without an end.
  public var mutedUntil: Timestamp?
  public var draftText: String?
  public var avatarURL: String?
  /// How long what is said from now on lives.
  public var expireAfter: Duration?
  /// Whether it is in the user's lists: not deleted by him, and not one with somebody whom he blocks.
  var isListed = true
  /// Where the page after this conversation begins.
  public let cursor: PageCursor?
}

/// The most bytes of a group's title.
public let titleLimit = 256

/// - Throws: `bad_field` unless it is 1 to 256 bytes without control or direction characters.
func checkTitle(_ title: String) throws {
  let fault: String? =
    title.isEmpty
    ? "it is empty"
    : title.utf8.count > titleLimit
      ? "it is over \(titleLimit) bytes"
      : title.unicodeScalars.contains(where: isHidden)
        ? "it has a control or direction character in it" : nil
  if let fault { throw badTitle(title, fault) }
}

/// Refuses in the title of a new group what older versions of dm accepted, too.
///
/// - Throws: `bad_field`, also where it has an invisible character.
func checkNewTitle(_ title: String) throws {
  try checkTitle(title)
  guard let character = invisibleCharacter(in: title) else { return }
  throw badTitle(title, "it has the invisible character \(character) in it; remove it")
}

private func badTitle(_ title: String, _ fault: String) -> DMError {
  DMError(.badField, "cannot use the title '\(title)': \(fault)", subject: "title")
}
