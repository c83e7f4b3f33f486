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
  private(set) var hasNewer = false
  private var hasOlder = true
  /// The number of the message above which the line of unread messages stands.
  var firstUnread: Int?

  private let messenger: Messenger
  private let conversation: ConversationReference
  /// Makes rows of a text.
  let draw: (String) -> [[UInt8]]

  private static let page = 100
  /// So many messages are kept in memory.
  private static let most = 1000

  init(_ messenger: Messenger, _ conversation: ConversationReference, draw: @escaping (String) -> [[UInt8]]) {
    self.messenger = messenger
    self.conversation = conversation
    self.draw = draw
  }

  func read(_ change: (inout HistoryQuery) -> Void) throws -> (entries: [Entry], cursor: Cursor?) {
    var query = HistoryQuery(conversation)
    query.limit = Self.page
    query.includesDeleted = true
    query.allowsMissing = true
    query.includesReaders = true
    change(&query)
    let history = try messenger.history(query)
    var entries: [Entry] = []
    while case let batch = try history.next(), !batch.isEmpty { entries += batch.map { Entry(message: $0) } }
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

  /// Reads the messages around one, and puts it at the bottom of the screen.
  mutating func read(around seq: Int) throws {
    entries = try read { $0.ranges = [RangeReference(from: max(1, seq - Self.page / 2), to: seq + Self.page / 2)] }
      .entries.filter { $0.message.seq != nil }
    (hasOlder, hasNewer) = (true, true)
    bottom = entries.lastIndex { $0.message.seq ?? .max <= seq }.map { Bottom(index: $0, hidden: 0) }
    if entries.isEmpty { try readNewest() }
  }

  /// Reads older messages, and forgets the newest of too many.
  ///
  /// - Returns: how many were read.
  mutating func readOlder() throws -> Int {
    guard hasOlder, let first = entries.first?.message.seq else { return 0 }
    let older = try read { $0.before = .message(.number(first, in: nil)) }.entries.filter { $0.message.seq != nil }
    hasOlder = older.count == Self.page
    entries.insert(contentsOf: older, at: 0)
    bottom?.index += older.count
    if entries.count > Self.most {
      hasNewer = true
      entries.removeLast(entries.count - Self.most)
    }
    return older.count
  }

  /// - Returns: whether there were any.
  mutating func readNewer() throws -> Bool {
    guard hasNewer, let last = entries.last?.message.seq else { return false }
    let newer = try read { $0.ranges = [RangeReference(from: last + 1, to: last + Self.page)] }.entries
    // None are there, or the user sees none of so many.
    if newer.isEmpty { try readNewest() }
    entries += newer
    return !newer.isEmpty
  }
}
