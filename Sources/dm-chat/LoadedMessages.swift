internal import DMCLI
internal import DMKit

/// The messages of a conversation that are in memory, and the scroll position.
///
/// This type does not read the store: `settle` returns the side on which messages are missing, and `Pages` reads them.
struct LoadedMessages {
  /// The last message on the screen, and how many of its rows are below the screen.
  ///
  /// Scrolling only changes `hidden`, which may become negative or too large; `settle` then corrects both values. A
  /// negative value means that the screen has room for that many rows below the message.
  private struct Bottom {
    var index: Int
    var hidden: Int
  }

  /// The side on which messages are missing: before or after those in memory.
  enum Side { case older, newer }

  private(set) var entries: [LoadedMessage] = []
  /// Nil if the screen follows the end of the conversation.
  private var bottom: Bottom?
  private(set) var hasNewer = false
  private var hasOlder = true
  /// The height of the screen when `settle` last finished; nil if the messages or the scroll position have changed
  /// since then.
  private var settledHeight: Int?
  /// The number of the message that `/go` has shown, which is in reverse.
  private(set) var marked: Int?
  /// The number of the first unread message, which has a separator line above it.
  var firstUnread: Int?
  /// How many messages were unread when the window opened.
  var unreadCount = 0
  /// The users of the conversation.
  var people: People

  /// How many messages are read at once.
  static let page = 100
  /// About how many messages are kept in memory.
  static let most = 1000

  init(_ me: Handle) { people = People(me) }

  /// Replaces the messages with the newest ones, and scrolls to the end.
  mutating func replace(_ newest: [Message]) {
    entries = newest.map { LoadedMessage($0) }
    (bottom, hasOlder, hasNewer, settledHeight) = (nil, newest.count >= Self.page, false, nil)
  }

  /// Replaces the messages with some from the middle of the conversation,
  /// and puts the first of `after` at the bottom of the screen.
  ///
  /// - Parameter number: the number of a message that is shown in reverse.
  mutating func replace(before: [Message], after: [Message], marking number: Int? = nil) {
    entries = (before + after).map { LoadedMessage($0) }
    marked = number
    (hasOlder, hasNewer, settledHeight) = (true, true, nil)
    bottom = Bottom(index: min(before.count, entries.count - 1), hidden: 0)
  }

  /// Adds older messages at the beginning, and drops the newest ones if there are too many.
  mutating func add(older: [Message]) {
    hasOlder = older.count == Self.page
    entries.insert(contentsOf: older.map { LoadedMessage($0) }, at: 0)
    bottom?.index += older.count
    let kept = max(Self.most, (bottom?.index ?? entries.count) + 1)
    if entries.count > kept {
      hasNewer = true
      entries.removeLast(entries.count - kept)
    }
  }

  /// Adds newer messages at the end, and drops the oldest ones if there are too many.
  mutating func add(newer: [Message]) {
    entries += newer.map { LoadedMessage($0) }
    forgetOldest()
  }

  /// Drops the oldest messages if there are too many; those on the screen stay.
  private mutating func forgetOldest() {
    let surplus = min(entries.count - Self.most, (bottom?.index ?? entries.count) - Self.page)
    // Removes a page or more at once, because each removal moves all messages that stay.
    guard surplus >= Self.page else { return }
    entries.removeFirst(surplus)
    bottom?.index -= surplus
    hasOlder = true
  }
}

/// Changes of the loaded messages after events of the conversation.
extension LoadedMessages {
  /// Inserts or replaces a message, unless its position is outside the messages in memory.
  mutating func take(_ message: Message) {
    settledHeight = nil
    if let index = entries.lastIndex(where: { $0.message.id == message.id || $0.message.id == message.replaces }) {
      if message.seq == entries[index].message.seq {
        entries[index] = LoadedMessage(message)
        return
      }
      remove(at: index)
    }
    let number = message.seq ?? .max
    if hasNewer || number < entries.first?.message.seq ?? 0 { return }
    // Too many messages are in memory, so this one is read when the user scrolls forward.
    if bottom != nil, entries.count >= Self.most + Self.page { return hasNewer = true }
    let index = entries.lastIndex { $0.message.seq ?? .max <= number }.map { $0 + 1 } ?? 0
    entries.insert(LoadedMessage(message), at: index)
    if let bottom, bottom.index >= index { self.bottom?.index += 1 }
    forgetOldest()
  }

  /// Learns who is in the conversation, and how they are called.
  mutating func take(_ participants: [Participant]) {
    people.add(participants)
    forgetRows()
  }

  private mutating func remove(at index: Int) {
    settledHeight = nil
    entries.remove(at: index)
    guard let old = bottom, old.index >= index else { return }
    let hidden = old.index == index ? 0 : old.hidden
    bottom = entries.isEmpty ? nil : Bottom(index: max(0, old.index - 1), hidden: hidden)
  }

  /// The parts of these ranges whose messages are in memory.
  func held(_ ranges: [SeqRange]) -> [SeqRange] {
    guard let first = entries.first?.message.seq, let last = entries.last(where: { $0.message.seq != nil })?.message.seq
    else { return [] }
    return ranges.filter { $0.overlaps(first...last) }.map { $0.clamped(to: first...last) }
  }

