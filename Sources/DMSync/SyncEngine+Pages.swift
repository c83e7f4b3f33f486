internal import DMKit
internal import DMModel
internal import DMStore
internal import DMSystem

// Removes the messages that this store need not keep, and fetches them again when a program reads them.

extension SyncEngine {
  /// If this store keeps only the last messages, begins each conversation that is pulled for the first time at its
  /// floor.
  func beginAtFloors() throws {
    guard hello?.hasPages == true, !connection.toPull.isEmpty, let kept = try hub().kept else { return }
    let ids = try store.read { try connection.toPull.prefix(Self.pullSize).filter { try state(of: $0) == nil } }
    if ids.isEmpty { return }
    for start in try link.starts(of: ids, keeping: kept) {
      try explain(start.entries)
      try readMembers(of: [start.conversation])
      do {
        try write { replica in
          try replica.begin(
            start, connection.named[start.conversation], members: connection.members[start.conversation] ?? [])
        }
      } catch is Replica.LogFault {
        // In this case, the log is pulled from its beginning.
      } catch let error as DMError where error.isMisfit {}
    }
  }

  /// Whether a program waits for messages below a floor.
  func hasPages() throws -> Bool { try !store.read(store.hubFloors.wanted).isEmpty }

  /// Fetches the messages below floors for which programs wait: for each request, at most one page, which has the
  /// messages with the highest numbers.
  ///
  /// A request is tried at most five times, because a request that the hub cannot answer must not stop the
  /// synchronization.
  func fetchPages() throws {
    for page in try store.read(store.hubFloors.wanted) {
      try store.write {
        try hello?.hasPages == true ? store.hubFloors.begin(page, at: .now) : store.hubFloors.finish(page)
      }
      guard hello?.hasPages == true else { continue }
      do {
        try fetch(page)
        pageMessages = min(HubLimits.pageMessages, 2 * pageMessages)
      } catch HubFault.timedOut {
        pageMessages = max(10, pageMessages / 4)
      } catch HubFault.damaged, HubFault.poison {
        try store.write { try store.hubFloors.finish(page) }
      } catch let error as DMError where error.isMisfit {
        try store.write { try store.hubFloors.finish(page) }
      }
    }
  }

  private func fetch(_ page: HubFloors.Page) throws {
    let last = page.seqs.upperBound
    let seqs = max(page.seqs.lowerBound, last - pageMessages + 1)...last
    let id = try store.read { try store.conversations.id(page.conversation) }
    let entries = try link.page(of: id, seqs)
    try explain(entries)
    try write { replica in
      try store.hubFloors.finish(page)
      guard let floor = try store.hubFloors.row(page.conversation) else { return }
      try replica.add(entries, below: floor, of: page.conversation)
      // The hub may return fewer messages than were asked for, so that an answer is not too large.
      guard let first = entries.first(where: { $0.kind == .message })?.seq, first > page.seqs.lowerBound else { return }
      try store.hubFloors.want(
        HubFloors.Page(conversation: page.conversation, seqs: page.seqs.lowerBound...(first - 1)))
    }
  }

  /// Microseconds between two checks for messages to remove, and the longest duration of one removal in microseconds.
  private static let trimPause: Int64 = 660_000_000
  private static let trimTime: Int64 = 200_000
  /// The number of messages by which a conversation may exceed its limit, so that not every new message causes a
  /// removal.
  private static let slack = 50

  /// Removes messages that the store need not keep, if the user has changed the limit or the next check is due.
  ///
  /// - Parameter isAll: whether to remove all of these messages now, even if that takes longer than `trimTime`.
  /// - Returns: when to call this again, as a time of `monotonicMicroseconds`; `.max` if the store keeps all messages.
  @discardableResult func trimMessages(all isAll: Bool = false) throws -> Int64 {
    let (now, kept) = (monotonicMicroseconds(), try hub().kept)
    if kept == nil { return .max }
    if kept != trimmed.kept { trimmed = (kept, 0, isNew: true) }
    guard now >= trimmed.until, hello?.hasPages == true, hello?.isStandby == false, connection.toPull.isEmpty,
      !connection.mustCompare
    else { return trimmed.until }
    let isDone = try messenger.trimMessages(
      slack: trimmed.isNew ? 0 : Self.slack, until: isAll ? .max : now + Self.trimTime)
    trimmed = (
      kept, monotonicMicroseconds() + (isDone ? Self.trimPause : Self.trimTime), isNew: trimmed.isNew && !isDone
    )
    return trimmed.until
  }
}
