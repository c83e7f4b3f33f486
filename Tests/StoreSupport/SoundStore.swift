import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMUpkeep
@testable import TestSupport

extension TemporaryStore {
  var upkeep: Upkeep { Upkeep(location) }

  /// A store with a direct conversation and a group, each with `messages` messages, and with receipts.
  ///
  /// The search index has all of these messages.
  static func filled(messages: Int = 20) throws -> TemporaryStore {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    _ = try alice.createGroup(titled: "ops", with: ["bob", "carol"])
    for number in 1...messages {
      let text = "message \(number) wörd日本 unique\(number)x"
      try alice.say(text, to: "bob", nonce: number % 3 == 0 ? "nonce\(number)y" : nil)
      try bob.say("group \(text)", to: "+ops")
    }
    try alice.say("to herself", to: "alice")
    try bob.read(2...5, of: "alice")
    try alice.read(1...3, of: "+ops")
    try store.messenger("carol").read(2...4, of: "+ops")
    try store.index()
    return store
  }

  /// Adds all messages to the search index.
  func index() throws {
    let store = try #require(try Store.open(location))
    try store.write { try store.searchIndex.rebuild() }
  }

  /// All faults that a deep check finds.
  func findings() throws -> [Finding] { try upkeep.check(deep: true).findings }

  /// Moves all changes from the WAL into the database file, so that this file has the whole store.
  func settle() throws {
    let store = try #require(try Store.open(location))
    let lock = try store.writeLock(timeout: .seconds(5))
    #expect(try store.connection.truncateWAL(within: 5000))
    _ = consume lock
  }

  func bytes(_ name: String = "dm.sqlite") throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: "\(location.directory)/\(name)")))
  }

  /// A store whose database file has these bytes.
  convenience init(bytes: [UInt8]) throws {
    try self.init(users: [])
    try location.create()
    try replace(bytes)
  }

  /// Replaces the bytes of the database file, which no process has open.
  func replace(_ bytes: [UInt8]) throws {
    for name in ["dm.sqlite-wal", "dm.sqlite-shm"]
    where FileManager.default.fileExists(atPath: "\(location.directory)/\(name)") {
      try FileManager.default.removeItem(atPath: "\(location.directory)/\(name)")
    }
    try Data(bytes).write(to: URL(filePath: location.database))
  }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: location.directory).sorted() }
  }

  /// A path in a folder that is not a store, and that is removed together with this store.
  func elsewhere(_ name: String) throws -> String {
    let folder = location.directory + "/out"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return "\(folder)/\(name)"
  }

  var namesElsewhere: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: location.directory + "/out").sorted() }
  }
}
