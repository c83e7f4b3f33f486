package import DMKit
internal import DMSystem

/// Messages as text for people: grouped by day, with a line above the first unread message.
package struct MessagePage {
  private let messenger: Messenger
  /// The only conversation of the page; nil if the page shows several conversations.
  ///
  /// A page of several conversations has the name of the conversation before each message.
  private let conversation: ConversationReference?
  /// The first unread message of the conversation, and the number of unread messages, when the page was begun.
  private var unread: (first: Int?, count: Int)?
  private var day = ""
  private var names: [Identifier: String] = [:]
  private var shownNames: [Handle: String] = [:]
  /// The users of each conversation of the page.
  private var people: [Identifier: People] = [:]
  private let isPlain: Bool
  private let hasLinks: Bool
  /// Whether the lines are kept in a file or another program, where `Today` would soon be wrong.
  private let isKept: Bool

  /// - Parameters:
  ///   - conversations: the conversations of the page; empty for all.
  ///   - screen: where the page is printed; nil for a page without links.
  ///   - isPlain: whether to print each message as one sentence, as for `--plain`.
  package init(
    _ messenger: Messenger, _ conversations: [ConversationReference], on screen: Screen? = nil, isPlain: Bool = false
  ) {
    self.messenger = messenger
    self.isPlain = screen?.isPlain ?? isPlain
    hasLinks = screen?.hasLinks ?? false
    isKept = screen?.columns == nil
    conversation = conversations.count == 1 ? conversations[0] : nil
  }

  package mutating func text(of message: Message) throws -> String {
    if isPlain { return try sentence(message) }
    var text = ""
    let today = TextFormat.day(message.createdAt)
    if today != day { text += TextFormat.dayLine(message.createdAt, now: isKept ? nil : .now) + "\n" }
    day = today
    if unread == nil {
      let found = try conversation.map(messenger.conversation)
      unread = (found?.firstUnreadSeq, found?.unreadCount ?? 0)
    }
    if let unread, let seq = message.seq, seq == unread.first { text += TextFormat.unreadLine(unread.count) + "\n" }
    let name = conversation == nil ? try self.name(message.conversationID) : nil
    let index = try people(of: message.conversationID)
    let isIntroduced = people.values[index].introduces(message, on: today)
    return text
      + TextFormat.line(message, people.values[index], isIntroduced: isIntroduced, in: name, address: address)
  }

  /// The users of the conversation of a message, among them its sender.
  package mutating func people(of message: Message) throws -> People {
    let index = try people(of: message.conversationID)
    people.values[index].learn(message.sender, message.senderName)
    return people.values[index]
  }

  /// The participants of a conversation, as lines name and color them.
  package mutating func people(in conversation: Identifier) throws -> People {
    people.values[try people(of: conversation)]
  }

  private mutating func people(of id: Identifier) throws -> Dictionary<Identifier, People>.Index {
    if let index = people.index(forKey: id) { return index }
    var new = People(messenger.identity.handle)
    new.add(try messenger.participants(of: .id(id)))
    people[id] = new
    return try people(of: id)
  }

  /// The file URL of an attachment's content (RFC 8089); nil if the page has no links, or if the content is not in the
  /// store.
  private func address(_ attachment: Attachment) -> String? {
    guard hasLinks, messenger.has(.content, of: attachment), let path = wholePath(messenger.path(of: attachment)) else {
      return nil
    }
    let escaped = path.utf8.map { byte in
      let isPlain =
        byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
      return isPlain || "/-._~".utf8.contains(byte)
        ? String(Unicode.Scalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return "file://\(hostName())\(escaped.joined())"
  }

  /// A message as one sentence, for `--plain`.
  private mutating func sentence(_ message: Message) throws -> String {
    let name = conversation == nil ? try self.name(message.conversationID) : nil
    let users =
      [message.sender] + [message.replyTo?.sender, message.forwardedFrom, message.pin?.user].compactMap(\.self)
      + message.reactions.flatMap(\.users)
    for user in users where shownNames[user] == nil {
      shownNames[user] = Mark.body(try messenger.shownName(of: user))
    }
    let names = shownNames
    return TextFormat.sentence(message, for: messenger.identity.handle, in: name) { names[$0] ?? $0.description }
  }

  /// The text before the number of a message: the conversation's name and a colon, as in `bob:57`, if the page shows
  /// several conversations, else nothing.
  private mutating func prefix(_ id: Identifier) throws -> String { conversation == nil ? "\(try name(id)):" : "" }

  package mutating func name(_ id: Identifier) throws -> String {
    if let name = names[id] { return name }
    let name = TextFormat.name(try messenger.conversation(.id(id)), for: messenger.identity.handle)
    names[id] = name
    return name
  }

  /// An event as text for people; nil for an event that only programs need.
  package mutating func text(of event: MessagingEvent) throws -> String? {
    switch event {
    case .message(let message, _):
      return try text(of: message)
    case .messageUpdated(let message, _):
      let address = try prefix(message.conversationID) + TextFormat.number(message)
      let change = message.editedAt == nil ? "changed" : "edited"
      return Mark.faint("-- \(address) \(change) --") + "\n" + (try text(of: message))
    case .messageStatus(let status, _):
      // Only statuses of the user's own messages are printed.
      guard status.sender == messenger.identity.handle else { return nil }
      return TextFormat.line(status, in: try prefix(status.conversationID))
    case .messageDeleted(let deletion, _):
      return TextFormat.line(deletion, in: try prefix(deletion.conversationID))
    case .reaction(let reaction, _):
      return TextFormat.line(reaction, in: try prefix(reaction.conversationID))
    case .messagePin(let pin, _):
      return TextFormat.line(pin, in: try prefix(pin.conversationID))
    case .readReceipt(let receipt, _), .deliveryReceipt(let receipt, _):
      return TextFormat.line(
        receipt, try people(in: receipt.conversationID), in: try name(receipt.conversationID))
    case .conversationUpdated(let conversation, _):
      return TextFormat.line(conversation, for: messenger.identity.handle)
    case .typing(let typing):
      let names = try typing.users.map(messenger.shownName)
      return (conversation == nil ? "\(try name(typing.conversationID)): " : "") + TextFormat.typing(names)
    case .presence(let presence):
      return TextFormat.line(presence)
    case .hub(let status):
      return TextFormat.notice(status)
    case .gap:
      return "-- what happened here is no longer known --"
    case .caughtUp, .heartbeat:
      return nil
    }
  }
}

extension Messenger {
  /// The name shown for a user: `Bob B. (bob)`.
  package func shownName(of user: Handle) throws -> String {
    TextFormat.person(try self.user(user).displayName, user)
  }

  /// The other user of a direct conversation, if the acting user blocks them.
  package func blockedUser(of conversation: Conversation) throws -> Handle? {
    if conversation.isGroup { return nil }
    return try blockedUsers().map(\.handle).first(where: conversation.participants.contains)
  }
}
