import Testing

@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// Own state, which only its user sees: the pin, mute, archive and name of a conversation.
struct OwnStateTests {
  private static let ops = [ConversationReference.title("ops")]

  /// The titles of the listed conversations; for a direct conversation, the handle of the other user.
  private func list(_ user: Messenger, _ change: (inout ListQuery) -> Void = { _ in }) throws -> [String] {
    var query = ListQuery()
    change(&query)
    return try user.conversations(query).map(\.name)
  }

  /// The group, and then direct conversations of Bob with Dave and with Carol.
  private func groupAndDirect() throws -> OpsGroup {
    let group = try OpsGroup()
    for user in [group.dave, group.carol] { try user.say("hi", to: "bob") }
    return group
  }

  // MARK: All own states

  @Test(arguments: [OwnChange.pinned(true), .archived(true), .muted(for: nil), .named("mine")])
  func `only you see your pin, mute, archive or name, and setting it again changes nothing`(_ change: OwnChange) throws
  {
    let group = try OpsGroup()
    let (position, others) = try (group.alice.here(), [group.alice, group.carol].map { try $0.seen("+ops") })
    #expect(try group.bob.change(change, in: Self.ops).count == 1)
    #expect(try group.bob.received(Set(MessagingEvent.Kind.allCases), from: position) == ["ops changed"])
    for (user, before) in zip([group.alice, group.carol], others) {
      #expect(try user.received(Set(MessagingEvent.Kind.allCases), from: position) == [])
      #expect(try user.seen("+ops") == before)
    }
    #expect(try group.changes { _ = try group.bob.change(change, in: Self.ops) } == 0)
    #expect(try group.store.findings() == [])
  }

  @Test(arguments: [OwnChange.pinned(false), .archived(false), .unmuted, .named(nil)])
  func `undoing a pin, mute, archive or name that is not set changes nothing`(_ change: OwnChange) throws {
    let group = try OpsGroup()
    #expect(try group.changes { _ = try group.bob.change(change, in: Self.ops) } == 0)
  }

  @Test(arguments: [OwnChange.pinned(true), .archived(true), .muted(for: nil), .named("mine"), .deleted])
  func `a former member can still pin, mute, archive, name or delete a group, and an outsider cannot`(
    _ change: OwnChange
  ) throws {
    let group = try OpsGroup()
    _ = try group.carol.leave(.title("ops"))
    #expect(try group.carol.change(change, in: Self.ops).count == 1)
    let id = try group.alice.seen("+ops").id
    #expect(try code { try group.dave.change(change, in: [.id(id)]) } == .notAllowed)
    #expect(try code { try group.dave.change(change, in: Self.ops) } == .unknownConversation)
  }

  @Test func `several conversations change together, or not at all if one of them is unknown`() throws {
    let group = try groupAndDirect()
    let some = try ["+ops", "carol", "+ops"].map(ConversationReference.init)
    #expect(try group.bob.change(.pinned(true), in: some).map(\.name) == ["ops", "carol"])
    let unknown = try ["dave", "+osp"].map(ConversationReference.init)
    #expect(try code { try group.bob.change(.pinned(true), in: unknown) } == .unknownConversation)
    #expect(try !group.bob.seen("dave").isPinned)
  }

  // MARK: Pin

  @Test func `pinned conversations come before all others, and are sorted by activity`() throws {
    let group = try groupAndDirect()
    #expect(try list(group.bob) == ["carol", "dave", "ops"])
    _ = try group.bob.change(.pinned(true), in: [.title("ops"), .direct("dave")])
    #expect(try list(group.bob) == ["dave", "ops", "carol"])
    try group.carol.say("me", to: "bob")
    #expect(try list(group.bob) == ["dave", "ops", "carol"])
    try group.alice.say("news", to: "+ops")
    #expect(try list(group.bob) == ["ops", "dave", "carol"])
    _ = try group.bob.change(.pinned(false), in: [.title("ops"), .direct("dave")])
    #expect(try list(group.bob) == ["ops", "carol", "dave"])
  }

  // MARK: Mute

  @Test func `a mute without an end lasts until it is undone`() throws {
    let group = try OpsGroup()
    #expect(try group.bob.change(.muted(for: nil), in: Self.ops).map(\.mutedUntil) == [.forever])
    #expect(try group.bob.change(.unmuted, in: Self.ops).map(\.mutedUntil) == [nil])
  }

  @Test func `a timed mute ends after its time, and a later mute replaces it`() throws {
    let group = try OpsGroup()
    for hours in [8, 1] {
      let before = Timestamp.now.microseconds
      let seen = try #require(try group.bob.change(.muted(for: .seconds(hours * 3600)), in: Self.ops).first)
      let length = try #require(seen.mutedUntil).microseconds - before
      #expect((Int64(hours) * 3_600_000_000...Int64(hours) * 3_600_000_000 + 60_000_000).contains(length))
    }
    try group.store.execute("UPDATE participant SET muted_until = 1 WHERE muted_until NOT NULL")
    #expect(try group.bob.seen("+ops").mutedUntil == nil, "the mute has ended")
  }

  @Test func `muting does not change lists, counts and streams`() throws {
    let group = try OpsGroup()
    let position = try group.bob.here()
    _ = try group.bob.change(.muted(for: nil), in: Self.ops)
    try group.alice.say("one", to: "+ops")
    #expect(try list(group.bob) == ["ops"] && group.bob.unreadCount() == 1)
    #expect(try group.bob.received([.message], from: position) == ["2 alice: one"])
  }

