import DMKit
import Synchronization

// The services that the screens of a messenger are written against, on DMKit. An app takes the protocols and the class as
// they are, or in the shape that its screens need.
//
// What is otherwise than such interfaces often ask for: pages have a cursor instead of a number, because conversations move
// in the list while it is read; people have handles, which are unique, instead of UUIDs; what fails throws a DMError, whose
// code is stable. Nothing has to be subscribed to a server and nothing is signed in: a store is a folder, and who acts is
// said when it is opened.

/// Lists, messages, and what a person does with them.
protocol MessagingService: Sendable {
  func createConversation(with people: [Handle], titled title: String?) async throws -> Conversation
  func leaveConversation(_ id: Identifier) async throws
  func setMuted(_ isMuted: Bool, _ id: Identifier) async throws
  func setArchived(_ isArchived: Bool, _ id: Identifier) async throws
  func setPinned(_ isPinned: Bool, _ id: Identifier) async throws
  func fetchConversations(after cursor: PageCursor?, limit: Int) async throws -> [Conversation]
  func fetchMessages(in id: Identifier, before time: Timestamp?, limit: Int) async throws -> [Message]
  /// - Parameter nonce: the same for each attempt to send this message, so that it is sent once.
  func send(_ text: String, attachments: [Identifier], to id: Identifier, nonce: String) async throws -> Message
  func edit(_ message: Identifier, to text: String) async throws
  func delete(_ message: Identifier, forEveryone: Bool) async throws
  func markDelivered(upTo message: Identifier, in id: Identifier) async throws
  func markRead(upTo message: Identifier, in id: Identifier) async throws
  func report(_ message: Identifier, reason: String?) async throws
  func setBlocked(_ isBlocked: Bool, _ person: Handle) async throws
}

/// What happens, and what others see of the person.
protocol RealtimeService: Sendable {
  /// The updates of conversations from now on, and later of those that `setVisible` names; none stands for all.
  ///
  /// The stream does not throw: an error is its last update.
  func updates(of conversations: [Identifier]) async throws -> AsyncStream<Update>
  /// Changes the conversations of the stream of updates that was made last. No update after the call is lost.
  func setVisible(_ conversations: [Identifier])
  /// Shows typing for five seconds, or hides it. Call it at most once in four seconds while the person types.
  func setTyping(_ isTyping: Bool, in id: Identifier) async throws
}

/// An update of a screen.
enum Update: Sendable {
  case added(Message), edited(Message), deleted(messageID: Identifier, in: Identifier)
  case typing([Handle], in: Identifier)
  /// A person has received or read messages.
  case status(Message.Status, of: [Identifier], by: Handle)
  case conversation(Conversation)
  /// What the stream cannot tell: read the screens anew.
  case gap
  case failed(any Error)
}

/// Files.
protocol MediaService: Sendable {
  /// Cleans a file of its metadata, makes a thumbnail, and keeps it in the store until it is sent.
  func prepareAttachment(_ path: String) async throws -> Attachment
}

/// The services of one person on one store.
final class Services: MessagingService, RealtimeService, MediaService {
  private let messenger: AsyncMessenger
  private let stream = Mutex<MessagingEvents?>(nil)

  init(_ store: StoreLocation, as person: Handle) {
    messenger = AsyncMessenger(store, as: Messenger.Identity(person, isLoginName: false))
  }

  /// The person who acts.
  func currentUser() async throws -> User { try await messenger.perform { try $0.user() } }

  // MARK: Messaging

  func createConversation(with people: [Handle], titled title: String?) async throws -> Conversation {
    try await messenger.perform {
      if let title { try $0.createGroup(titled: title, with: people) } else { try $0.createConversation(with: people) }
    }
  }

  func leaveConversation(_ id: Identifier) async throws {
    _ = try await messenger.perform { try $0.leave(.id(id)) }
  }

  func setMuted(_ isMuted: Bool, _ id: Identifier) async throws {
    try await change(isMuted ? .muted(for: nil) : .unmuted, id)
  }

  func setArchived(_ isArchived: Bool, _ id: Identifier) async throws { try await change(.archived(isArchived), id) }

  func setPinned(_ isPinned: Bool, _ id: Identifier) async throws { try await change(.pinned(isPinned), id) }

  private func change(_ change: OwnChange, _ id: Identifier) async throws {
    _ = try await messenger.perform { try $0.change(change, in: [.id(id)]) }
  }

