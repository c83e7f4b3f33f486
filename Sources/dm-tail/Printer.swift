internal import DMCLI
internal import DMKit

/// Prints messages and events.
///
/// With --read, marks the printed messages as read. Marks the messages of a history as delivered, unless --peek or
/// --quiet is given.
final class Printer {
  private let call: Invocation
  private let messenger: Messenger
  private let isToBeRead: Bool
  private var page: MessagePage
  private var renewed: RenewedLines?
  /// Whether no message was printed yet.
  private(set) var isEmpty = true

  init(_ call: Invocation, _ messenger: Messenger, _ conversations: [ConversationReference]) throws {
    self.call = call
    self.messenger = messenger
    isToBeRead = call.arguments[DMTail.read]
    page = MessagePage(messenger, conversations, on: try call.screen())
    renewed = try RenewedLines(call)
  }

  /// Prints the messages of a history that `stream` allows.
  ///
  /// If `--events` lacks the kind `message`, prints none; with `--others`, prints only messages of others.
  ///
  /// - Returns: the cursor at which the stream begins; nil if there is no store yet, or if no stream follows.
  func print(_ query: HistoryQuery, of stream: EventQuery) throws -> Cursor? {
    var query = query
    query.isOpening = true
    query.mayContinue = stream.follows
    let history = try messenger.history(query)
    let batches = {
      while stream.kinds.contains(.message), case let batch = try history.next(), !batch.isEmpty {
        let batch = stream.othersOnly ? batch.filter { !$0.isMine } : batch
        if !batch.isEmpty { return batch }
      }
      return []
    }
    try print(batches, markDelivered: history.markDelivered)
    return history.cursor
  }

  /// Prints messages that were named by their ids.
  func print(_ messages: [Message]) throws {
    var rest = messages
    let batches = {
      defer { rest = [] }
      return rest
    }
    try print(batches, markDelivered: { _ = try messenger.markDelivered(upTo: $0) })
  }

  /// Prints batches until one is empty.
  ///
  /// Then marks the printed messages as read with --read, and as delivered unless --peek, --quiet or an option that
  /// chooses single messages is given.
  private func print(_ next: () throws -> [Message], markDelivered: ([Identifier: Int]) throws -> Void) throws {
    var printed = PrintedMessages(isToBeRead: isToBeRead)
    while case let batch = try next(), !batch.isEmpty {
      for message in batch {
        try call.print(message) {
          let text = try page.text(of: $0)
          renewed?.remember(text)
          return text
        }
        printed.add(message)
        isEmpty = false
      }
    }
    // The reader has the messages only after the flush.
    try call.output.flush()
    if isToBeRead { try printed.markRead(messenger) }
    if !call.arguments[DMTail.peek], !call.isQuiet, !DMTail.choosesMessages(call.arguments) {
      try markDelivered(printed.lastOfOthers)
    }
  }

  /// Prints events; the follower marks them as delivered.
  func print(_ events: [MessagingEvent]) throws {
    for event in events {
      if renewed == nil {
        try call.print(event) { try page.text(of: $0) }
      } else {
        try renewed?.print(event) { try page.text(of: event) }
      }
    }
    if call.arguments[DMTail.bell], events.contains(where: isMessageOfOthers) { ringBell() }
    guard isToBeRead else { return }
    try call.output.flush()
    var printed = PrintedMessages(isToBeRead: isToBeRead)
    for case .message(let message, _) in events { printed.add(message) }
    try printed.markRead(messenger)
  }

  /// Whether the screen is redrawn when its width changes.
  var canRedraw: Bool { renewed != nil }

  func redraw() throws { try renewed?.redraw() }

  private func isMessageOfOthers(_ event: MessagingEvent) -> Bool {
    if case .message(let message, _) = event { !message.isMine } else { false }
  }
}
