package import DMJSON
internal import DMModel
internal import DMStore
internal import DMSystem

/// The contents of attachments in a linked store, and the bytes that they may take.
package struct KeptContents: Equatable, Sendable {
  package let count: Int
  package let bytes: Int
  /// Nil for any number.
  package let limit: Int?
}

extension Messenger {
  /// The contents of attachments in a linked store; linear in their number.
  ///
  /// - Throws: `no_hub` for a store that is not linked.
  package func keptContents() throws -> KeptContents { try ContentCache(self).use() }

  /// Limits the bytes that contents of attachments may take in a linked store, and removes contents until they fit.
  ///
  /// - Parameter limit: nil for any number.
  /// - Throws: `no_hub` for a store that is not linked, or an error of the store.
  package func keepContents(upTo limit: Int?) throws -> KeptContents {
    let (store, _) = try linkedStore()
    try store.write { try store.hub.set(contentsLimit: limit) }
    try trimContents()
    return try keptContents()
  }

  /// Removes contents that the hub has too, those that were used least recently first, while contents take more bytes than
  /// they may.
  ///
  /// Does nothing while another process reads all contents, such as for a backup.
  package func trimContents() throws { try ContentCache(self).trim() }

  /// Records that contents are used, so that they stay for now.
  func noteUse(of hashes: some Sequence<ContentHash>) {
    for hash in hashes where location.contents.size(of: hash) != nil {
      SignalFile.touch(location.contents.path(of: hash))
    }
  }
}

/// The contents of a linked store as a cache of what its hub has.
private struct ContentCache {
  private let store: Store
  private let hub: Hub.Row
  private let contents: ContentFolder

  /// Microseconds for which a content stays after its last use, because a program may be about to read it.
  private static let useTime: Int64 = 600_000_000
  /// Microseconds for which a content stays that the user has sent: a restored hub may have lost it.
  private static let journalTime: Int64 = 30 * 86_400_000_000

  init(_ messenger: Messenger) throws {
    (store, hub) = try messenger.linkedStore()
    contents = messenger.location.contents
  }

  func use() throws -> KeptContents {
    let sizes = try contents.all.compactMap(contents.size)
    return KeptContents(count: sizes.count, bytes: sizes.reduce(0, +), limit: hub.contentsLimit)
  }

  func trim() throws {
    guard let limit = hub.contentsLimit, case var bytes = try use().bytes, bytes > limit else { return }
    let now = Timestamp.now
    let sentSince = Timestamp(microseconds: now.microseconds - Self.journalTime)
    let usedBefore = Timestamp(microseconds: now.microseconds - Self.useTime)
    // As for a purge: no process adds a row for a content, or reads all of them, meanwhile.
    let lock = try store.writeLock()
    guard let sole = FileLock(ifFree: contents.path) else { return }
    let evictable = try store.read { try store.hubFiles.evictable(sentBy: hub.user, since: sentSince) }
    let oldest = evictable.compactMap { hash in contents.lastUse(of: hash).map { (hash: hash, time: $0) } }
      .sorted { ($0.time, $0.hash.description) < ($1.time, $1.hash.description) }
    for content in oldest where bytes > limit { bytes -= contents.remove(content.hash, before: usedBefore) ?? 0 }
    _ = consume sole
    _ = consume lock
  }
}

extension KeptContents: Record {
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("type", "kept")
      json.member("content_count", count)
      json.member("content_bytes", bytes)
      json.member("content_limit_bytes", limit)
    }
  }
}
