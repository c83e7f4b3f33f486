internal import DMStore

/// Decides which events are about the messages of a query with a sender, mentions or a thread.
///
/// A class, because Swift 6.3.1 fails to optimize `ChangeFeed` with a value that changes in place here.
final class SelectedEvents {
  /// The kinds of events that are about one message.
  static let kinds: Set<MessagingEvent.Kind> = [
    .message, .messageUpdated, .messageDeleted, .reaction, .messagePin,
  ]

  private let user: Handle
  private let sender: (key: UserKey, handle: Handle)?
  private let mentionsOnly: Bool
  private let notifications: NotificationRule?
  /// The thread, to which new answers are added.
  private var thread: MessageThread?

  /// The conversation of the thread; nil if there is no thread.
  var conversation: ConversationKey? { thread?.row.key }

  /// - Returns: nil if the query has no such condition.
  /// - Throws: `unknown_user`, or an error for the message of the thread.
  init?(_ query: EventQuery, _ session: Session) throws {
    guard query.selectsMessages else { return nil }
    user = try session.handle
    sender = try query.sender.map { (key: try session.userKey($0), handle: $0) }
    mentionsOnly = query.mentionsOnly
    notifications = query.notifications
    let row = try query.conversations.first.flatMap(session.findIfPresent)
    thread = try query.thread.map { try session.thread(of: $0, in: row, as: session.viewer) }
  }

  /// Whether the message of an event is selected; a new answer to the thread is added to it.
  func takes(_ event: MessagingEvent, of row: Changes.Row) -> Bool {
    switch event {
    case .message(let message, _) where !notifies(of: message): return false
    case .message(let message, _), .messageUpdated(let message, _):
      // Answers of other senders are a part of the thread, too.
      let isInThread = thread?.takes(message) ?? true
      return isInThread && sender.map { $0.handle == message.sender } ?? true && mentions(message)
    case .messageDeleted(let deletion, _):
      return !mentionsOnly && isInThread(deletion.messageID) && isFromSender(row)
    case .reaction(let reaction, _):
      return isAbout(row, reaction.messageID)
    case .messagePin(let pin, _):
      return isAbout(row, pin.messageID)
    default: return true
    }
  }

  private func notifies(of message: Message) -> Bool {
    guard let notifications else { return true }
    return message.isUnread && notifications.takes(message, for: user) && !notifications.isQuiet(at: .now)
  }

  private func mentions(_ message: Message) -> Bool { !mentionsOnly || message.mentions.contains(user) }

  /// Whether the message of a reaction or of a pin is selected.
  private func isAbout(_ row: Changes.Row, _ id: Identifier) -> Bool {
    row.message.map { mentions($0) } ?? false && isInThread(id) && isFromSender(row)
  }

  private func isInThread(_ id: Identifier) -> Bool { thread?.ids.contains(id) ?? true }

  /// A message that waits for the hub is not stored as a message, and was sent by the user who made the change.
  private func isFromSender(_ row: Changes.Row) -> Bool {
    sender.map { $0.key == row.stored?.sender ?? row.user } ?? true
  }
}
