import DMStore
import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Typing and presence: who gives the signals, and who sees them.
struct SignalsTests {
  private func query(_ kinds: Set<MessagingEvent.Kind>, in conversations: [ConversationReference] = []) -> EventQuery {
    var query = EventQuery(conversations, from: .now)
    query.kinds = kinds
    query.signalsPresence = false
    return query
  }

  /// A store with a direct conversation and a group, both with messages.
  private func store() throws -> TemporaryStore {
    let store = try TemporaryStore(users: ["alice", "bob", "carol", "dave"])
    let alice = try store.messenger("alice")
    try alice.say("hi", to: "bob")
    _ = try alice.createGroup(titled: "ops", with: ["bob", "carol"])
    return store
  }

  private func typing(_ user: String, in conversation: String, _ store: TemporaryStore) throws -> TypingSignal {
    try #require(try store.messenger(user).typing(in: ConversationReference(conversation)))
  }

  /// The events up to the expected last one.
  ///
  /// One check of the folder may find several changes at once.
  private func until(_ last: String, _ follower: Follower) throws -> [String] { try follower.until(last) }

  @Test func `a typing event names all users who type, until they stop`() throws {
    let store = try store()
    let follower = try Follower(try store.messenger("alice"), query([.typing]))
    _ = try follower.untilCaughtUp()
    let (bob, carol) = (try typing("bob", in: "+ops", store), try typing("carol", in: "+ops", store))
    carol.show()
    #expect(try until(#"["carol"] typing"#, follower) == [#"["carol"] typing"#])
    bob.show()
    #expect(try until(#"["bob", "carol"] typing"#, follower) == [#"["bob", "carol"] typing"#])
    carol.show()
    bob.hide()
    #expect(try until(#"["carol"] typing"#, follower) == [#"["carol"] typing"#])
    carol.hide()
    #expect(try until("[] typing", follower) == ["[] typing"])
  }

  @Test func `sending a message ends the sender's typing in that conversation at once`() throws {
    let store = try store()
    let follower = try Follower(try store.messenger("alice"), query([.typing], in: [.title("ops")]))
    _ = try follower.untilCaughtUp()
    let bob = try store.messenger("bob")
    let signals = [try typing("bob", in: "+ops", store), try typing("bob", in: "alice", store)]
    let carol = try typing("carol", in: "+ops", store)
    for signal in signals + [carol] { signal.show() }
    _ = try until(#"["bob", "carol"] typing"#, follower)
    try bob.say("done", to: "+ops")
    #expect(!FileManager.default.fileExists(atPath: signals[0].path))
    #expect(
      FileManager.default.fileExists(atPath: signals[1].path) && FileManager.default.fileExists(atPath: carol.path))
    _ = try until(#"["carol"] typing"#, follower)
    try bob.say("done", to: "alice", nonce: "n")
    signals[1].show()
    try bob.say("done", to: "alice", nonce: "n")
    #expect(
      FileManager.default.fileExists(atPath: signals[1].path), "a duplicate is not sent, so the typing signal stays")
  }

  @Test
  func `a stream has separate typing events for each conversation, and only for the conversations that it selects`()
    throws
  {
    let store = try store()
    let all = try Follower(try store.messenger("alice"), query([.typing]))
    let one = try Follower(try store.messenger("alice"), query([.typing], in: [.title("ops")]))
    for follower in [all, one] { _ = try follower.untilCaughtUp() }
    try typing("bob", in: "alice", store).show()
    try typing("bob", in: "+ops", store).show()
    var ids: Set<Identifier> = []
    let deadline = monotonicMicroseconds() + testTimeout
    while ids.count < 2, monotonicMicroseconds() < deadline {
      ids.formUnion(try all.next(within: .microseconds(testTimeout))?.compactMap(\.conversationID) ?? [])
    }
    #expect(ids.count == 2)
    let received = try one.until { if case .typing = $0 { true } else { false } }
    #expect(try received.map(\.conversationID) == [store.messenger("alice").conversation(.title("ops")).id])
    #expect(received.allSatisfy { $0.cursor == nil })
  }

  @Test func `no typing events come from the user's own typing, from non-members or from other files`() throws {
    let store = try store()
    let folder = LiveFolder(path: store.location.live)
    let group = try store.messenger("alice").conversation(.title("ops")).id
    let follower = try Follower(try store.messenger("alice"), query([.typing]))
    _ = try follower.untilCaughtUp()
    try typing("alice", in: "+ops", store).show()
    // Forged files, and a file of a user who is not in the group.
    folder.give(.typing(group, Handle(stored: "dave")))
    folder.give(.typing(group, Handle(stored: "nobody")))
    folder.give(.typing(Identifier(at: .now), Handle(stored: "bob")))
    try Data().write(to: URL(filePath: "\(folder.path)/README"))
    folder.give(.present(Handle(stored: "bob")))
    try typing("bob", in: "+ops", store).show()
    #expect(try until(#"["bob"] typing"#, follower) == [#"["bob"] typing"#])
    let stranger = try Follower(try store.messenger("dave"), query([.typing, .presence]))
    _ = try stranger.untilCaughtUp()
    #expect(try stranger.next(within: .microseconds(300_000)) == [])
  }

  @Test func `a typing signal that expired before the stream began gives no event`() throws {
    let store = try store()
    let signal = try typing("bob", in: "alice", store)
    signal.show()
    try setAge(of: signal.path, seconds: 6)
    let follower = try Follower(try store.messenger("alice"), query([.typing]))
    _ = try follower.untilCaughtUp()
    #expect(try follower.next(within: .microseconds(300_000)) == [])
    signal.show()
    #expect(try until(#"["bob"] typing"#, follower) == [#"["bob"] typing"#])
  }

