internal import DMCLI
internal import DMKit

/// The part of a conversation that is in memory, and the place in it that the screen shows.
struct Stretch {
  struct Entry {
    var message: Message
    /// Its rows on the screen, made when they are first shown.
    var rows: [[UInt8]]?
  }

  /// The last message on the screen, and how many of its rows are below the screen.
  struct Bottom {
    var index: Int
    var hidden: Int
  }

  var entries: [Entry] = []
  /// Nil for the end of the conversation, which moves.
  var bottom: Bottom?
  var hasNewer = false
  var hasOlder = true
  /// The number of the message above which the line of unread messages stands.
  var firstUnread: Int?

  private let messenger: Messenger
  private let conversation: ConversationReference
  /// Makes rows of a text.
  let draw: (String) -> [[UInt8]]

  static let page = 100
  /// About so many messages are kept in memory.
  static let most = 1000

  init(_ messenger: Messenger, _ conversation: ConversationReference, draw: @escaping (String) -> [[UInt8]]) {
    self.messenger = messenger
    self.conversation = conversation
    self.draw = draw
  }

  /// - Parameter isWhole: false for the first few hundred of the messages.
  func read(
    isWhole: Bool = true, _ change: (inout HistoryQuery) -> Void
  ) throws -> (entries: [Entry], cursor: Cursor?) {
    var query = HistoryQuery(conversation)
    query.limit = Self.page
    query.includesDeleted = true
    query.allowsMissing = true
    query.includesReaders = true
    change(&query)
    let history = try messenger.history(query)
    var entries: [Entry] = []
    while case let batch = try history.next(), !batch.isEmpty {
      entries += batch.map { Entry(message: $0) }
      if !isWhole { break }
    }
    return (entries, history.cursor)
  }

  /// Reads the newest messages, and goes to the end.
  ///
  /// - Returns: where the stream of events goes on; nil if there is no store yet.
  @discardableResult
  mutating func readNewest() throws -> Cursor? {
    let (newest, cursor) = try read { _ in }
    entries = newest
    (bottom, hasOlder, hasNewer) = (nil, newest.count >= Self.page, false)
    return cursor
  }
}
