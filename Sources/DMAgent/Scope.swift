internal import DMJSON
internal import DMKit

/// The conversations that the agent may use; all others look as if they did not exist.
struct Scope {
  let messenger: Messenger
  /// The allowed conversations; nil for all conversations of the user.
  ///
  /// A group is an id, and a direct conversation is the other user, because it may not exist yet.
  let only: [ConversationReference]?
  /// The conversations to which the agent may write, in the form of `only`; nil for all that it may use.
  let sendTo: [ConversationReference]?
  /// The folder whose files the agent may send; nil for none.
  let files: String?
  /// Nil if the agent may change as much as it wants.
  let rate: RateLimit?
  /// The owner's limits, as a text for the model; empty if there are none.
  let limits: String
  /// Nil if the agent gets the cursors themselves.
  private let cursors: CursorTable?

  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  init(_ messenger: Messenger, _ settings: AgentServer.Settings) throws {
    let (only, sendTo, rate) = (settings.only, settings.sendTo, settings.rate)
    self.messenger = messenger
    cursors = only.map { _ in CursorTable() }
    files = settings.files
    self.rate = rate.map { RateLimit($0, messenger) }
    self.only = try only?.map { try Self.settled($0, messenger) }
    self.sendTo = try sendTo?.map { try Self.settled($0, messenger) }
    limits =
      (sendTo.map { " You may write only to: \($0.map(\.description).joined(separator: ", "))." } ?? "")
      + (rate.map { " You may make at most \($0.count) changes per \($0.unit)." } ?? "")
  }

  // MARK: Cursors

  /// The text of a cursor as the agent gets it.
  func shown(_ cursor: some CustomStringConvertible) -> String {
    cursors.map { $0.name(cursor.description) } ?? cursor.description
  }

  /// - Throws: `bad_cursor`.
  func cursor(_ text: String) throws(DMError) -> Cursor {
    guard let cursors else { return try Cursor(text) }
    return try cursors.cursor(text, Cursor.init)
  }

  /// - Throws: `bad_cursor`.
  func pageCursor(_ text: String) throws(DMError) -> PageCursor {
    guard let cursors else { return try PageCursor(text) }
    return try cursors.cursor(text, PageCursor.init)
  }

  // MARK: Answers

  /// What writes messages as the members of an answer.
  ///
  /// - Parameter anchor: the index of the message beside which messages are kept if they do not all fit; nil for the last.
  func table(_ messages: [Message], around anchor: Int? = nil) -> MessageTable {
    MessageTable(messages, for: messenger.identity.handle, around: anchor ?? messages.count - 1)
  }

  /// What writes conversations, each as one value.
  func rows(_ conversations: [Conversation]) throws -> [(inout JSONWriter) -> Void] {
    let last = try labeled(conversations.compactMap(\.lastMessage))
    let user = messenger.identity.handle
    return conversations.map { conversation in
      let message = last.first { $0.conversationID == conversation.id }
      return { conversation.writeShort(message, for: user, to: &$0) }
    }
  }

  // MARK: Conversations

  /// The conversations of `only` that exist.
  ///
  /// - Returns: nil if the agent may use all conversations of the user.
  func existing() throws -> [Conversation]? { try only?.compactMap(existing) }

  /// Whether a conversation that the agent may use exists; a direct conversation may not exist yet.
  func exists(_ reference: ConversationReference) throws -> Bool { try existing(reference) != nil }

  private func existing(_ reference: ConversationReference) throws -> Conversation? {
    do {
      return try messenger.conversation(reference)
    } catch let error as DMError where error.code == .unknownConversation {
      return nil
    }
  }

  /// The conversation that a reference names among the conversations of the agent.
  ///
  /// With `only`, nothing else is looked up: neither the result nor an error depends on other conversations.
  ///
  /// - Throws: `unknown_conversation`, `ambiguous_title`.
  func conversation(_ reference: ConversationReference) throws -> ConversationReference {
    guard let only else { return reference }
    let found = try only.compactMap(existing).filter { names(reference, $0) }
    if case .title(let title) = reference, let own = found.first(where: { isSame($0.ownName, title) }) {
      return .id(own.id)
    }
    if found.count > 1 {
      throw DMError(
        .ambiguousTitle, "\(found.count) conversations are '\(reference)'; name one by its id",
        subject: reference.description)
    }
    if let one = found.first { return .id(one.id) }
    if only.contains(reference) { return reference }
    throw DMError(
      .unknownConversation, "there is no conversation '\(reference)'; list_conversations lists yours",
      subject: reference.description)
  }

  /// Replaces the conversation references of messages, because they would show whether a title is unique among all of
  /// the user's groups.
  func labeled(_ messages: [Message]) throws -> [Message] {
    guard messages.contains(where: \.conversation.isGroup), let all = try existing() else { return messages }
    return messages.map { message in
      let label = message.conversation
      guard label.isGroup else { return message }
      let isUnique = label.title.map { title in all.count { names(.title(title), $0) } == 1 } ?? false
      var labeled = message
      labeled.conversation = ConversationLabel(
        title: label.title, isGroup: true,
        reference: isUnique ? "+\(label.title ?? "")" : message.conversationID.description)
      return labeled
    }
  }

  private func names(_ reference: ConversationReference, _ conversation: Conversation) -> Bool {
    switch reference {
    case .id(let id): return conversation.id == id
    case .title(let title):
      return isSame(conversation.ownName, title) || conversation.isGroup && isSame(conversation.title, title)
    case .direct(let handle):
      if conversation.isGroup { return false }
      let others = conversation.participants.filter { $0 != messenger.identity.handle }
      return others.isEmpty ? handle == messenger.identity.handle : others == [handle]
    }
  }

  private func isSame(_ name: String?, _ title: String) -> Bool {
    name.map(ExactString.init) == ExactString(title)
  }

  /// A reference to a message of one of the agent's conversations.
  ///
  /// - Throws: `unknown_message`, `unknown_conversation`.
  func message(_ reference: MessageReference) throws -> MessageReference {
    guard only != nil else { return reference }
    switch reference {
    case .number(_, in: nil): return reference
    case .number(let number, in: let named?): return .number(number, in: try conversation(named))
    case .id(let id):
      let allowed = try existing()?.map(\.id) ?? []
      if let message = try visibleMessage(id), allowed.contains(message.conversationID) { return reference }
      throw DMError(
        .unknownMessage, "there is no message '\(id)'; read_history returns ids", subject: id.description)
    }
  }

  private func visibleMessage(_ id: Identifier) throws -> Message? {
    do {
      return try messenger.messages([id])?.first
    } catch let error as DMError where !error.code.isFatal {
      return nil
    }
  }
}