  @Test func `typing requires the right to send, and has no effect in a conversation that does not exist yet`() throws {
    let store = try store()
    let dave = try store.messenger("dave")
    #expect(try dave.typing(in: .direct("alice")) == nil)
    #expect(try code { try dave.typing(in: .direct("nobody")) } == .unknownUser)
    let group = try store.messenger("alice").conversation(.title("ops")).id
    #expect(try code { try dave.typing(in: .id(group)) } == .notAllowed)
    #expect(try code { try dave.typing(in: .title("ops")) } == .unknownConversation)
    #expect(!FileManager.default.fileExists(atPath: store.location.live))
  }

  @Test func `a typing signal creates a file at its path, and withdrawing it twice is harmless`() throws {
    let store = try store()
    let signal = try typing("bob", in: "alice", store)
    signal.hide()
    signal.show()
    #expect(FileManager.default.fileExists(atPath: signal.path))
    signal.hide()
    #expect(!FileManager.default.fileExists(atPath: signal.path))
    signal.hide()
  }

  @Test func `a user whose stream follows is shown as online, unless the user hides their presence`() throws {
    let store = try store()
    let (bob, carol) = (try store.messenger("bob"), try store.messenger("carol"))
    _ = try carol.setProfile(ProfileChange(showsPresence: false))
    let alice = try Follower(try store.messenger("alice"), query([.presence]))
    _ = try alice.untilCaughtUp()
    var follows = query([.message])
    follows.signalsPresence = true
    _ = try Follower(carol, follows).untilCaughtUp()
    _ = try Follower(try store.messenger("dave"), follows).untilCaughtUp()
    _ = try Follower(bob, follows).untilCaughtUp()
    let received = try alice.until("bob came")
    #expect(received == ["bob came"])
    let names = try FileManager.default.contentsOfDirectory(atPath: store.location.live).sorted()
    #expect(names == ["present.bob", "present.dave"])
  }

  @Test func `a user whose stream does not follow or hides presence is not shown as online`() throws {
    let store = try store()
    var once = query([.message])
    (once.signalsPresence, once.follows) = (true, false)
    _ = try Follower(try store.messenger("bob"), once).rest()
    _ = try Follower(try store.messenger("bob"), query([.message])).untilCaughtUp()
    #expect(!FileManager.default.fileExists(atPath: "\(store.location.live)/present.bob"))
  }

  @Test func `a user who starts to hide their presence goes offline, without a last-seen time`() throws {
    let store = try store()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try bob.beatPresence()
    let follower = try Follower(alice, query([.presence]))
    let events = try follower.until { $0.summary == "bob came" }
    guard case .presence(let presence)? = events.last else { return }
    #expect(presence.lastSeenAt == LiveFolder(path: store.location.live).time(of: .present(Handle(stored: "bob"))))
    _ = try bob.setProfile(ProfileChange(showsPresence: false))
    // Any new signal makes the follower check the folder.
    LiveFolder(path: store.location.live).give(.present(Handle(stored: "carol")))
    let gone = try follower.until { $0.summary == "bob went" }
    for case .presence(let presence) in gone where presence.user.description == "bob" {
      #expect(presence.lastSeenAt == nil)
    }
    #expect(try alice.presence().map(\.user.description) == ["carol"])
  }

  @Test func `presence is visible only to users who share a conversation`() throws {
    let store = try store()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try bob.beatPresence()
    #expect(try alice.presence().map { "\($0.user) \($0.isOnline)" } == ["bob true", "carol false"])
    #expect(
      try alice.presence(of: ["carol", "bob"]).map { "\($0.user) \($0.isOnline)" } == ["carol false", "bob true"])
    #expect(try alice.presence().map { $0.lastSeenAt == nil } == [false, true])
    #expect(try code { try alice.presence(of: ["dave"]) } == .notAllowed)
    #expect(try code { try alice.presence(of: ["nobody"]) } == .unknownUser)
    #expect(try store.messenger("dave").presence().isEmpty)
    #expect(try bob.presence(of: ["bob"]).map(\.isOnline) == [true])
    _ = try bob.setProfile(ProfileChange(showsPresence: false))
    #expect(try alice.presence().map(\.user.description) == ["carol"])
    #expect(try alice.presence(of: ["bob"]).isEmpty)
  }

  @Test func `a presence file older than 30 s means offline, with its time as last seen`() throws {
    let store = try store()
    try store.messenger("bob").beatPresence()
    let seen = try setAge(of: "\(store.location.live)/present.bob", seconds: 31)
    let bob = try #require(try store.messenger("alice").presence(of: ["bob"]).first)
    #expect(!bob.isOnline)
    #expect(bob.lastSeenAt == seen)
  }

  @Test func `signals do not move the cursor`() throws {
    let store = try store()
    let alice = try store.messenger("alice")
    let before = try alice.here()
    let follower = try Follower(alice, query(Set(MessagingEvent.Kind.allCases)))
    _ = try follower.untilCaughtUp()
    let cursor = follower.cursor
    try typing("bob", in: "alice", store).show()
    try store.messenger("bob").beatPresence()
    _ = try follower.until("bob came")
    #expect(follower.cursor == cursor)
    #expect(try alice.here() == before)
  }
}
