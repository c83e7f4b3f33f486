import FoundationEssentials

@testable import DMKit
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Checks, backups, dumps and restores of the store.
extension RandomActs {
  /// That the store finds no fault in itself.
  func compareUpkeep() throws {
    let result = try Upkeep(files.location).check(deep: true)
    // When it was used is written down.
    try observe()
    try learn()
    try same(result.findings, [], "what the store finds in itself")
  }

  /// Makes a store of what another says, and has that say the same.
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
    // And it is shown alike.
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
