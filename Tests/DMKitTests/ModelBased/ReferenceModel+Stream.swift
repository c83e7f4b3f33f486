@testable import DMKit

/// The events that followers must get.
extension ReferenceModel {
  /// An entry of the model's log.
  struct Entry {
    enum Kind: CustomStringConvertible {
      case conversation(by: User)
      /// The own state of a user has changed.
      case own(User)
      case message(Int)
      case edited(Int)
      case deleted(Int)
      case hidden(Int, by: User)
      case reaction(Int, by: User)
      case pinned(Int, by: User)
      /// `forSender` if the status changes for the sender only: the receipts before were those of the sender, or of
      /// users that the sender blocks.
      case status(Int, Message.Status, by: User, forSender: Bool)
      case read(SeqRange, by: User)
      case got(SeqRange, by: User)

      var description: String {
        switch self {
        case .conversation(let user): "changed by \(user)"
        case .own(let user): "changed for \(user)"
        case .message(let seq): "\(seq) said"
        case .edited(let seq): "\(seq) edited"
        case .deleted(let seq): "\(seq) deleted"
        case .hidden(let seq, let user): "\(seq) deleted for \(user)"
        case .pinned(let seq, let user): "\(seq) pinned or unpinned by \(user)"
        case .reaction(let seq, let user): "\(seq) reacted to by \(user)"
        case .status(let seq, let status, let user, _): "\(seq) \(status) by \(user)"
        case .read(let range, let user): "\(range) read by \(user)"
        case .got(let range, let user): "\(range) got by \(user)"
        }
      }
    }

    let number: Int
    let talk: Int
    let kind: Kind
    /// The time, which is learned from the store.
    var at: Timestamp?
  }

  mutating func log(_ talk: Int, _ kind: Entry.Kind) {
    entries.append(Entry(number: entries.count, talk: talk, kind: kind))
  }

  /// Whether the user was a member at the time of the entry, and so gets its event, even after they have left.
  private func isDelivered(_ entry: Entry, _ user: User) -> Bool {
    isIn(user, entry.talk) || talks[entry.talk].parts[user]?.past.map { entry.number < $0.entries } == true
  }

  /// The user who caused the entry.
  func actor(_ entry: Entry) -> User {
    switch entry.kind {
    case .conversation(let user), .own(let user), .hidden(_, let user), .reaction(_, let user),
      .pinned(_, let user), .status(_, _, let user, _), .read(_, let user), .got(_, let user):
      user
    case .message(let seq), .edited(let seq), .deleted(let seq): talks[entry.talk].said[seq - 1].sender
    }
  }

  static func kind(_ entry: Entry) -> MessagingEvent.Kind {
    switch entry.kind {
    case .conversation, .own: .conversationUpdated
    case .message: .message
    case .edited: .messageUpdated
    case .status: .messageStatus
    case .deleted, .hidden: .messageDeleted
    case .reaction: .reaction
    case .pinned: .messagePin
    case .read: .readReceipt
    case .got: .deliveryReceipt
    }
  }

  /// The event that a user gets for an entry if they read it now, with this cursor; nil if they get none.
  func event(
    _ entry: Entry, to user: User, _ cursor: Cursor, _ cache: inout [Int: Conversation]
  ) throws -> MessagingEvent? {
    let talk = entry.talk
    func conversation() throws -> Conversation {
      let seen = try cache[talk] ?? self.conversation(talk, to: user)
      cache[talk] = seen
      return seen
    }
    guard let id = talks[talk].id, talks[talk].parts[user] != nil else { return nil }
    let isOwn = actor(entry) == user
    // A blocked user's changes to a group are visible in everybody's list, and so are their pins, so they give events.
    switch entry.kind {
    case .conversation, .pinned: break
    default: if hasBlocked(user, actor(entry)) { return nil }
    }
    let at = entry.at ?? Timestamp(microseconds: 0)
    func messageID(_ seq: Int) throws -> Identifier {
      guard let id = talks[talk].said[seq - 1].id else { throw Mismatch("a message was not learned") }
      return id
    }
    switch entry.kind {
    case .message(let seq):
      return sees(seq, talk, user) ? .message(try message(seq, talk, to: user), cursor) : nil
    case .status(let seq, let status, let reader, let forSender):
      let sender = talks[talk].said[seq - 1].sender
      if hasBlocked(sender, reader), reader != user { return nil }
      if forSender, hasBlocked(sender, user) { return nil }
      guard sees(seq, talk, user), isOwn || isDelivered(entry, user) else { return nil }
      return .messageStatus(
        MessageStatus(
          conversationID: id, conversationTitle: title(talk, to: user), sender: handle(sender), status: status,
          ranges: [seq...seq], user: handle(reader)), cursor)
    case .edited(let seq):
      return sees(seq, talk, user) ? .messageUpdated(try message(seq, talk, to: user), cursor) : nil
    case .deleted(let seq):
      guard reaches(seq, talk, user) else { return nil }
      return .messageDeleted(
        Deletion(messageID: try messageID(seq), conversationID: id, seq: seq, forEveryone: true), cursor)
    case .hidden(let seq, _):
      guard isOwn else { return nil }
      return .messageDeleted(
        Deletion(messageID: try messageID(seq), conversationID: id, seq: seq, forEveryone: false), cursor)
    case .reaction(let seq, let other):
      guard sees(seq, talk, user) else { return nil }
      let emoji = talks[talk].said[seq - 1].reactions.first { $0.user == other }?.emoji
      return .reaction(
        Reaction(
          messageID: try messageID(seq), conversationID: id, seq: seq, user: handle(other), emoji: emoji, reactedAt: at),
        cursor)
    case .pinned(let seq, let other):
      guard sees(seq, talk, user) else { return nil }
      let isPinned = talks[talk].said[seq - 1].pin != nil
      return .messagePin(
        MessagePin(of: try message(seq, talk, to: user), by: handle(other), isPinned: isPinned, at: at), cursor)
    case .read(let range, let reader):
      guard isDelivered(entry, user), range.contains(where: { !isHidden($0, talk, from: user) }) else { return nil }
      return .readReceipt(
        Receipt(
          kind: .read, conversationID: id, conversationTitle: title(talk, to: user), user: handle(reader),
          ranges: [range],
          at: at), cursor)
    case .got(let range, let getter):
      guard isDelivered(entry, user), range.contains(where: { !isHidden($0, talk, from: user) }) else { return nil }
      return .deliveryReceipt(
        Receipt(
          kind: .delivery, conversationID: id, conversationTitle: title(talk, to: user), user: handle(getter),
          ranges: [range], at: at), cursor)
    case .conversation:
      guard isDelivered(entry, user), isOwn || isListed(talk, user) else { return nil }
      return .conversationUpdated(try conversation(), cursor)
    case .own:
      return isOwn ? .conversationUpdated(try conversation(), cursor) : nil
    }
  }

  /// The messages of others in some entries: by conversation, the last one that reached the user; and how many of all
  /// these messages the user sees now.
  func messagesOfOthers(_ entries: some Sequence<Entry>, _ user: User) -> (last: [Int: Int], count: Int) {
    var last: [Int: Int] = [:]
    var count = 0
    for entry in entries {
      guard case .message(let seq) = entry.kind, actor(entry) != user, reaches(seq, entry.talk, user) else { continue }
      last[entry.talk] = max(last[entry.talk] ?? 0, seq)
      if sees(seq, entry.talk, user) { count += 1 }
    }
    return (last, count)
  }
}
