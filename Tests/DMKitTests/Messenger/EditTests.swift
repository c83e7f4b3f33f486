import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Editing messages: `dm-edit text`.
struct EditTests {
  @Test func `an edit changes the text and the edit time, and keeps number, id and sending time`() throws {
    let group = try OpsGroup()
    let sent = try group.alice.say("lunch at noo?", to: "+ops")
    let edited = try group.alice.edit("+ops:2", to: "lunch at noon?")
    #expect(edited.text == "lunch at noon?")
    #expect(edited.id == sent.id && edited.number == sent.number && edited.createdAt == sent.createdAt)
    #expect(sent.editedAt == nil)
    #expect(try #require(edited.editedAt) >= sent.createdAt)
    #expect(try group.store.findings() == [])
  }

  @Test func `after an edit, all users see the new text, and a search finds only the new text`() throws {
    let group = try OpsGroup()
    try group.alice.say("old words", to: "+ops")
    try group.alice.edit("+ops:2", to: "new words")
    for user in [group.alice, group.bob, group.carol] {
      #expect(try user.texts(in: "+ops") == ["new words"])
      #expect(try user.seen("+ops").lastMessage?.text == "new words")
      #expect(try user.found("new") == ["new words"] && user.found("old") == [])
    }
  }

  @Test func `the message to edit is given by number, by number from the end, or by UUID`() throws {
    let group = try OpsGroup()
    let sent = try group.alice.say("one", to: "+ops")
    for reference in ["+ops:2", "+ops:-1", sent.id.description, "dm:\(sent.id)"] {
      #expect(try group.alice.edit(reference, to: "by \(reference)").text == "by \(reference)")
    }
    #expect(try code { try group.alice.edit("2", to: "x") } == .badReference)
  }

  @Test func `only the sender of a message can edit it; an owner of the group cannot`() throws {
    let group = try OpsGroup()
    try group.bob.say("mine", to: "+ops")
    #expect(try code { try group.alice.edit("+ops:2", to: "x") } == .notAllowed)
    #expect(try code { try group.carol.edit("+ops:2", to: "x") } == .notAllowed)
    #expect(try group.carol.texts(in: "+ops") == ["mine"])
  }

  @Test func `a former member may not edit even their own message`() throws {
    let group = try OpsGroup()
    try group.carol.say("mine", to: "+ops")
    _ = try group.carol.leave(.title("ops"))
    #expect(try code { try group.carol.edit("+ops:2", to: "x") } == .notAllowed)
  }

  @Test func `a user who is not in a group cannot edit its messages by UUID, and its title is unknown to them`() throws
  {
    let group = try OpsGroup()
    let sent = try group.alice.say("secret", to: "+ops")
    #expect(try code { try group.dave.edit(sent.id.description, to: "x") } == .notAllowed)
    #expect(try code { try group.dave.edit("+ops:2", to: "x") } == .unknownConversation)
  }

  @Test func `an announcement cannot be edited`() throws {
    let group = try OpsGroup()
    #expect(try code { try group.alice.edit("+ops:1", to: "x") } == .notAllowed)
  }

  @Test func `editing a message that is deleted, expired or was never sent is an error`() throws {
    let group = try OpsGroup()
    for number in try group.goneMessages(for: group.alice) {
      #expect(try code { try group.alice.edit("+ops:\(number)", to: "x") } == .unknownMessage, "\(number)")
    }
  }

  @Test func `an edit to the same bytes changes nothing`() throws {
    let group = try OpsGroup()
    try group.alice.say("caf\u{E9}", to: "+ops")
    let changes = try group.changes {
      let same = try group.alice.edit("+ops:2", to: "caf\u{E9}")
      #expect(same.editedAt == nil)
    }
    #expect(changes == 0)
    let other = try group.alice.edit("+ops:2", to: "cafe\u{301}")
    #expect(other.editedAt != nil, "the same letters as different bytes are another text")
  }

  @Test(
    arguments: [
      ("", .emptyText), (String(repeating: "x", count: 64 * 1024 + 1), .textTooLong), ("a\u{0}b", .badField),
      (String(repeating: "x", count: 64 * 1024), nil),
    ] as [(String, DMError.Code?)])
  func `a text has 1 byte to 64 KiB and no NUL`(_ text: String, _ expected: DMError.Code?) throws {
    let group = try OpsGroup()
    try group.alice.say("x", to: "+ops")
    #expect(try code { try group.alice.edit("+ops:2", to: text) } == expected)
  }

