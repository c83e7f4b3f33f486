import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Drafts: `dm-conversation draft`, `dm-send --draft` and `dm-send --from-draft`.
struct DraftTests {
  private static let ops = ConversationReference.title("ops")

  @Test func `a draft is kept in its conversation and listed, until another replaces it`() throws {
    let group = try OpsGroup()
    #expect(try group.bob.saveDraft("so far", in: Self.ops).draftText == "so far")
    #expect(try group.bob.saveDraft("so good", in: Self.ops).draftText == "so good")
    #expect(try group.bob.conversations().map(\.draftText) == ["so good"])
    #expect(try group.store.findings() == [])
  }

  @Test func `a draft is visible only to its user, and only they get an event for it`() throws {
    let group = try OpsGroup()
    let position = try group.alice.here()
    _ = try group.bob.saveDraft("secret", in: Self.ops)
    #expect(try group.alice.seen("+ops").draftText == nil && group.alice.found("secret") == [])
    #expect(try group.alice.received(Set(MessagingEvent.Kind.allCases), from: position) == [])
    #expect(try group.bob.received([.conversationUpdated], from: position) == ["ops changed"])
  }

  @Test func `a draft changes neither the order of the list nor a count`() throws {
    let group = try OpsGroup()
    try group.alice.say("one", to: "+ops")
    try group.alice.say("later", to: "bob")
    let before = try group.bob.conversations().map(\.id)
    let seen = try group.bob.saveDraft("so far", in: Self.ops)
    #expect(seen.unreadCount == 1 && seen.lastMessage?.text == "one")
    #expect(try group.bob.conversations().map(\.id) == before)
  }

  @Test func `saving the same draft again, or clearing a draft that does not exist, changes nothing`() throws {
    let group = try OpsGroup()
    _ = try group.bob.saveDraft("so far", in: Self.ops)
    #expect(try group.changes { _ = try group.bob.saveDraft("so far", in: Self.ops) } == 0)
    #expect(try group.bob.change(.draft(nil), in: [Self.ops]).map(\.draftText) == [nil])
    #expect(try group.changes { _ = try group.bob.change(.draft(nil), in: [Self.ops]) } == 0)
  }

  @Test(
    arguments: [
      ("", .emptyText), (String(repeating: "x", count: 64 * 1024 + 1), .textTooLong), ("a\u{0}b", .badField),
      (String(repeating: "x", count: 64 * 1024), nil), ("of\nlines\n", nil),
    ] as [(String, DMError.Code?)])
  func `a draft follows the rules for the text of a message`(_ text: String, _ expected: DMError.Code?) throws {
    let group = try OpsGroup()
    #expect(try code { try group.bob.saveDraft(text, in: Self.ops) } == expected)
    #expect(try group.bob.seen("+ops").draftText == (expected == nil ? text : nil))
  }

  @Test func `a draft mentions users only when it is sent`() throws {
    let group = try OpsGroup()
    _ = try group.bob.saveDraft("hi @alice", in: Self.ops)
    #expect(try group.alice.seen("+ops").unreadMentionsCount == 0)
    _ = try group.bob.sendDraft(in: Self.ops)
    #expect(try group.alice.seen("+ops").unreadMentionsCount == 1)
  }

  @Test func `a draft leaves its conversation archived, and sending it unarchives the conversation`() throws {
    let group = try OpsGroup()
    _ = try group.bob.change(.archived(true), in: [Self.ops])
    #expect(try group.bob.saveDraft("so far", in: Self.ops).isArchived)
    _ = try group.bob.sendDraft(in: Self.ops)
    #expect(try group.bob.seen("+ops").isArchived == false)
  }

  // MARK: Sending

  @Test func `sending the draft clears it`() throws {
    let group = try OpsGroup()
    _ = try group.bob.saveDraft("so far", in: Self.ops)
    let sent = try group.bob.sendDraft(in: Self.ops)
    #expect(sent.text == "so far" && sent.number == 2)
    #expect(try group.bob.seen("+ops").draftText == nil && group.alice.texts(in: "+ops") == ["so far"])
    #expect(try code { try group.bob.sendDraft(in: Self.ops) } == .noDraft)
  }

  @Test func `a draft is sent as a reply, with mentions and with a lifetime`() throws {
    let group = try OpsGroup()
    let first = try group.alice.say("lunch?", to: "+ops")
    _ = try group.bob.saveDraft("yes @alice", in: Self.ops)
    #expect(try code { try group.bob.sendDraft(in: Self.ops, replyTo: .number(9, in: nil)) } == .unknownMessage)
    let sent = try group.bob.sendDraft(in: Self.ops, replyTo: .number(2, in: nil), lifetime: .seconds(60))
    #expect(sent.replyTo?.id == first.id && sent.expiresAt != nil && sent.mentions.map(\.description) == ["alice"])
  }

