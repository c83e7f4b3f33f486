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

/// The pages of a long conversation.
extension Stretch {
  /// Reads the messages around one, and puts it, or the next one that the user sees, at the bottom of the screen.
  ///
  /// - Throws: `unknown_message` for a number that the conversation does not have.
  mutating func read(around number: Int) throws {
    let bound = HistoryQuery.Bound.message(.number(number, in: nil))
    let before = try read { $0.before = bound }.entries.filter { $0.message.seq != nil }
    let after = try read(isWhole: false) { ($0.since, $0.limit) = (bound, nil) }.entries
    entries = before + after.filter { $0.message.seq != nil }
    (hasOlder, hasNewer) = (true, true)
    if entries.isEmpty { return _ = try readNewest() }
    bottom = Bottom(index: min(before.count, entries.count - 1), hidden: 0)
  }

  /// Reads older messages, and forgets the newest of too many.
  ///
  /// - Returns: how many were read.
  mutating func readOlder() throws -> Int {
    guard hasOlder, let first = entries.first?.message.seq, first > 1 else { return 0 }
    // A range, because the first message may have been deleted meanwhile.
    let range = RangeReference(from: 1, to: first - 1)
    let older = try read { $0.ranges = [range] }.entries.filter { $0.message.seq != nil }
    hasOlder = older.count == Self.page
    entries.insert(contentsOf: older, at: 0)
    bottom?.index += older.count
    let kept = max(Self.most, (bottom?.index ?? entries.count) + 1)
    if entries.count > kept {
      hasNewer = true
      entries.removeLast(entries.count - kept)
    }
    return older.count
  }

  /// Reads newer messages, and forgets the oldest of too many.
  ///
  /// - Returns: whether there were any.
  mutating func readNewer() throws -> Bool {
    guard hasNewer, let last = entries.last?.message.seq else { return false }
    let newer = try read(isWhole: false) {
      ($0.ranges, $0.limit) = ([RangeReference(from: last + 1, to: nil)], nil)
    }.entries.filter { $0.message.seq != nil }
    if newer.isEmpty { try readNewest() }
    entries += newer
    forgetOldest()
    return !newer.isEmpty
  }

  /// Forgets the oldest of too many messages; what is on the screen stays.
  mutating func forgetOldest() {
    let surplus = min(entries.count - Self.most, (bottom?.index ?? entries.count) - Self.page)
    // Not one by one, because all others are moved.
    guard surplus >= Self.page else { return }
    entries.removeFirst(surplus)
    bottom?.index -= surplus
    hasOlder = true
  }
}

/// What the events of the conversation change.
extension Stretch {
  /// Puts a message that is new or has changed in its place, unless that is not in memory.
  mutating func take(_ message: Message) {
    if let place = entries.lastIndex(where: { $0.message.id == message.id || $0.message.id == message.replaces }) {
      if message.seq == entries[place].message.seq {
        entries[place] = Entry(message: message)
        return
      }
      remove(at: place)
    }
    let number = message.seq ?? .max
    if hasNewer || number < entries.first?.message.seq ?? 0 { return }
    // They are read when the user goes on.
    if bottom != nil, entries.count >= Self.most + Self.page { return hasNewer = true }
    let place = entries.lastIndex { $0.message.seq ?? .max <= number }.map { $0 + 1 } ?? 0
    entries.insert(Entry(message: message), at: place)
    if let bottom, bottom.index >= place { self.bottom?.index += 1 }
    forgetOldest()
  }

  private mutating func remove(at place: Int) {
    entries.remove(at: place)
    guard let old = bottom, old.index >= place else { return }
    bottom = old.index == 0 ? nil : Bottom(index: old.index - 1, hidden: old.index == place ? 0 : old.hidden)
  }

  /// Reads messages again of which something has changed.
  mutating func refresh(_ ranges: [SeqRange]) throws {
    guard let first = entries.first?.message.seq, let last = entries.last(where: { $0.message.seq != nil })?.message.seq
    else { return }
    let known = ranges.filter { $0.overlaps(first...last) }.map { $0.clamped(to: first...last) }
    if known.isEmpty { return }
    let read = try read { query in
      query.ranges = known.map { RangeReference(from: $0.lowerBound, to: $0.upperBound) }
      query.limit = nil
    }.entries.map(\.message)
    let kept = Set(read.map(\.id))
    for place in entries.indices.reversed() where !kept.contains(entries[place].message.id) {
      if let seq = entries[place].message.seq, known.contains(where: { $0.contains(seq) }) { remove(at: place) }
    }
    for message in read where message.seq != nil { take(message) }
  }

