import Testing

@testable import DMKit
@testable import DMUpkeep

struct HandleTests {
  @Test(arguments: [
    "bob", "|trey|", "toad^", "Ann-Sofie", "海", "a", "_", "[away]", "O'Brien", "x@y", "a#b", "a+b", "renée", "🦊", "..",
    "1", "57",
    "{}`\\", "0190", "ａ", "نور", "a.b", "~", "$HOME", "*", "%", "dm",
  ])
  func `handles of the real world are taken as they are`(_ text: String) throws {
    #expect(Array(try Handle(text).description.utf8) == Array(text.utf8))
  }

  @Test(arguments: [
    "", "@bob", "#bob", "+bob", "-bob", "-", "bob smith", "bob\tsmith", "bob\n", " bob", "bob\u{A0}", "bob\u{2003}",
    "bob\u{3000}",
    "bob\u{85}", "bob\u{2028}", "a,b", "a:b", "a/b", ":", "a\u{0}b", "a\u{1}b", "a\u{1B}[2J", "a\u{7F}", "a\u{9B}b",
    "a\u{202E}b",
    "a\u{200E}", "\u{200F}a", "a\u{61C}", "a\u{2066}b\u{2069}", "\u{FEFF}a", "019ac5f2-0a3b-7c4d-8e5f-0123456789ab",
    "019AC5F2-0A3B-7C4D-8E5F-0123456789AB",
  ])
  func `what could be taken for something else, or hide, is not a handle`(_ text: String) throws {
    #expect(try fault { try Handle(text) }?.code == .badHandle)
    #expect(try fault { try Handle(text) }?.subject == text)
  }

  static let invisible = [
    "\u{200B}", "\u{200C}", "\u{200D}", "\u{AD}", "\u{FE0F}", "\u{FFF9}", "\u{FFFB}", "\u{600}", "\u{605}", "\u{2800}",
    "\u{3164}", "\u{115F}", "\u{180E}", "\u{206A}", "\u{206F}", "\u{2060}", "\u{34F}", "\u{E0061}",
  ]

  @Test(arguments: invisible)
  func `nobody new has an invisible character in a handle, a title, a display name or a consumer`(_ character: String)
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
  func `titles and display names may have what emoji and letters are shaped by`(_ name: String) throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    #expect(try alice.createGroup(titled: name, with: []).title == name)
    #expect(try alice.setProfile(ProfileChange(displayName: name)).displayName == name)
  }

  @Test func `an old handle, title and consumer with an invisible character go on`() throws {
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
    // Its names are no fault; that no program changed the rows is one.
    #expect(try Set(store.findings().map(\.check)) == [.digests])
    let dump = try store.upkeep.dump()
    #expect(dump.rowCount > 0)
  }

  @Test func `64 bytes are the most, however few characters they are`() throws {
    _ = try Handle(String(repeating: "a", count: 64))
    #expect(try code { try Handle(String(repeating: "a", count: 65)) } == .badHandle)
    _ = try Handle(String(repeating: "海", count: 21))
    #expect(try code { try Handle(String(repeating: "海", count: 22)) } == .badHandle)
  }

  @Test func `handles that differ in their bytes are two`() throws {
    let (one, other) = (try Handle("ren\u{E9}e"), try Handle("rene\u{301}e"))
    #expect(one != other)
    #expect(try Handle("Bob") != Handle("bob"))
  }
}
