internal import DMCLI
internal import DMKit

/// The part of a conversation that is in memory, and where in it the screen is.
///
/// It reads nothing: `settle` says of which side messages are missing, and `Pages` reads them.
struct Stretch {
  struct Entry {
    var message: Message
    /// Its rows on the screen, made when they are first shown.
    var rows: [[UInt8]]?
  }

  /// The last message on the screen, and how many of its rows are below the screen.
  ///
  /// The number may be any until `settle` finds the message that it leads to: below 0 it is the rows that are missing
  /// under the message.
  private struct Bottom {
    var index: Int
    var hidden: Int
  }

  /// Where in the conversation messages are that are not in memory.
  enum Side { case older, newer }

  private(set) var entries: [Entry] = []
  /// Nil for the end of the conversation, which moves.
  private var bottom: Bottom?
  private(set) var hasNewer = false
  private var hasOlder = true
  /// The number of the message above which the line of unread messages stands.
  var firstUnread: Int?

  /// How many messages are read at once.
  static let page = 100
  /// About so many messages are kept in memory.
  static let most = 1000

  /// Takes the newest messages in place of what was there, and goes to the end.
  mutating func replace(_ newest: [Message]) {
    entries = newest.map { Entry(message: $0) }
    (bottom, hasOlder, hasNewer) = (nil, newest.count >= Self.page, false)
  }

  /// Takes messages from the middle in place of what was there, and puts the first after `before` at the bottom of the
  /// screen.
  mutating func replace(before: [Message], after: [Message]) {
    entries = (before + after).map { Entry(message: $0) }
    (hasOlder, hasNewer) = (true, true)
    bottom = Bottom(index: min(before.count, entries.count - 1), hidden: 0)
  }

  /// Takes the messages before the first, and forgets the newest of too many.
  mutating func add(older: [Message]) {
    hasOlder = older.count == Self.page
    entries.insert(contentsOf: older.map { Entry(message: $0) }, at: 0)
    bottom?.index += older.count
    let kept = max(Self.most, (bottom?.index ?? entries.count) + 1)
    if entries.count > kept {
      hasNewer = true
      entries.removeLast(entries.count - kept)
    }
  }

  /// Takes messages after the last, and forgets the oldest of too many.
  mutating func add(newer: [Message]) {
    entries += newer.map { Entry(message: $0) }
    forgetOldest()
  }

  /// Forgets the oldest of too many messages; what is on the screen stays.
  private mutating func forgetOldest() {
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
  /// Puts a message that is new or has changed where it belongs, unless that is not in memory.
  mutating func take(_ message: Message) {
    if let index = entries.lastIndex(where: { $0.message.id == message.id || $0.message.id == message.replaces }) {
      if message.seq == entries[index].message.seq {
        entries[index] = Entry(message: message)
        return
      }
      remove(at: index)
    }
    let number = message.seq ?? .max
    if hasNewer || number < entries.first?.message.seq ?? 0 { return }
    // They are read when the user goes on.
    if bottom != nil, entries.count >= Self.most + Self.page { return hasNewer = true }
    let index = entries.lastIndex { $0.message.seq ?? .max <= number }.map { $0 + 1 } ?? 0
    entries.insert(Entry(message: message), at: index)
    if let bottom, bottom.index >= index { self.bottom?.index += 1 }
    forgetOldest()
  }

  private mutating func remove(at index: Int) {
    entries.remove(at: index)
    guard let old = bottom, old.index >= index else { return }
    bottom = old.index == 0 ? nil : Bottom(index: old.index - 1, hidden: old.index == index ? 0 : old.hidden)
  }

  /// The parts of ranges that are in memory.
  func held(_ ranges: [SeqRange]) -> [SeqRange] {
    guard let first = entries.first?.message.seq, let last = entries.last(where: { $0.message.seq != nil })?.message.seq
    else { return [] }
    return ranges.filter { $0.overlaps(first...last) }.map { $0.clamped(to: first...last) }
  }

  /// Takes the messages of ranges anew; one that is not among them is not shown any more.
  mutating func renew(_ ranges: [SeqRange], _ messages: [Message]) {
    let kept = Set(messages.map(\.id))
    for index in entries.indices.reversed() where !kept.contains(entries[index].message.id) {
      if let seq = entries[index].message.seq, ranges.contains(where: { $0.contains(seq) }) { remove(at: index) }
    }
    for message in messages where message.seq != nil { take(message) }
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
    for index in entries.indices where ids.contains(entries[index].message.id) {
      entries[index].message.isUnread = false
    }
  }

  /// The screen has another width.
  mutating func forgetRows() { for index in entries.indices { entries[index].rows = nil } }
}

/// What of the conversation is on the screen.
extension Stretch {
  var isScrolled: Bool { bottom != nil || hasNewer }

