internal import DMCLI
internal import DMKit

/// Prints messages and events, and marks what was printed.
struct Printer {
  private let call: Invocation
  private let messenger: Messenger
  private let isToBeRead: Bool
  private var page: MessagePage

  init(_ call: Invocation, _ messenger: Messenger, _ conversations: [ConversationReference]) {
    self.call = call
    self.messenger = messenger
    isToBeRead = call.arguments[DMTail.read]
    page = MessagePage(messenger, conversations)
  }

  /// Prints of a history what the stream that follows it would tell too.
  ///
  /// - Returns: where the stream goes on; nil when there is no store yet.
  mutating func print(_ query: HistoryQuery, of stream: EventQuery) throws -> Cursor? {
    let history = try messenger.history(query)
    try print {
      while stream.kinds.contains(.message), case let batch = try history.next(), !batch.isEmpty {
        let batch = stream.othersOnly ? batch.filter { !$0.isMine } : batch
        if !batch.isEmpty { return batch }
      }
      return []
    }
    return history.cursor
  }

  /// Prints messages that were named by their ids.
  mutating func print(_ messages: [Message]) throws {
    var rest = messages
    try print {
      defer { rest = [] }
      return rest
    }
  }

  /// Prints batches until one is empty, then marks what was printed.
  private mutating func print(_ next: () throws -> [Message]) throws {
    var printed = PrintedMessages(isToBeRead: isToBeRead)
    while case let batch = try next(), !batch.isEmpty {
      for message in batch {
        try call.print(message) { try page.text(of: $0) }
        printed.add(message)
      }
    }
    // Only now is it known that the reader got it.
    try call.output.flush()
    if isToBeRead { try printed.markRead(messenger) }
    if !call.arguments[DMTail.peek], !call.isQuiet { try messenger.markDelivered(upTo: printed.lastOfOthers) }
  }

  /// The follower notes what was delivered.
  mutating func print(_ events: [MessagingEvent]) throws {
    for event in events { try call.print(event) { try page.text(of: $0) } }
    guard isToBeRead else { return }
    try call.output.flush()
    var printed = PrintedMessages(isToBeRead: isToBeRead)
    for case .message(let message, _) in events { printed.add(message) }
    try printed.markRead(messenger)
  }
}
