/// A direct conversation or a group, as one of its participants sees it.
public struct Conversation: Equatable, Identifiable, Sendable {
  /// The role of a user in a conversation.
  ///
  /// Expect more cases in later versions.
  public enum Role: String, CaseIterable, Sendable {
    /// A participant of a direct conversation, or a participant of a group who is not an owner.
    case member
    /// A participant who may change a group and its members.
    case owner
    /// A user who has left a group or was removed.
    case former
  }

  /// The id, which never changes.
  public let id: Identifier
  /// The name to show: the user's own name for the conversation, else its title, else the display names of the other
  /// participants, or the handles of those who have no display name.
  public var name = ""
  /// Whether the conversation is a group, not a direct conversation.
  public let isGroup: Bool
  /// The title of a group; nil in a direct conversation, and for a group without one.
  public let title: String?
  /// The user's own name for the conversation, which others do not see.
  public var ownName: String?
  /// The user who created the conversation; nil if that is unknown.
  public let creator: Handle?
  /// The owners of a group, in the order of the participants; empty for a former member and in a direct conversation.
  public var owners: [Handle] = []
  /// The role of the user; nil for a user who imports a conversation of others.
  public var myRole: Role?
  /// The participants, in the order in which they became users of the store.
  public let participants: [Handle]
  /// The newest message that the user sees; a text of more than 200 code points is cut, and `isTruncated` is set.
  public package(set) var lastMessage: Message?
  /// The time of the last message from a user who is not blocked; if there is none, the time of the creation.
  public let lastActivityAt: Timestamp
  /// The number of unread messages.
  public let unreadCount: Int
  /// How many of the unread messages mention the user.
  public var unreadMentionsCount = 0
  /// The highest number of a message that the user has read; messages with lower numbers may be unread.
  public let lastReadSeq: Int?
  /// The lowest number of an unread message.
  public var firstUnreadSeq: Int?
  /// Whether the user has pinned the conversation, so that it is listed first.
  public let isPinned: Bool
  /// Whether the user has archived the conversation, so that it is not listed by default.
  public let isArchived: Bool
  /// The time until which the conversation is muted: `Timestamp.forever` for no end, and nil if it is not muted.
  public var mutedUntil: Timestamp?
  /// The user's draft; nil if there is none.
  public var draftText: String?
  /// The address of the picture of a group; nil if there is none.
  public var avatarURL: String?
  /// The time after which new messages expire; nil if they do not expire.
  public var expireAfter: Duration?
  /// The id that the conversation had before; set only in the event in which it gets another id from the hub.
  public var replaces: Identifier?
  /// Whether the user's lists contain the conversation: the user has not deleted it, and it is not a direct
  /// conversation with a user that they block.
  package var isListed = true
  /// The position in the list after this conversation.
  public let pageCursor: PageCursor?

  /// Makes a conversation that is not in a store, for a preview or a test; set other properties afterwards.
  public init(
    id: Identifier, name: String, isGroup: Bool, title: String? = nil, creator: Handle? = nil, participants: [Handle],
    lastMessage: Message? = nil, lastActivityAt: Timestamp, unreadCount: Int = 0, lastReadSeq: Int? = nil,
    isPinned: Bool = false, isArchived: Bool = false
  ) {
    self.init(
      id: id, name: name, isGroup: isGroup, title: title, ownName: nil, creator: creator, participants: participants,
      lastMessage: lastMessage, lastActivityAt: lastActivityAt, unreadCount: unreadCount, lastReadSeq: lastReadSeq,
      isPinned: isPinned, isArchived: isArchived, pageCursor: nil)
  }

  package init(
    id: Identifier, name: String = "", isGroup: Bool, title: String?, ownName: String? = nil, creator: Handle?,
    owners: [Handle] = [], myRole: Role? = nil, participants: [Handle], lastMessage: Message?,
    lastActivityAt: Timestamp, unreadCount: Int, unreadMentionsCount: Int = 0, lastReadSeq: Int?,
    firstUnreadSeq: Int? = nil, isPinned: Bool, isArchived: Bool, mutedUntil: Timestamp? = nil,
    draftText: String? = nil, avatarURL: String? = nil, expireAfter: Duration? = nil, isListed: Bool = true,
    pageCursor: PageCursor?
  ) {
    self.id = id
    self.name = name
    self.isGroup = isGroup
    self.title = title
    self.ownName = ownName
    self.creator = creator
    self.owners = owners
    self.myRole = myRole
    self.participants = participants
    self.lastMessage = lastMessage
    self.lastActivityAt = lastActivityAt
    self.unreadCount = unreadCount
    self.unreadMentionsCount = unreadMentionsCount
    self.lastReadSeq = lastReadSeq
    self.firstUnreadSeq = firstUnreadSeq
    self.isPinned = isPinned
    self.isArchived = isArchived
    self.mutedUntil = mutedUntil
    self.draftText = draftText
    self.avatarURL = avatarURL
    self.expireAfter = expireAfter
    self.isListed = isListed
    self.pageCursor = pageCursor
  }
}

/// The maximum number of bytes of a group's title.
package let titleLimit = 256

/// - Throws: `bad_field` if the title is empty, has over 256 bytes, or has a control or direction character.
package func checkTitle(_ title: String, as field: String = "title") throws {
  let fault: String? =
    title.isEmpty
    ? "it is empty; write one"
    : title.utf8.count > titleLimit
      ? "it is over \(titleLimit) bytes"
      : title.unicodeScalars.contains(where: isHidden)
        ? "it has a control or direction character in it" : nil
  if let fault { throw badTitle(title, fault, field) }
}

/// Checks a new title or a new name; unlike `checkTitle`, also refuses characters that older versions of dm accepted.
///
/// - Throws: `bad_field`, also for an invisible character.
package func checkNewTitle(_ title: String, as field: String = "title") throws {
  try checkTitle(title, as: field)
  guard let character = invisibleCharacter(in: title) else { return }
  throw badTitle(title, "it has the invisible character \(character) in it; remove it", field)
}

private func badTitle(_ title: String, _ fault: String, _ field: String) -> DMError {
  DMError(.badField, "cannot use the \(field) '\(title)': \(fault)", subject: field)
}

/// The name of a message's conversation for the user who reads the message, and a reference to the conversation.
public struct ConversationLabel: Equatable, Sendable {
  /// The name that the user gave the conversation, else the title of a group, else the handle of the other participant.
  ///
  /// Nil for a group that has neither this name nor a title.
  public let title: String?
  /// Whether the conversation is a group, not a direct conversation.
  public let isGroup: Bool
  /// A reference to this conversation that the user can write: `bob`, `+ops`, or its UUID if the title is missing or
  /// not unique.
  public let reference: String

  /// Makes a label, for example for a preview or a test of a view.
  public init(title: String?, isGroup: Bool, reference: String) {
    (self.title, self.isGroup, self.reference) = (title, isGroup, reference)
  }
}
