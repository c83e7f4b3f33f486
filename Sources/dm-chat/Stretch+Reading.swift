internal import DMKit

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