  @Test func `muted conversations can be left out of lists, counts, histories and streams`() throws {
    let group = try groupAndDirect()
    let position = try group.bob.here()
    _ = try group.bob.change(.muted(for: nil), in: Self.ops)
    try group.alice.say("unheard", to: "+ops")
    try group.carol.say("heard", to: "bob")
    #expect(try list(group.bob) { $0.unmutedOnly = true } == ["carol", "dave"])
    var (listed, history, stream) = (ListQuery(), HistoryQuery(), EventQuery(from: position))
    (listed.unmutedOnly, history.unmutedOnly, stream.unmutedOnly) = (true, true, true)
    stream.marksDelivered = false
    #expect(try group.bob.unreadCount(listed) == 3)
    #expect(try group.bob.history(of: history).map(\.text) == ["hi", "hi", "heard"])
    #expect(try group.bob.received(stream).map(\.summary) == ["2 carol: heard"])
  }

  // MARK: Archive

  @Test func `an archived conversation is listed and counted only on request`() throws {
    let group = try groupAndDirect()
    _ = try group.bob.change(.archived(true), in: [.direct("carol")])
    #expect(try list(group.bob) == ["dave", "ops"] && group.bob.unreadCount() == 1)
    #expect(try list(group.bob) { $0.archived = .only } == ["carol"])
    #expect(try list(group.bob) { $0.archived = .included } == ["carol", "dave", "ops"])
    #expect(try group.bob.texts(in: "carol") == ["hi"] && group.bob.found("hi") == ["hi", "hi"])
    _ = try group.bob.change(.archived(false), in: [.direct("carol")])
    #expect(try list(group.bob) == ["carol", "dave", "ops"])
  }

  @Test func `the next message unarchives a conversation, also your own message`() throws {
    let group = try groupAndDirect()
    for (user, other) in [(group.carol, "bob"), (group.bob, "carol")] {
      _ = try group.bob.change(.archived(true), in: [.direct("carol")])
      #expect(try list(group.bob) == ["dave", "ops"])
      try user.say("back", to: other)
      #expect(try list(group.bob) == ["carol", "dave", "ops"])
    }
  }

  @Test func `messages do not unarchive a muted conversation`() throws {
    let group = try groupAndDirect()
    for change in [OwnChange.archived(true), .muted(for: nil)] {
      _ = try group.bob.change(change, in: [.direct("carol")])
    }
    try group.carol.say("unheard", to: "bob")
    try group.bob.say("mine", to: "carol")
    #expect(try list(group.bob) == ["dave", "ops"] && group.bob.seen("carol").isArchived)
    _ = try group.bob.change(.archived(false), in: [.direct("carol")])
    #expect(try list(group.bob) == ["carol", "dave", "ops"])
  }

  @Test func `an archived conversation is unarchived by a message once its mute has ended`() throws {
    let group = try OpsGroup()
    for change in [OwnChange.archived(true), .muted(for: .seconds(3600))] {
      _ = try group.bob.change(change, in: Self.ops)
    }
    try group.store.execute("UPDATE participant SET muted_until = 1 WHERE muted_until NOT NULL")
    try group.alice.say("good morning", to: "+ops")
    #expect(try list(group.bob) == ["ops"])
  }

  @Test func `a pin, a mute and an archive survive leaving and being added again`() throws {
    let group = try OpsGroup()
    for change in [OwnChange.pinned(true), .archived(true), .muted(for: nil)] {
      _ = try group.carol.change(change, in: Self.ops)
    }
    for step in ["left", "added again"] {
      if step == "left" {
        _ = try group.carol.leave(.title("ops"))
      } else {
        _ = try group.alice.add(["carol"], to: .title("ops"))
      }
      let seen = try group.carol.seen("+ops")
      #expect(seen.isPinned && seen.isArchived && seen.mutedUntil == .forever, "\(step)")
    }
  }

  // MARK: Name

  @Test func `your own name for a conversation takes precedence over titles`() throws {
    let group = try groupAndDirect()
    _ = try group.bob.change(.named("ops"), in: [.direct("carol")])
    #expect(try list(group.bob) == ["ops", "dave", "ops"])
    #expect(try group.bob.say("to carol", to: "+ops").conversationID == group.bob.seen("carol").id)
    #expect(try group.carol.seen("bob").ownName == nil && group.carol.seen("+ops").isGroup)
  }

  @Test func `your own name for a group stays when the title changes and when you leave the group`() throws {
    let group = try OpsGroup()
    let id = try group.carol.change(.named("alerts"), in: Self.ops).map(\.id)
    _ = try group.alice.setTitle("dev", of: .title("ops"))
    #expect(try [group.carol.seen("+alerts").id] == id)
    _ = try group.carol.leave(.title("alerts"))
    #expect(try [group.carol.seen("+alerts").id] == id && list(group.carol) == ["alerts"])
  }

  @Test func `your own name follows the rules of titles and is unique among your conversations`() throws {
    let group = try groupAndDirect()
    let carol = [ConversationReference.direct("carol")]
    for name in ["", "a\nb", "a\u{200B}b", String(repeating: "x", count: 257)] {
      #expect(try code { try group.bob.change(.named(name), in: carol) } == .badField)
    }
    _ = try group.bob.change(.named("mine"), in: Self.ops)
    #expect(try code { try group.bob.change(.named("mine"), in: carol) } == .nameTaken)
    #expect(try group.carol.change(.named("mine"), in: Self.ops).count == 1, "another user can use the same name")
    _ = try group.bob.change(.named(nil), in: Self.ops)
    #expect(try group.bob.change(.named("mine"), in: carol).map(\.ownName) == ["mine"])
  }
}