  @Test func `a draft stays when it cannot be sent`() throws {
    let group = try OpsGroup()
    try group.bob.say("hi", to: "alice")
    _ = try group.bob.saveDraft("so far", in: .direct("alice"))
    _ = try group.bob.setBlocked(true, ["alice"])
    #expect(try code { try group.bob.sendDraft(in: .direct("alice")) } == .notAllowed)
    _ = try group.bob.setBlocked(false, ["alice"])
    #expect(try group.bob.sendDraft(in: .direct("alice")).text == "so far")
  }

  @Test func `sending another text keeps the draft`() throws {
    let group = try OpsGroup()
    _ = try group.bob.saveDraft("so far", in: Self.ops)
    try group.bob.say("something else", to: "+ops")
    #expect(try group.bob.seen("+ops").draftText == "so far")
  }

  @Test func `a draft with a nonce is sent once, however often it is tried`() throws {
    let group = try OpsGroup()
    _ = try group.bob.saveDraft("so far", in: Self.ops)
    let sent = try group.bob.sendDraft(in: Self.ops, nonce: "n")
    let again = try group.bob.sendDraft(in: Self.ops, nonce: "n")
    #expect(again.id == sent.id && again.isDuplicate && !sent.isDuplicate)
    #expect(try group.alice.texts(in: "+ops") == ["so far"])
  }

  @Test func `sending a draft with a nonce of another text is a conflict, and the draft stays`() throws {
    let group = try OpsGroup()
    try group.bob.say("one", to: "+ops", nonce: "n")
    _ = try group.bob.saveDraft("two", in: Self.ops)
    #expect(try code { try group.bob.sendDraft(in: Self.ops, nonce: "n") } == .nonceConflict)
    #expect(try group.bob.seen("+ops").draftText == "two")
    // The message with this nonce is deleted, so its text cannot be compared with the draft.
    try group.bob.delete("+ops:2", forEveryone: true)
    #expect(try group.bob.sendDraft(in: Self.ops, nonce: "n").isDuplicate)
    #expect(try group.bob.seen("+ops").draftText == "two")
  }

  // MARK: Beginning and ending

  @Test func `a draft creates a direct conversation, which the other user does not see until the draft is sent`() throws
  {
    let group = try OpsGroup()
    _ = try group.bob.saveDraft("unsaid", in: .direct("dave"))
    #expect(try group.bob.conversations().map(\.name) == ["dave", "ops"])
    #expect(try group.dave.conversations() == [] && group.dave.received(Set(MessagingEvent.Kind.allCases)) == [])
    #expect(try group.bob.sendDraft(in: .direct("dave")).number == 1)
    #expect(try group.dave.conversations().map(\.unreadCount) == [1])
  }

  @Test func `a draft for an unknown user or group, and sending a draft that does not exist, are errors`() throws {
    let group = try OpsGroup()
    #expect(try code { try group.bob.saveDraft("x", in: .direct("nobody")) } == .unknownUser)
    #expect(try code { try group.bob.saveDraft("x", in: .title("osp")) } == .unknownConversation)
    #expect(try code { try group.bob.sendDraft(in: .direct("dave")) } == .unknownConversation)
    #expect(try code { try group.bob.sendDraft(in: Self.ops) } == .noDraft)
  }

  @Test func `only members keep a draft, and leaving the group clears it`() throws {
    let group = try OpsGroup()
    _ = try group.carol.saveDraft("so far", in: Self.ops)
    _ = try group.carol.leave(Self.ops)
    #expect(try group.carol.seen("+ops").draftText == nil)
    #expect(try code { try group.carol.sendDraft(in: Self.ops) } == .noDraft)
    #expect(try code { try group.carol.saveDraft("x", in: Self.ops) } == .notAllowed)
    let id = try group.alice.seen("+ops").id
    #expect(try code { try group.dave.saveDraft("x", in: .id(id)) } == .notAllowed)
  }

  @Test func `a user cannot save a draft to a user they block, but the blocked user can`() throws {
    let group = try OpsGroup()
    _ = try group.alice.saveDraft("before", in: .direct("bob"))
    _ = try group.alice.setBlocked(true, ["bob"])
    #expect(try code { try group.alice.saveDraft("x", in: .direct("bob")) } == .notAllowed)
    #expect(try code { try group.alice.change(.draft("x"), in: [.direct("bob")]) } == .notAllowed)
    #expect(try group.alice.change(.draft(nil), in: [.direct("bob")]).map(\.draftText) == [nil])
    #expect(try group.bob.saveDraft("x", in: .direct("alice")).draftText == "x")
  }

  @Test func `deleting a conversation clears its draft, and a new draft returns it to the list, empty`() throws {
    let group = try OpsGroup()
    try group.alice.say("one", to: "+ops")
    _ = try group.bob.saveDraft("so far", in: Self.ops)
    _ = try group.bob.change(.deleted, in: [Self.ops])
    #expect(try group.bob.seen("+ops").draftText == nil && group.bob.conversations() == [])
    _ = try group.bob.saveDraft("on second thought", in: Self.ops)
    #expect(try group.bob.conversations().map(\.draftText) == ["on second thought"])
    #expect(try group.bob.texts(in: "+ops") == [])
  }
}
