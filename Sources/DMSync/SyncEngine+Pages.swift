internal import DMKit
internal import DMStore
internal import DMSystem

// The messages that this store does not keep.

extension SyncEngine {
  /// Begins conversations at their floors that are pulled for the first time, if this store keeps only the last messages.
  func beginAtFloors() throws {
    guard let kept = try hub().kept, hello?.hasPages == true else { return }
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
        // The log is pulled from its beginning.
      }
    }
  }

  /// Whether a program waits for messages below a floor.
  func hasPages() throws -> Bool { try !store.read(store.hubFloors.wanted).isEmpty }

  /// Fetches the messages below floors for which programs wait.
  ///
  /// At most 500 messages of each request are fetched, the newest of them.
  func fetchPages() throws {
    for page in try store.read(store.hubFloors.wanted) {
      let last = page.seqs.upperBound
      let seqs = max(page.seqs.lowerBound, last - HubLimits.pageMessages + 1)...last
      let id = try store.read { try store.conversations.id(page.conversation) }
      let entries = hello?.hasPages == true ? try link.page(of: id, seqs) : []
      try explain(entries)
      try write { replica in
        if let floor = try store.hubFloors.row(page.conversation) {
          try replica.add(entries, below: floor, of: page.conversation)
        }
        try store.hubFloors.finish(page, at: .now)
      }
    }
  }

  /// Microseconds between two looks at what need not be kept.
  private static let trimPause: Int64 = 660_000_000

  /// Removes messages that the store need not keep, if the user has just said so or the last look was a while ago.
  func trimMessages() throws {
    let (now, kept) = (monotonicMicroseconds(), try hub().kept)
    guard kept != trimmed.kept || now >= trimmed.until, hello?.hasPages == true, hello?.isStandby == false,
      connection.toPull.isEmpty
    else { return }
    try messenger.trimMessages(slack: kept == trimmed.kept ? Self.slack : 0)
    trimmed = (kept, now + Self.trimPause)
  }

  /// By how many messages a conversation may exceed its limit, so that each new message does not cause a removal.
  private static let slack = 50
}