  private var last: Bottom { bottom ?? Bottom(index: entries.count - 1, hidden: 0) }

  var firstNumber: Int? { entries.first?.message.seq }
  var lastNumber: Int? { entries.last?.message.seq }

  /// The first message has the line of its day only if none is before it.
  private var lacksOlder: Bool { hasOlder && (firstNumber ?? 1) > 1 }

  /// Goes back in the conversation by some rows.
  mutating func goBack(_ rows: Int) {
    if entries.isEmpty { return }
    bottom = last
    bottom?.hidden += rows
  }

  /// Goes on in the conversation by some rows, or to its end.
  mutating func goOn(_ rows: Int) { bottom?.hidden -= rows }

  /// Goes to the newest message in memory.
  mutating func goToEnd() { bottom = nil }

  /// Stays where it is, because messages that are missing cannot be read.
  mutating func halt() { bottom?.hidden = 0 }

  /// Finds the messages that are on the screen, and makes their rows.
  ///
  /// The screen is filled as far as there are messages.
  ///
  /// - Returns: the side of which messages must be added before the next call; nil when all are there.
  mutating func settle(_ height: Int, _ layout: Layout) -> Side? {
    while true {
      if let side = move(layout) { return side }
      var (index, left) = (last.index, height + last.hidden)
      while left > 0 {
        if index <= 0, lacksOlder { return .older }
        if index < 0 { break }
        left -= rows(of: index, layout)
        index -= 1
      }
      if left <= 0 || bottom == nil { return nil }
      bottom?.hidden -= left
    }
  }

  /// Moves the bottom to the message that its rows lead to.
  private mutating func move(_ layout: Layout) -> Side? {
    guard var place = bottom else { return nil }
    defer { bottom = place.index + 1 == entries.count && place.hidden == 0 && !hasNewer ? nil : place }
    while place.hidden < 0 {
      if place.index + 1 == entries.count {
        if hasNewer { return .newer }
        place.hidden = 0
        break
      }
      place.index += 1
      place.hidden += rows(of: place.index, layout)
    }
    while place.hidden > 0 {
      if place.index == 0, lacksOlder { return .older }
      let count = rows(of: place.index, layout)
      if place.hidden < count { break }
      if place.index == 0 {
        place.hidden = count - 1
        break
      }
      place.hidden -= count
      place.index -= 1
    }
    return nil
  }

  /// How many rows a message has, with the lines that stand above it; they are kept.
  private mutating func rows(of index: Int, _ layout: Layout) -> Int {
    if entries[index].rows == nil { entries[index].rows = layout.rows(of: entries[index].message) }
    return block(index, layout).count
  }

  /// The rows of a message, with the lines that stand above it.
  private func block(_ index: Int, _ layout: Layout) -> [[UInt8]] {
    let message = entries[index].message
    var above: [[UInt8]] = []
    if index == 0 || TextFormat.day(entries[index - 1].message.createdAt) != TextFormat.day(message.createdAt) {
      above += layout.rows(of: TextFormat.dayLine(message.createdAt))
    }
    if let seq = message.seq, seq == firstUnread { above += layout.rows(of: TextFormat.unreadLine) }
    return above + (entries[index].rows ?? layout.rows(of: message))
  }

  /// The rows that fit, and the messages that have any of them.
  func visible(_ height: Int, _ layout: Layout) -> (rows: [[UInt8]], messages: ArraySlice<Entry>) {
    var blocks: [[[UInt8]]] = []
    var (index, left) = (last.index, height)
    while left > 0, index >= 0 {
      var block = block(index, layout)
      if index == last.index { block.removeLast(min(max(0, last.hidden), block.count)) }
      blocks.append(block.suffix(left))
      left -= block.count
      index -= 1
    }
    let messages = index < last.index ? entries[(index + 1)...last.index] : []
    return (blocks.reversed().flatMap(\.self), messages)
  }
}
