import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMUpkeep
@testable import TestSupport

extension TemporaryStore {
  var upkeep: Upkeep { Upkeep(location) }

  /// A store with something in every table that is written so far.
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
    return store
  }

  /// All faults, and that they are of one kind.
  func findings() throws -> [Finding] { try upkeep.check(deep: true).findings }

  /// Moves everything into the one file, so that its bytes are all there is.
  func settle() throws {
    let store = try #require(try Store.open(location))
    let lock = try store.writeLock(timeout: .seconds(5))
    #expect(try store.connection.truncateWAL(within: 5000))
    _ = consume lock
  }

  func bytes(_ name: String = "dm.sqlite") throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: "\(location.directory)/\(name)")))
  }

  /// A store of one file.
  convenience init(bytes: [UInt8]) throws {
    try self.init(users: [])
    try location.create()
    try replace(bytes)
  }

  /// Puts other bytes into its file, which nobody has open.
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

  /// A path in a folder that is no store, and goes away with this one.
  func elsewhere(_ name: String) throws -> String {
    let folder = location.directory + "/out"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return "\(folder)/\(name)"
  }

  var namesElsewhere: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: location.directory + "/out").sorted() }
  }
}
