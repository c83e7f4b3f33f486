internal import DMKit

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
