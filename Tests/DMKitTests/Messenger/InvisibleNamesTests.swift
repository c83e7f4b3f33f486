import Testing

@testable import DMKit
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Names with invisible characters.
struct InvisibleNamesTests {
  static let invisible = [
    "\u{200B}", "\u{200C}", "\u{200D}", "\u{AD}", "\u{FE0F}", "\u{FFF9}", "\u{FFFB}", "\u{600}", "\u{605}", "\u{2800}",
    "\u{3164}", "\u{115F}", "\u{180E}", "\u{206A}", "\u{206F}", "\u{2060}", "\u{34F}", "\u{E0061}",
  ]

  @Test(arguments: invisible)
  func `new handles, titles, display names and consumer names cannot have invisible characters`(_ character: String)
    throws
  {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let name = "bo\(character)b"
    #expect(try code { try alice.addUser(Handle(name)) } == .badHandle)
    #expect(try code { try store.messenger(name, isLoginName: true).say("hi", to: "alice") } == .badHandle)
    #expect(try code { try alice.createGroup(titled: name, with: []) } == .badField)
    _ = try alice.createGroup(titled: "bob", with: [])
    #expect(try code { try alice.setTitle(name, of: .title("bob")) } == .badField)
    #expect(try code { try alice.setProfile(ProfileChange(displayName: name)) } == .badField)
    var query = EventQuery([], from: .start)
    (query.consumer, query.follows) = (name, false)
    #expect(try code { try Follower(alice, query).rest() } == .badField)
    for line in [
      #"{"conversation":"old","sender":"\#(name)","text":"x","created_at":"2020-01-01T00:00:00Z"}"#,
      #"{"conversation":"\#(name)","sender":"ann","text":"x","created_at":"2020-01-01T00:00:00Z"}"#,
      #"{"type":"conversation","id":"\#(Identifier(at: .now))","is_group":true,"participants":["ann","\#(name)"]}"#,
      #"{"type":"conversation","id":"\#(Identifier(at: .now))","is_group":true,"participants":[],"title":"\#(name)"}"#,
    ] {
      let result = try alice.importHistory([Imported(line: Array(line.utf8)[...])])[0]
      #expect([.badField, .badHandle].contains(try code { try result.get() }), "\(line)")
    }
    #expect(try store.integers("SELECT count(*) FROM user") == [[1]])
    #expect(try store.integers("SELECT count(*) FROM conversation") == [[1]])
  }

  @Test(arguments: ["👨‍👩‍👧 family", "❤️", "1️⃣ st", "🏳️‍🌈", "👩🏽‍💻", "نامه‌ها", "क्‍ष"])
  func `titles and display names may have the invisible characters that shape emoji and letters`(_ name: String) throws
  {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    #expect(try alice.createGroup(titled: name, with: []).title == name)
    #expect(try alice.setProfile(ProfileChange(displayName: name)).displayName == name)
  }

  @Test func `existing handles, titles and consumer names with invisible characters still work`() throws {
    let store = try TemporaryStore(users: ["alice", "bob"])
    let alice = try store.messenger("alice")
    let (name, title) = ("bob\u{200B}", "te\u{AD}am")
    _ = try alice.createGroup(titled: "team", with: ["bob"])
    var query = EventQuery([], from: .start)
    (query.consumer, query.follows) = ("echo", false)
    _ = try Follower(alice, query).rest()
    try store.execute(
      "UPDATE user SET handle = '\(name)' WHERE id = 2; UPDATE conversation SET title = '\(title)'; UPDATE consumer SET name = 'e\u{200B}cho'"
    )
    let bob = try store.messenger(name)
    try bob.say("hi", to: "alice")
    try alice.say("hi", to: name)
    try bob.say("all", to: "+" + title)
    query.consumer = "e\u{200B}cho"
    #expect(try Follower(alice, query).rest().isEmpty == false)
    let line = #"{"conversation":"old","sender":"\#(name)","text":"x","created_at":"2020-01-01T00:00:00Z"}"#
    #expect(try code { try alice.importHistory([Imported(line: Array(line.utf8)[...])])[0].get() } == nil)
    // The invisible characters are not a fault. The only faults are the digests, because the rows were changed outside
    // our programs.
    #expect(try Set(store.findings().map(\.check)) == [.digests])
    let dump = try store.upkeep.dump()
    #expect(dump.rowCount > 0)
  }
}