  /// The user's last message with a number and a text.
  func lastOwn(before limit: Int = .max) -> Message? {
    entries.last { $0.message.isMine && $0.message.text != nil && ($0.message.seq ?? .max) < limit }?.message
  }

  /// The answers to a message, which repeat the beginning of its text.
  func replies(to id: Identifier) -> [SeqRange] {
    entries.filter { $0.message.replyTo?.id == id }.compactMap(\.message.seq).map { $0...$0 }
  }

  /// The user has read these messages.
  mutating func setRead(_ ids: Set<Identifier>) {
    for place in entries.indices where ids.contains(entries[place].message.id) {
      entries[place].message.isUnread = false
    }
  }

  /// The screen has another width.
  mutating func forgetRows() { for place in entries.indices { entries[place].rows = nil } }
}

/// What of the conversation is on the screen.
extension Stretch {
  var isScrolled: Bool { bottom != nil || hasNewer }

  private var last: Bottom { bottom ?? Bottom(index: entries.count - 1, hidden: 0) }

  /// The rows of a message, with the lines that stand above it.
  ///
  /// The first message gets the line of its day, so older ones are read before.
  private mutating func block(_ index: Int, _ line: (Message) -> String) -> [[UInt8]] {
    let message = entries[index].message
    let rows = entries[index].rows ?? draw(line(message))
    entries[index].rows = rows
    var above: [String] = []
    if index == 0 || TextFormat.day(entries[index - 1].message.createdAt) != TextFormat.day(message.createdAt) {
      above.append(TextFormat.dayLine(message.createdAt))
    }
    if let seq = message.seq, seq == firstUnread { above.append(TextFormat.unreadLine) }
    return above.flatMap(draw) + rows
  }

  /// The rows that fit, and the messages that have any of them.
  ///
  /// - Parameter line: a message as text.
  /// - Throws: an error of the store.
  mutating func visible(
    _ height: Int, _ line: (Message) -> String
  ) throws -> (rows: [[UInt8]], messages: ArraySlice<Entry>) {
    var blocks: [[[UInt8]]] = []
    var (index, left) = (last.index, height)
    while left > 0 {
      if index <= 0 { index += try readOlder() }
      if index < 0 { break }
      var block = block(index, line)
      if index == last.index { block.removeLast(min(last.hidden, block.count)) }
      blocks.append(block.suffix(left))
      left -= block.count
      index -= 1
    }
    let messages = index < last.index ? entries[(index + 1)...last.index] : []
    return (blocks.reversed().flatMap(\.self), messages)
  }

  /// Goes back in the conversation by some rows, as far as there are messages for a whole screen.
  mutating func goBack(_ count: Int, height: Int, _ line: (Message) -> String) throws {
    guard !entries.isEmpty else { return }
    var place = last
    place.hidden += count
    while true {
      if place.index == 0 { place.index += try readOlder() }
      let size = block(place.index, line).count
      if place.hidden < size { break }
      if place.index == 0 {
        place.hidden = size - 1
        break
      }
      place.hidden -= size
      place.index -= 1
    }
    bottom = place
    let missing = try height - visible(height, line).rows.count
    if missing > 0 { try goOn(missing, line) }
  }

  /// Goes on in the conversation by some rows, or to its end.
  mutating func goOn(_ count: Int, _ line: (Message) -> String) throws {
    guard var place = bottom else { return }
    place.hidden -= count
    while place.hidden < 0 {
      if place.index + 1 == entries.count {
        bottom = place
        guard try readNewer(), let index = bottom?.index else { return bottom = nil }
        place.index = index
      }
      place.index += 1
      place.hidden += block(place.index, line).count
    }
    bottom = place.index + 1 == entries.count && place.hidden == 0 && !hasNewer ? nil : place
  }
}
