import DMStore
import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

struct UsersTests {
  @Test func `the first user who writes to a new store is created, whatever their handle`() throws {
    let store = try TemporaryStore(users: [])
    let zoe = try store.messenger("zoe")
    try zoe.say("note", to: "zoe")
    #expect(try zoe.user().handle.description == "zoe")
  }

  @Test func `the user whose handle is the login name is created by their first write`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let bob = try store.messenger("bob", isLoginName: true)
    #expect(try bob.conversations().isEmpty)
    #expect(try bob.unreadCount() == 0)
    try bob.say("hi", to: "alice")
    #expect(try store.messenger("alice").conversations().count == 1)
  }

  @Test func `a user that is named explicitly must exist`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let bob = try store.messenger("bob")
    #expect(try code { try bob.say("hi", to: "alice") } == .unknownUser)
    #expect(try code { try bob.conversations() } == .unknownUser)
    #expect(try code { try bob.markReadEverywhere(.all) } == .unknownUser)
    #expect(try store.messenger("alice").users(limit: 10).map(\.handle.description) == ["alice"])
  }

  @Test func `a message to an unknown user creates neither user nor conversation`() throws {
    let store = try TemporaryStore(users: ["alice"])
    #expect(try code { try store.messenger("alice").say("hi", to: "bbo") } == .unknownUser)
    #expect(try store.integers("SELECT count(*) FROM user") == [[1]])
    #expect(try store.integers("SELECT count(*) FROM conversation") == [[0]])
  }

  @Test func `a refused first write leaves no store behind`() throws {
    let store = try TemporaryStore(users: [])
    #expect(try code { try store.messenger("zoe").say("hi", to: "+ops") } == .unknownConversation)
    #expect(try store.location.state() == .absent)
  }

  @Test func `a handle that exists cannot be added again, and case distinguishes handles`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    #expect(try code { try alice.addUser(Handle("alice")) } == .handleTaken)
    #expect(try code { try alice.addUser(Handle("Alice")) } == nil)
  }

  @Test func `a profile is set field by field and cleared by an empty value`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    var user = try alice.setProfile(ProfileChange(displayName: "Alice A.", bio: "here", showsPresence: false))
    #expect(user.displayName == "Alice A." && user.bio == "here" && !user.showsPresence && user.avatarURL == nil)
    user = try alice.setProfile(ProfileChange(bio: "", avatarURL: "https://example.org/a.png"))
    #expect(user.displayName == "Alice A." && user.bio == nil && !user.showsPresence)
    #expect(user.avatarURL == "https://example.org/a.png")
    #expect(try store.messenger("alice").user("alice") == user)
  }

  @Test(arguments: [
    ProfileChange(displayName: String(repeating: "x", count: 257)),
    ProfileChange(avatarURL: String(repeating: "x", count: 257)),
    ProfileChange(bio: String(repeating: "x", count: 4097)), ProfileChange(bio: "a\u{0}"),
  ])
  func `the fields of a profile have a maximum length and no NUL`(_ change: ProfileChange) throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    #expect(try code { try alice.setProfile(change) } == .badField)
    #expect(try code { try alice.addUser(Handle("bob"), change) } == .badField)
    #expect(try store.integers("SELECT count(*) FROM user") == [[1]])
  }

  @Test func `users are listed in pages, sorted by the bytes of their handles`() throws {
    let names = ["zoe", "Bob", "alice", "海", "bob", "|trey|"]
    let store = try TemporaryStore(users: names)
    let alice = try store.messenger("alice")
    var listed: [String] = []
    while case let page = try alice.users(after: listed.last.map(Handle.init(typed:)), limit: 2), !page.isEmpty {
      listed += page.map(\.handle.description)
    }
    #expect(listed == ["Bob", "alice", "bob", "zoe", "|trey|", "海"])
  }

  @Test func `reading a named store that does not exist is an error, and a write creates it`() throws {
    let store = try TemporaryStore(users: [])
    let alice = try store.messenger("alice")
    #expect(try code { try alice.conversations() } == .noStore)
    #expect(try code { try alice.unreadCount() } == .noStore)
    #expect(try code { try alice.users(limit: 1) } == .noStore)
    #expect(try code { try alice.everything(in: "bob") } == .noStore)
    try alice.say("note", to: "alice")
    #expect(try alice.conversations().count == 1)
  }

  @Test func `a default store that does not exist reads as empty`() throws {
    let store = try TemporaryStore(users: [], isNamed: false)
    let alice = try store.messenger("alice", isLoginName: true)
    #expect(try alice.conversations().isEmpty)
    #expect(try alice.unreadCount() == 0)
    #expect(try alice.users(limit: 1).isEmpty)
    #expect(try alice.history(of: HistoryQuery()).isEmpty)
    #expect(try alice.markReadEverywhere(.all).isEmpty)
    #expect(try code { try alice.everything(in: "bob") } == .unknownConversation)
    #expect(try code { try alice.conversation(.direct("bob")) } == .unknownConversation)
    #expect(try code { try alice.markRead(.all, in: .direct("bob")) } == .unknownConversation)
    #expect(try code { try alice.user() } == .unknownUser)
    #expect(try store.location.state() == .absent)
  }
}
