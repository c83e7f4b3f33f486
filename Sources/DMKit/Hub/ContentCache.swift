package import DMJSON
internal import DMModel
internal import DMStore
internal import DMSystem

/// How many messages and contents of attachments a linked store has, and the limits of both.
package struct KeptContents: Equatable, Sendable {
  package let count: Int
  /// The size of the contents in bytes.
  package let bytes: Int
  /// The size in bytes that the contents may have; nil for any size.
  package let limit: Int?
  package let messageCount: Int
  /// How many messages of each conversation are kept; nil for any number.
  package let messageLimit: Int?
  /// The age in seconds up to which messages are kept; nil for any age.
  package let messageAge: Int?
}

extension Messenger {
  /// How many messages and contents a linked store has; linear in their number.
  ///
  /// - Throws: `no_hub` for a store that is not linked.
  package func keptContents() throws -> KeptContents { try ContentCache(self).kept() }

  /// Limits how many bytes the contents of attachments may take in a linked store; `trimContents` removes the excess.
  ///
  /// - Parameter limit: nil for any number.
  /// - Throws: `no_hub` for a store that is not linked, `hub_unreachable` for one that has left its hub.
  package func limitContents(to limit: Int?) throws {
    let (store, hub) = try linkedStore()
    try hub.refuseLeft()
    try store.write { try store.hub.set(contentsLimit: limit) }
  }

  /// Whether the contents exceed their limit in bytes; linear in the number of contents, if there is a limit.
  package func exceedsContentsLimit() throws -> Bool {
    let cache = try ContentCache(self)
    guard let limit = cache.hub.contentsLimit else { return false }
    return try cache.bytes() > limit
  }

  /// Removes contents that the hub has too, the least recently used first, until the contents are within their limit.
  ///
  /// Call this only while the hub has the state with which the store was last compared. A hub that was restored may
  /// have lost the contents, and a hub that refuses this store does not return them. Does nothing while another process
  /// reads all contents, for example for a backup.
  package func trimContents() throws { try ContentCache(self).trim() }

  /// Records that contents are used now, so that they stay for ten minutes.
  ///
  /// - Returns: the contents that are not in the store.
  func noteUse(of hashes: Set<ContentHash>) throws -> Set<ContentHash> {
    // While this lock is held, no process removes a content that was found and whose use is not recorded yet.
    let lock = try location.contents.share()
    let absent = hashes.filter { !markUsed(location.contents.path(of: $0)) }
    _ = consume lock
    return absent
  }
}

/// The contents of attachments in a linked store, as a cache of the contents on its hub.
private struct ContentCache {
  private let store: Store
  let hub: Hub.Row
  private let contents: ContentFolder

  /// Microseconds for which a content stays after its last use, because a program may be about to read it.
  private static let useTime: Int64 = 600_000_000
  /// Microseconds for which a content that the user has sent stays, because a restored hub may have lost it.
  private static let journalTime: Int64 = 30 * 86_400_000_000
  /// Microseconds for which the write lock is held at a time.
  private static let turn: Int64 = 20_000

  init(_ messenger: Messenger) throws {
    (store, hub) = try messenger.linkedStore()
    contents = messenger.location.contents
  }

  func kept() throws -> KeptContents {
    let sizes = try contents.all.compactMap(contents.size)
    return KeptContents(
      count: sizes.count, bytes: sizes.reduce(0, +), limit: hub.contentsLimit,
      messageCount: try store.read(store.counts).messages,
      messageLimit: hub.kept.flatMap { if case .last(let count) = $0 { count } else { nil } },
      messageAge: hub.kept.flatMap { if case .youngerThan(let age) = $0 { Int(age / 1_000_000) } else { nil } })
  }

  func bytes() throws -> Int { try contents.all.compactMap(contents.size).reduce(0, +) }

  func trim() throws {
    guard let limit = hub.contentsLimit, hub.leftAt == nil, hub.refusal == nil, case var bytes = try bytes(),
      bytes > limit
    else { return }
    let usedBefore = Timestamp(microseconds: Timestamp.now.microseconds - Self.useTime)
    // The version is read before the rows, so that a commit between the two reads is noticed below.
    var version = try store.dataVersion()
    var evictable = try evictable()
    // The least recently used content is the last.
    var left = evictable.compactMap { hash in contents.lastUse(of: hash).map { (hash: hash, time: $0) } }
      .filter { $0.time < usedBefore }.sorted { ($0.time, $0.hash.description) > ($1.time, $1.hash.description) }
    while bytes > limit, !left.isEmpty {
      // While both locks are held, as in a purge, no process adds a row for a content, or reads all contents.
      let lock = try store.writeLock()
      guard let sole = FileLock(ifFree: contents.path) else { return }
      if case let now = try store.dataVersion(), now != version { (version, evictable) = (now, try self.evictable()) }
      let end = monotonicMicroseconds() + Self.turn
      while bytes > limit, monotonicMicroseconds() < end, let oldest = left.popLast() {
        if evictable.contains(oldest.hash) { bytes -= try contents.remove(oldest.hash, before: usedBefore) ?? 0 }
      }
      _ = consume sole
      _ = consume lock
    }
  }

  private func evictable() throws -> Set<ContentHash> {
    let sentSince = Timestamp(microseconds: Timestamp.now.microseconds - Self.journalTime)
    return try store.read { try store.hubFiles.evictable(sentBy: hub.user, since: sentSince) }
  }
}

extension KeptContents: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "kept")
      json.member("content_count", count)
      json.member("content_bytes", bytes)
      json.member("content_limit_bytes", limit)
      json.member("message_count", messageCount)
      json.member("message_limit", messageLimit)
      json.member("message_age_seconds", messageAge)
    }
  }
}