  @Test func `an edit changes no count and no status, and moves nothing in the list`() throws {
    let group = try OpsGroup()
    try group.alice.say("one", to: "+ops")
    try group.alice.say("later", to: "bob")
    try group.bob.read(2...2, of: "+ops")
    let before = try (group.bob.conversations().map(\.id), group.carol.seen("+ops").unreadCount)
    let edited = try group.alice.edit("+ops:2", to: "two")
    #expect(edited.status == .read && edited.readByCount == 1)
    #expect(try group.bob.conversations().map(\.id) == before.0)
    #expect(try group.bob.seen("+ops").unreadCount == 0 && group.carol.seen("+ops").unreadCount == before.1)
    #expect(try group.store.findings() == [])
  }

  @Test func `an edit keeps the reactions and the reference to the replied message`() throws {
    let group = try OpsGroup()
    let first = try group.bob.say("lunch?", to: "+ops")
    try group.alice.say("yse", to: "+ops", replyTo: "2")
    try group.bob.react("👍", to: "+ops:3")
    let edited = try group.alice.edit("+ops:3", to: "yes")
    #expect(edited.replyTo?.id == first.id)
    #expect(edited.reactions.map(\.emoji) == ["👍"])
  }

  @Test func `a reply quotes the text that the message has now`() throws {
    let group = try OpsGroup()
    try group.alice.say("lunch at noo?", to: "+ops")
    try group.bob.say("yes", to: "+ops", replyTo: "2")
    try group.alice.edit("+ops:2", to: "lunch at noon?")
    #expect(try group.carol.message("+ops:3").replyTo?.text == "lunch at noon?")
  }

  @Test func `an edit does not return an archived or deleted conversation to the list`() throws {
    let group = try OpsGroup()
    try group.alice.say("one", to: "+ops")
    _ = try group.bob.change(.archived(true), in: [.title("ops")])
    _ = try group.carol.change(.deleted, in: [.title("ops")])
    try group.alice.edit("+ops:2", to: "two")
    #expect(try group.bob.conversations() == [] && group.carol.conversations() == [])
  }

  @Test func `every participant gets one event for each edit`() throws {
    let group = try OpsGroup()
    try group.alice.say("one", to: "+ops")
    let position = try group.alice.here()
    try group.alice.edit("+ops:2", to: "two")
    for user in [group.alice, group.bob, group.carol] {
      #expect(try user.received([.messageUpdated], from: position) == ["2 alice is now two"])
    }
    #expect(try group.dave.received([.messageUpdated], from: position) == [])
    try group.alice.edit("+ops:2", to: "three")
    // An event has the present text of the message, not the text at the time of the edit.
    #expect(
      try group.bob.received([.messageUpdated], from: position) == ["2 alice is now three", "2 alice is now three"])
  }

  @Test func `a user who was added after a message gets no event for its edit`() throws {
    let group = try OpsGroup()
    try group.alice.say("one", to: "+ops")
    _ = try group.alice.add(["dave"], to: .title("ops"))
    let position = try group.alice.here()
    try group.alice.edit("+ops:2", to: "two")
    #expect(try group.dave.received([.messageUpdated], from: position) == [])
    #expect(try group.dave.found("two") == [])
  }

  @Test func `a user who blocks the sender gets no event for an edit`() throws {
    let group = try OpsGroup()
    try group.bob.say("one", to: "+ops")
    _ = try group.alice.setBlocked(true, ["bob"])
    let position = try group.alice.here()
    try group.bob.edit("+ops:2", to: "two")
    #expect(try group.alice.received([.messageUpdated], from: position) == [])
    #expect(try group.carol.received([.messageUpdated], from: position) == ["2 bob is now two"])
  }

  @Test func `a batch of edits continues after an edit that fails`() throws {
    let group = try OpsGroup()
    for text in ["one", "two"] { try group.alice.say(text, to: "+ops") }
    let edits = try [("+ops:2", "eins"), ("+ops:9", "x"), ("+ops:3", "zwei")].map {
      try Edit(MessageReference($0.0), .text($0.1))
    }
    let codes = try group.alice.edit(edits).map { result in try code { try result.get() } }
    #expect(codes == [nil, .unknownMessage, nil])
    #expect(try group.bob.texts(in: "+ops") == ["eins", "zwei"])
  }

  @Test func `a nonce still names its message after an edit, whatever the text`() throws {
    let group = try OpsGroup()
    let sent = try group.alice.say("first", to: "+ops", nonce: "n")
    try group.alice.edit("+ops:2", to: "second")
    for text in ["first", "third"] {
      let again = try group.alice.say(text, to: "+ops", nonce: "n")
      #expect(again.id == sent.id && again.isDuplicate && again.text == "second")
    }
  }
}
