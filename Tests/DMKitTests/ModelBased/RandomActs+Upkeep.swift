import FoundationEssentials

@testable import DMKit
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Checks, backups, dumps and restores of the store.
extension RandomActs {
  /// Checks that a deep check finds no fault in the store.
  func compareUpkeep() throws {
    let result = try Upkeep(files.location).check(deep: true)
    // The check writes its time into the store.
    try observe()
    try learn()
    try same(result.findings, [], "what the store finds in itself")
  }

  /// Restores a store from a dump, and checks that the restored store has the same dump.
  func compareRestored() throws {
    let copy = try TemporaryStore(users: [])
    let first = try dump(of: files.location)
    let path = files.location.directory + ".dump"
    try Data(first).write(to: URL(filePath: path))
    defer { unlink(path) }
    _ = try Upkeep(copy.location).restore(file: path)
    let lines = first.split(separator: UInt8(ascii: "\n")).dropFirst().map { String(decoding: $0, as: UTF8.self) }
    let again = try dump(of: copy.location).split(separator: UInt8(ascii: "\n")).dropFirst()
    try same(again.map { String(decoding: $0, as: UTF8.self) }, Array(lines), "what was restored, line by line")
    try same(try Upkeep(copy.location).check(deep: true).findings, [], "what the restored store finds in itself")
    // The lists of all users are the same in both stores.
    for user in Self.names.indices {
      var query = ListQuery()
      (query.archived, query.limit) = (.included, nil)
      let restored = try copy.messenger(name(user)).conversations(query)
      let original = try messengers[user].conversations(query)
      try same(restored.map(\.id), original.map(\.id), "the restored list of \(name(user))")
      try same(restored.map(\.unreadCount), original.map(\.unreadCount), "what is unread in it")
      try same(restored.map(\.lastMessage), original.map(\.lastMessage), "its last messages")
    }
  }

  private func dump(of location: StoreLocation) throws -> [UInt8] {
    let dump = try Upkeep(location).dump()
    try observe()
    try learn()
    var bytes: [UInt8] = []
    try dump.forEach { bytes += $0 }
    return bytes
  }

  private func unlink(_ path: String) {
    do { try FileManager.default.removeItem(atPath: path) } catch { note("cannot remove \(path): \(error)") }
  }
}