  /// Replaces the messages in some ranges; messages in these ranges that are not among the new ones are removed.
  mutating func renew(_ ranges: [SeqRange], _ messages: [Message]) {
    let kept = Set(messages.map(\.id))
    for index in entries.indices.reversed() where !kept.contains(entries[index].message.id) {
      if let seq = entries[index].message.seq, ranges.contains(where: { $0.contains(seq) }) { remove(at: index) }
    }
    for message in messages where message.seq != nil { take(message) }
  }

  /// The numbers of the replies to a message.
  ///
  /// A reply shows the beginning of that message's text.
  func replies(to id: Identifier) -> [SeqRange] {
    entries.filter { $0.message.replyTo?.id == id }.compactMap(\.message.seq).map { $0...$0 }
  }

  /// Marks messages as read by the user.
  mutating func setRead(_ ids: Set<Identifier>) {
    for index in entries.indices where ids.contains(entries[index].message.id) {
      entries[index].message.isUnread = false
    }
  }

  /// Drops the rows, because the width of the screen has changed.
  mutating func forgetRows() {
    for index in entries.indices { entries[index].rows = nil }
    settledHeight = nil
  }
}

/// The part of the conversation that is on the screen.
extension LoadedMessages {
  var isScrolled: Bool { bottom != nil || hasNewer }

  private var last: Bottom { bottom ?? Bottom(index: entries.count - 1, hidden: 0) }

  var firstNumber: Int? { entries.first?.message.seq }
  var lastNumber: Int? { entries.last?.message.seq }

  /// Whether messages before the first one in memory are missing.
  ///
  /// Until they are read, it is unknown whether the first one begins a new day.
  private var lacksOlder: Bool { hasOlder && (firstNumber ?? 1) > 1 }

  /// Scrolls back by some rows.
  mutating func goBack(_ rows: Int) {
    if entries.isEmpty { return }
    bottom = last
    bottom?.hidden += rows
    settledHeight = nil
  }

  /// Scrolls forward by some rows, at most to the end.
  mutating func goOn(_ rows: Int) {
    bottom?.hidden -= rows
    settledHeight = nil
  }

  /// Scrolls to the newest message in memory.
  mutating func goToEnd() { (bottom, settledHeight, marked) = (nil, nil, nil) }

  /// Whether the rows of a screen of this height are there, so that `settle` has nothing to do.
  func isSettled(_ height: Int) -> Bool { settledHeight.map { height <= $0 } ?? false }

  /// Stops scrolling here, because the missing messages cannot be read.
  mutating func halt() { bottom?.hidden = 0 }

  /// Finds the messages that are on the screen, and makes their rows.
  ///
  /// Fills the screen if there are enough messages.
  ///
  /// - Returns: the side on which messages must be added before the next call; nil if the screen needs no more.
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
      if left <= 0 || bottom == nil {
        settledHeight = height
        return nil
      }
      bottom?.hidden -= left
    }
  }

  /// Moves `bottom` to the last message that has a row on the screen, and reduces `hidden` to rows of this message.
  private mutating func move(_ layout: Layout) -> Side? {
    guard var moved = bottom else { return nil }
    defer { bottom = moved.index + 1 == entries.count && moved.hidden == 0 && !hasNewer ? nil : moved }
    while moved.hidden < 0 {
      if moved.index + 1 == entries.count {
        if hasNewer { return .newer }
        moved.hidden = 0
        break
      }
      moved.index += 1
      moved.hidden += rows(of: moved.index, layout)
    }
    while moved.hidden > 0 {
      if moved.index == 0, lacksOlder { return .older }
      let count = rows(of: moved.index, layout)
      if moved.hidden < count { break }
      if moved.index == 0 {
        moved.hidden = count - 1
        break
      }
      moved.hidden -= count
      moved.index -= 1
    }
    return nil
  }

  /// The number of rows of a message, including the lines above it for a new day and for unread messages.
  ///
  /// Keeps the rows of the message for later calls.
  private mutating func rows(of index: Int, _ layout: Layout) -> Int {
    if entries[index].rows == nil { entries[index].rows = madeRows(of: index, layout) }
    return block(index, layout).count
  }

  /// The rows of a message, without the lines above it.
  private func madeRows(of index: Int, _ layout: Layout) -> [[UInt8]] {
    layout.rows(of: TextFormat.line(entries[index].message, people, isIntroduced: isIntroduced(index)))
  }

  /// Whether a message is the first one in memory of its sender on its day.
  private func isIntroduced(_ index: Int) -> Bool {
    let entry = entries[index]
    let before = entries[..<index].reversed().prefix { $0.day == entry.day }
    return !before.contains { $0.message.sender == entry.message.sender }
  }

  /// The rows of a message, including the lines above it for a new day and for unread messages.
  private func block(_ index: Int, _ layout: Layout) -> [[UInt8]] {
    let message = entries[index].message
    var above: [[UInt8]] = []
    if index == 0 || entries[index - 1].day != entries[index].day {
      above += layout.rows(of: TextFormat.dayLine(message.createdAt))
    }
    if let seq = message.seq, seq == firstUnread { above += layout.rows(of: TextFormat.unreadLine(unreadCount)) }
    var rows = entries[index].rows ?? madeRows(of: index, layout)
    if let marked, message.seq == marked, !rows.isEmpty { rows[0] = layout.reversed(rows[0]) }
    return above + rows
  }

  /// The rows that fit on the screen, and their messages.
  func visible(_ height: Int, _ layout: Layout) -> (rows: [[UInt8]], messages: ArraySlice<LoadedMessage>) {
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
