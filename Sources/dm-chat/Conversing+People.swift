internal import DMCLI
internal import DMKit

/// The people of a conversation, and other conversations.
extension Conversing {
  /// A line for each participant, those who are online first, and how many are online.
  func who() throws -> (lines: [String], online: Int) {
    guard let conversation = try existing() else { return ([], 0) }
    let me = messenger.identity.handle
    messenger.watchPresence()
    let seen = Dictionary(try messenger.presence().map { ($0.user, $0) }) { first, _ in first }
    let blocked = Set(try messenger.blockedUsers().map(\.handle))
    var (online, others): ([String], [String]) = ([], [])
    for user in conversation.participants {
      var parts = [try messenger.shownName(of: user)]
      if conversation.owners.contains(user) { parts.append("owner") }
      if blocked.contains(user) { parts.append("blocked by you") }
      let isOnline = user == me || seen[user]?.isOnline == true
      if user == me {
        parts.append("you")
      } else if isOnline {
        parts.append("online")
      } else if let presence = seen[user] {
        parts.append(presence.lastSeenAt.map { "last seen \(TextFormat.dateAndTime($0))" } ?? "never seen")
      }
      let line = (isOnline ? "  • " : "    ") + Mark.body(parts.joined(separator: ", "))
      if isOnline { online.append(line) } else { others.append(line) }
    }
    return (online + others, online.count)
  }

  /// Sends a copy of a message to another conversation.
  ///
  /// - Parameter words: the number of the message, and the conversation.
  /// - Returns: what was done, for the user.
  func forward(_ words: String) throws -> String {
    let (number, rest) = Entered.number(words)
    let name = String(rest.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    guard let number, !name.isEmpty else {
      throw usage("write /forward, the number of a message, and a conversation, such as bob or +ops")
    }
    let target = try ConversationReference(name)
    let message = try messenger.messageToForward(message(number))
    let sent = try messenger.send(
      Outgoing(
        to: target, text: message.text ?? "", attachments: message.attachments.map(\.id), forwards: message.id))
    return "forwarded to \(sent.conversation.reference)"
  }

  /// The newest other conversation that has unread messages and is not muted; nil if there is none.
  func nextUnread() throws -> ConversationReference? {
    var query = ListQuery()
    (query.unreadOnly, query.unmutedOnly, query.limit) = (true, true, 2)
    let here = try existing()?.id
    return try messenger.conversations(query).first { $0.id != here }.map { .id($0.id) }
  }
}