  func fetchConversations(after cursor: PageCursor?, limit: Int) async throws -> [Conversation] {
    var query = ListQuery()
    (query.after, query.limit) = (cursor, limit)
    return try await messenger.perform { [query] in try $0.conversations(query) }
  }

  func fetchMessages(in id: Identifier, before time: Timestamp?, limit: Int = 30) async throws -> [Message] {
    var query = HistoryQuery(.id(id))
    (query.before, query.limit) = (time.map { .time($0) }, limit)
    return try await messenger.perform { [query] in
      let history = try $0.history(query)
      var messages: [Message] = []
      while case let batch = try history.next(), !batch.isEmpty { messages += batch }
      return messages
    }
  }

  func send(_ text: String, attachments: [Identifier], to id: Identifier, nonce: String) async throws -> Message {
    let outgoing = try Outgoing(to: .id(id), text: text, nonce: nonce, attachments: attachments)
    return try await messenger.perform { try $0.send(outgoing) }
  }

  func edit(_ message: Identifier, to text: String) async throws { try await act(.text(text), on: message) }

  func delete(_ message: Identifier, forEveryone: Bool) async throws {
    try await act(.delete(forEveryone: forEveryone), on: message)
  }

  func report(_ message: Identifier, reason: String?) async throws {
    try await act(.report(reason: reason), on: message)
  }

  private func act(_ act: Edit.Act, on message: Identifier) async throws {
    let edit = try Edit(.id(message), act)
    try await messenger.perform { for result in try $0.edit([edit]) { _ = try result.get() } }
  }

  func markDelivered(upTo message: Identifier, in id: Identifier) async throws {
    try await mark(.delivered, upTo: message, in: id)
  }

  func markRead(upTo message: Identifier, in id: Identifier) async throws {
    try await mark(.read, upTo: message, in: id)
  }

  private func mark(_ act: Marked.Action, upTo message: Identifier, in id: Identifier) async throws {
    var options = Messenger.MarkOptions()
    options.act = act
    _ = try await messenger.perform { [options] in try $0.markRead(.upTo(.id(message)), in: .id(id), options) }
  }

  func setBlocked(_ isBlocked: Bool, _ person: Handle) async throws {
    _ = try await messenger.perform { try $0.setBlocked(isBlocked, [person]) }
  }

  // MARK: Realtime

  func updates(of conversations: [Identifier]) async throws -> AsyncStream<Update> {
    var newest = HistoryQuery()
    newest.limit = 0
    // The position of now, and not of when the task below begins to read.
    let cursor = try await messenger.perform { [newest] in try $0.history(newest).cursor }
    var query = EventQuery(from: cursor.map { .cursor($0) } ?? .start)
    query.kinds.formUnion([.typing, .conversationUpdated])
    // A message counts as delivered when the screen says so.
    query.marksDelivered = false
    let events = messenger.events(query)
    stream.withLock { $0 = events }
    setVisible(conversations)
    let (updates, continuation) = AsyncStream.makeStream(of: Update.self)
    let task = Task {
      do {
        for try await event in events { if let update = try await update(event) { continuation.yield(update) } }
      } catch {
        continuation.yield(.failed(error))
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
    return updates
  }

  func setVisible(_ conversations: [Identifier]) {
    stream.withLock { $0?.watch(conversations.map { .id($0) }) }
  }

  private func update(_ event: MessagingEvent) async throws -> Update? {
    switch event {
    case .message(let message, _): return .added(message)
    case .messageUpdated(let message, _): return .edited(message)
    case .messageDeleted(let deletion, _): return .deleted(messageID: deletion.messageID, in: deletion.conversationID)
    case .typing(let typing): return .typing(typing.users, in: typing.conversationID)
    case .conversationUpdated(let conversation, _): return .conversation(conversation)
    case .gap: return .gap
    case .messageStatus(let status, _):
      let ids = try await messenger.perform { try $0.messageIDs(status.ranges, in: status.conversationID) }
      return .status(status.status, of: ids, by: status.user)
    default: return nil
    }
  }

  func setTyping(_ isTyping: Bool, in id: Identifier) async throws {
    try await messenger.perform {
      let signal = try $0.typing(in: .id(id))
      if isTyping { signal?.show() } else { signal?.hide() }
    }
  }

  // MARK: Media

  func prepareAttachment(_ path: String) async throws -> Attachment {
    try await messenger.perform { try $0.prepare(.file(path)).attachment }
  }
}
