import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Reacting to messages: `dm-edit react`.
struct ReactionTests {
  /// The reactions to a message that the user sees, each as a text such as `👍 alice bob`.
  private func reactions(_ user: Messenger, _ message: String = "+ops:2") throws -> [String] {
    try user.message(message).reactions.map { "\($0.emoji) \($0.users.map(\.description).joined(separator: " "))" }
  }

  private func groupWithMessage() throws -> OpsGroup {
    let group = try OpsGroup()
    try group.alice.say("deployed", to: "+ops")
    return group
  }

  @Test func `everyone in the conversation sees a reaction, with the handle of its user`() throws {
    let group = try groupWithMessage()
    try group.bob.react("👍", to: "+ops:2")
    for user in [group.alice, group.bob, group.carol] { #expect(try reactions(user) == ["👍 bob"]) }
    #expect(try group.store.findings() == [])
  }

  @Test func `each emoji is listed once, and emoji and users are in order of reaction`() throws {
    let group = try groupWithMessage()
    try group.carol.react("👀", to: "+ops:2")
    try group.bob.react("👍", to: "+ops:2")
    try group.alice.react("👀", to: "+ops:2")
    #expect(try reactions(group.bob) == ["👀 carol alice", "👍 bob"])
  }

  @Test func `a user has at most one reaction to a message, and another emoji replaces it`() throws {
    let group = try groupWithMessage()
    try group.bob.react("👍", to: "+ops:2")
    try group.bob.react("🎉", to: "+ops:2")
    #expect(try reactions(group.alice) == ["🎉 bob"])
  }

  @Test func `a reaction that is taken back is gone`() throws {
    let group = try groupWithMessage()
    try group.bob.react("👍", to: "+ops:2")
    try group.carol.react("👍", to: "+ops:2")
    try group.bob.react(nil, to: "+ops:2")
    #expect(try reactions(group.alice) == ["👍 carol"])
    #expect(try group.store.findings() == [])
  }

  @Test func `repeating a reaction and removing a missing one change nothing`() throws {
    let group = try groupWithMessage()
    try group.bob.react("👍", to: "+ops:2")
    #expect(try group.changes { try group.bob.react("👍", to: "+ops:2") } == 0)
    #expect(try group.changes { try group.carol.react(nil, to: "+ops:2") } == 0)
    #expect(try reactions(group.alice) == ["👍 bob"])
  }

  @Test func `the result of reacting has the message, the user and the emoji`() throws {
    let group = try groupWithMessage()
    let message = try group.bob.message("+ops:2")
    guard case .reaction(let reaction) = try group.bob.act(.react("👍"), on: "+ops:-1") else {
      Issue.record("no reaction")
      return
    }
    #expect(reaction.messageID == message.id && reaction.conversationID == message.conversationID)
    #expect(reaction.seq == 2 && reaction.user.description == "bob" && reaction.emoji == "👍")
    guard case .reaction(let removed) = try group.bob.act(.react(nil), on: "+ops:2") else {
      Issue.record("no reaction")
      return
    }
    #expect(removed.emoji == nil)
  }

  @Test(arguments: ["👍", "👍🏽", "❤️", "❤", "🇩🇪", "1️⃣", "#️⃣", "👨‍👩‍👧‍👦", "👩🏽‍❤️‍💋‍👩🏿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🏳️‍🌈", "⌚", "©️"])
  func `a reaction is one emoji, also one of several code points`(_ emoji: String) throws {
    let group = try groupWithMessage()
    try group.bob.react(emoji, to: "+ops:2")
    #expect(try reactions(group.alice) == ["\(emoji) bob"])
  }

  @Test(arguments: ["", "a", "ok", "👍👍", "👍 ", " 👍", "👍a", "1", "#", "🇩", "🇩🇪🇫🇷", "海", "©", "\u{200D}", "👍\u{200D}"])
  func `a reaction that is not exactly one emoji is a bad field`(_ text: String) throws {
    let fault = try fault { try Edit(MessageReference("bob:1"), .react(text)) }
    #expect(fault?.code == .badField && fault?.subject == "emoji")
  }

  @Test func `an announcement takes no reaction`() throws {
    let group = try OpsGroup()
    #expect(try code { try group.bob.react("👍", to: "+ops:1") } == .notAllowed)
  }

  @Test func `reacting to a message that is deleted, expired or was never sent is an error`() throws {
    let group = try OpsGroup()
    for number in try group.goneMessages(for: group.bob) {
      #expect(try code { try group.bob.react("👍", to: "+ops:\(number)") } == .unknownMessage, "\(number)")
    }
  }

  @Test func `former members and strangers may not react`() throws {
    let group = try groupWithMessage()
    let message = try group.carol.message("+ops:2").id.description
    _ = try group.carol.leave(.title("ops"))
    #expect(try code { try group.carol.react("👍", to: "+ops:2") } == .notAllowed)
    #expect(try code { try group.carol.react(nil, to: "+ops:2") } == .notAllowed)
    #expect(try code { try group.dave.react("👍", to: message) } == .notAllowed)
    #expect(try code { try group.dave.react("👍", to: "+ops:2") } == .unknownConversation)
    #expect(try reactions(group.alice) == [])
  }

  @Test func `the reaction of a member who left stays`() throws {
    let group = try groupWithMessage()
    try group.carol.react("👍", to: "+ops:2")
    _ = try group.carol.leave(.title("ops"))
    #expect(try reactions(group.alice) == ["👍 carol"])
  }

  @Test func `a reaction changes no unread count, no order and no status`() throws {
    let group = try groupWithMessage()
    try group.alice.say("later", to: "bob")
    let before = try (group.bob.conversations().map(\.id), group.bob.unreadCount())
    try group.carol.react("👍", to: "+ops:2")
    #expect(try group.bob.conversations().map(\.id) == before.0 && group.bob.unreadCount() == before.1)
    #expect(try group.alice.message("+ops:2").status == .sent)
    #expect(try group.carol.seen("+ops").unreadCount == 1, "reacting does not mark as read")
  }

  @Test func `a reaction does not return an archived or deleted conversation to the list`() throws {
    let group = try groupWithMessage()
    _ = try group.alice.change(.archived(true), in: [.title("ops")])
    _ = try group.carol.change(.deleted, in: [.title("ops")])
    try group.bob.react("👍", to: "+ops:2")
    #expect(try group.alice.conversations() == [] && group.carol.conversations() == [])
  }

  @Test func `the stream has an event when a reaction is added and when it is removed`() throws {
    let group = try groupWithMessage()
    let position = try group.alice.here()
    try group.bob.react("👍", to: "+ops:2")
    for user in [group.alice, group.bob, group.carol] {
      #expect(try user.received([.reaction], from: position) == ["bob reacted to 2: 👍"])
    }
    #expect(try group.dave.received([.reaction], from: position) == [])
    #expect(try group.bob.received([.reaction], from: position, othersOnly: true) == [])
    let later = try group.alice.here()
    try group.bob.react(nil, to: "+ops:2")
    #expect(try group.alice.received([.reaction], from: later) == ["bob reacted to 2: "])
  }

  @Test func `a user who was added after a message gets no event for a reaction to it`() throws {
    let group = try groupWithMessage()
    _ = try group.alice.add(["dave"], to: .title("ops"))
    let position = try group.alice.here()
    try group.bob.react("👍", to: "+ops:2")
    #expect(try group.dave.received([.reaction], from: position) == [])
  }

  @Test func `the stream leaves reactions out unless they are asked for`() throws {
    let group = try groupWithMessage()
    let position = try group.alice.here()
    try group.bob.react("👍", to: "+ops:2")
    #expect(try group.alice.received(MessagingEvent.Kind.standard, from: position) == [])
  }

  @Test func `deleting the message for everyone deletes its reactions`() throws {
    let group = try groupWithMessage()
    try group.bob.react("👍", to: "+ops:2")
    try group.alice.delete("+ops:2", forEveryone: true)
    #expect(try group.store.integers("SELECT count(*) FROM reaction") == [[0]])
    #expect(try group.store.findings() == [])
  }

  @Test func `the reactions of a blocked user are hidden from the blocker only, and shown again after unblocking`()
    throws
  {
    let group = try groupWithMessage()
    try group.bob.react("👍", to: "+ops:2")
    _ = try group.alice.setBlocked(true, ["bob"])
    let position = try group.alice.here()
    try group.bob.react("🎉", to: "+ops:2")
    #expect(try reactions(group.alice) == [] && reactions(group.carol) == ["🎉 bob"])
    #expect(try group.alice.received([.reaction], from: position) == [])
    #expect(try group.carol.received([.reaction], from: position) == ["bob reacted to 2: 🎉"])
    _ = try group.alice.setBlocked(false, ["bob"])
    #expect(try reactions(group.alice) == ["🎉 bob"])
  }
}
