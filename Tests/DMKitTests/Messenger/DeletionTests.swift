import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Deleting messages for yourself and for everyone, expiry, and deleting a whole conversation.
struct DeletionTests {
  /// The group with three messages of Alice, numbers 2 to 4.
  private func groupWithMessages() throws -> OpsGroup {
    let group = try OpsGroup()
    for text in ["one", "two", "three"] { try group.alice.say(text, to: "+ops") }
    return group
  }

  private func tombstones(_ user: Messenger) throws -> [Message] {
    var query = HistoryQuery(.title("ops"))
    query.includesDeleted = true
    return try user.history(of: query).filter { $0.deletedAt != nil }
  }

  private func deletions(_ user: Messenger, from position: EventQuery.Start) throws -> [Deletion] {
    var query = EventQuery(from: position)
    query.kinds = [.messageDeleted]
    return try user.received(query).compactMap {
      if case .messageDeleted(let deletion, _) = $0 { deletion } else { nil }
    }
  }

  // MARK: For yourself

  @Test func `a message that you delete for yourself is gone for you, and the others keep it`() throws {
    let group = try groupWithMessages()
    try group.bob.delete("+ops:3")
    #expect(try group.bob.texts(in: "+ops") == ["one", "three"])
    #expect(try group.carol.texts(in: "+ops") == ["one", "two", "three"])
    #expect(try group.bob.found("two") == [] && group.carol.found("two") == ["two"])
    #expect(try tombstones(group.bob) == [], "the deletion leaves no tombstone")
    #expect(try group.store.findings() == [])
  }

  @Test func `a user can delete for themselves any message they see, also as a former member`()
    throws
  {
    let group = try groupWithMessages()
    try group.bob.delete("+ops:1")
    _ = try group.carol.leave(.title("ops"))
    try group.carol.delete("+ops:2")
    #expect(try group.bob.everything(in: "+ops").map(\.number) == [2, 3, 4, 5])
    #expect(try group.carol.everything(in: "+ops").map(\.number) == [1, 3, 4, 5])
  }

  @Test func `a user who is not in the group cannot delete its messages`() throws {
    let group = try groupWithMessages()
    let message = try group.bob.message("+ops:2").id.description
    for forEveryone in [false, true] {
      #expect(try code { try group.dave.delete(message, forEveryone: forEveryone) } == .notAllowed)
    }
  }

  @Test func `only you get an event when you delete a message for yourself`() throws {
    let group = try groupWithMessages()
    let position = try group.alice.here()
    try group.bob.delete("+ops:2")
    let received = try deletions(group.bob, from: position)
    #expect(received.map(\.seq) == [2] && received.map(\.forEveryone) == [false])
    let all = Set(MessagingEvent.Kind.allCases)
    #expect(try group.alice.received(all, from: position) == [] && group.carol.received(all, from: position) == [])
  }

  @Test func `an unread message that you delete for yourself counts as read, and sends no receipt`() throws {
    let group = try groupWithMessages()
    try group.bob.delete("+ops:2")
    let seen = try group.bob.seen("+ops")
    #expect(seen.unreadCount == 2 && seen.firstUnreadSeq == 3)
    #expect(try group.alice.message("+ops:2").status == .sent)
    #expect(try group.alice.receipts(for: .number(2, in: .title("ops"))) == [])
  }

  @Test func `a message that you deleted for yourself stays deleted when it is edited or gets a reaction`() throws {
    let group = try groupWithMessages()
    try group.bob.delete("+ops:3")
    let position = try group.alice.here()
    try group.alice.edit("+ops:3", to: "zwei")
    try group.carol.react("👍", to: "+ops:3")
    #expect(try group.bob.texts(in: "+ops") == ["one", "three"] && group.bob.found("zwei") == [])
    #expect(try group.bob.received(Set(MessagingEvent.Kind.allCases), from: position) == [])
    #expect(try group.carol.received([.messageUpdated], from: position) == ["3 alice is now zwei"])
  }

  // MARK: For everyone

  @Test func `a message that its sender deletes for everyone leaves a tombstone with its number, sender and time`()
    throws
  {
    let group = try OpsGroup()
    let sent = try group.alice.say("@bob secret", to: "+ops", replyTo: "1")
    try group.bob.react("👍", to: "+ops:2")
    try group.alice.edit("+ops:2", to: "@bob more secret")
    try group.alice.delete("+ops:2", forEveryone: true)
    for user in [group.alice, group.bob, group.carol] {
      #expect(try user.texts(in: "+ops") == [] && user.found("secret") == [])
      let tombstone = try #require(try tombstones(user).first)
      #expect(tombstone.number == 2 && tombstone.id == sent.id && tombstone.createdAt == sent.createdAt)
      #expect(tombstone.sender == sent.sender && tombstone.text == nil && tombstone.editedAt == nil)
      #expect(tombstone.reactions == [] && tombstone.mentions == [])
    }
    #expect(try group.store.texts("SELECT text FROM message WHERE text NOT NULL") == [])
    #expect(try group.store.findings() == [])
  }

  @Test func `nobody, not even an owner, can delete announcements or the messages of others for everyone`() throws {
    let group = try groupWithMessages()
    try group.bob.say("mine", to: "+ops")
    #expect(try code { try group.alice.delete("+ops:5", forEveryone: true) } == .notAllowed)
    #expect(try code { try group.carol.delete("+ops:5", forEveryone: true) } == .notAllowed)
    #expect(try code { try group.alice.delete("+ops:1", forEveryone: true) } == .notAllowed)
    #expect(try group.carol.everything(in: "+ops").count == 5)
  }

  @Test func `a former member deletes nothing for everyone, not even their own message`() throws {
    let group = try OpsGroup()
    try group.carol.say("mine", to: "+ops")
    _ = try group.carol.leave(.title("ops"))
    #expect(try code { try group.carol.delete("+ops:2", forEveryone: true) } == .notAllowed)
    #expect(try group.alice.message("+ops:2").text == "mine")
  }

  @Test func `all who saw a deleted message get an event, and the message itself is not delivered any more`() throws {
    let group = try groupWithMessages()
    _ = try group.alice.add(["dave"], to: .title("ops"))
    let position = try group.alice.here()
    try group.alice.delete("+ops:3", forEveryone: true)
    for user in [group.alice, group.bob, group.carol] {
      #expect(try user.received([.messageDeleted], from: position) == ["3 deleted"])
    }
    #expect(
      try group.dave.received([.messageDeleted], from: position) == [], "the message was sent before Dave was added")
    #expect(
      try group.bob.received(MessagingEvent.Kind.standard) == [
        "1 alice: conversation_created ops", "2 alice: one", "4 alice: three", "5 alice: user_joined dave", "3 deleted",
      ])
  }

  @Test
  func `a deleted message does not count as unread or as a mention, and the list does not show it as last message`()
    throws
  {
    let group = try OpsGroup()
    for text in ["one", "@bob two"] { try group.alice.say(text, to: "+ops") }
    #expect(try group.bob.seen("+ops").unreadMentionsCount == 1)
    try group.alice.delete("+ops:3", forEveryone: true)
    var seen = try group.bob.seen("+ops")
    #expect(seen.unreadCount == 1 && seen.unreadMentionsCount == 0 && seen.lastMessage?.text == "one")
    try group.alice.delete("+ops:2", forEveryone: true)
    seen = try group.bob.seen("+ops")
    #expect(seen.unreadCount == 0 && seen.firstUnreadSeq == nil)
    #expect(seen.lastMessage?.systemKind == .conversationCreated)
    #expect(try group.store.findings() == [])
  }

  // MARK: References to deleted messages

  @Test func `the number of a deleted message is not reused, and numbers counted from the end skip it`() throws {
    let group = try groupWithMessages()
    try group.alice.delete("+ops:4", forEveryone: true)
    #expect(try group.alice.say("four", to: "+ops").number == 5)
    #expect(try group.bob.message("+ops:-2").number == 3)
    let ranges = [RangeReference(from: 3, to: 5)]
    #expect(try group.bob.messages(in: .title("ops"), ranges).map(\.number) == [3, 5])
  }

  @Test(arguments: [true, false]) func `a reference to a deleted message gives the error 'unknown message'`(
    _ forEveryone: Bool
  ) throws {
    let group = try groupWithMessages()
    let id = try group.alice.message("+ops:3").id.description
    try group.alice.delete("+ops:3", forEveryone: forEveryone)
    let alice = group.alice
    for message in ["+ops:3", id] {
      #expect(try code { try alice.delete(message) } == .unknownMessage)
      #expect(try code { try alice.delete(message, forEveryone: true) } == .unknownMessage)
      #expect(try code { try alice.act(.report(reason: nil), on: message) } == .unknownMessage)
      #expect(try code { try alice.say("x", to: "+ops", replyTo: message) } == .unknownMessage)
      #expect(try code { try alice.messageToForward(MessageReference(message)) } == .unknownMessage)
      #expect(try code { try alice.receipts(for: MessageReference(message)) } == .unknownMessage)
    }
  }

  @Test func `a reply to a deleted message keeps its id and quotes nothing of it`() throws {
    let group = try groupWithMessages()
    let reply = try group.bob.say("yes", to: "+ops", replyTo: "3")
    try group.alice.delete("+ops:3", forEveryone: true)
    let quoted = try #require(try group.carol.message("+ops:\(reply.number)").replyTo)
    #expect(quoted.id == reply.replyTo?.id && quoted.seq == nil && quoted.sender == nil && quoted.text == nil)
  }

  @Test func `the nonce of a deleted message still prevents a second send`() throws {
    let group = try OpsGroup()
    let sent = try group.alice.say("one", to: "+ops", nonce: "n")
    try group.alice.delete("+ops:2", forEveryone: true)
    let again = try group.alice.say("one", to: "+ops", nonce: "n")
    #expect(again.id == sent.id && again.isDuplicate && again.deletedAt != nil && again.text == nil)
    #expect(try group.bob.texts(in: "+ops") == [])
  }

  // MARK: Expiry

  @Test func `an expired message is gone for everyone, even if there was no write since`() throws {
    let group = try groupWithMessages()
    try group.expire("three")
    for user in [group.alice, group.bob, group.carol] {
      #expect(try user.texts(in: "+ops") == ["one", "two"] && user.found("three") == [])
      #expect(try user.seen("+ops").lastMessage?.text == "two")
    }
    #expect(try group.bob.unreadCount() == 2 && group.bob.seen("+ops").unreadCount == 2)
  }

  @Test func `an expired message leaves a tombstone with its expiry time, and followers get an event`() throws {
    let group = try groupWithMessages()
    let position = try group.alice.here()
    try group.expire("two")
    var query = EventQuery(from: position)
    (query.kinds, query.marksDelivered, query.signalsPresence) = ([.messageDeleted], false, false)
    #expect(try Follower(group.bob, query).until("3 deleted").last == "3 deleted")
    let tombstone = try #require(try tombstones(group.carol).first)
    #expect(tombstone.number == 3 && tombstone.text == nil && tombstone.deletedAt == tombstone.expiresAt)
  }

  @Test func `the lifetime of a message is at least one second`() throws {
    func check(_ lifetime: Duration) throws -> DMError.Code? {
      try code { try Outgoing(to: .direct("bob"), text: "x", lifetime: lifetime) }
    }
    #expect(try check(.seconds(1)) == nil)
    #expect(try check(.milliseconds(999)) == .badField && check(.zero) == .badField)
  }

  // MARK: Deleting a conversation

  @Test func `a conversation that you delete is empty and not listed for you, and the others keep it`() throws {
    let group = try groupWithMessages()
    let position = try group.alice.here()
    #expect(try group.bob.change(.deleted, in: [.title("ops")]).map(\.unreadCount) == [0])
    #expect(try group.bob.conversations() == [] && group.bob.unreadCount() == 0)
    #expect(try group.bob.everything(in: "+ops") == [] && group.bob.seen("+ops").lastMessage == nil)
    #expect(try group.carol.everything(in: "+ops").count == 4 && group.carol.unreadCount() == 3)
    #expect(try group.carol.received(Set(MessagingEvent.Kind.allCases), from: position) == [])
    #expect(try group.store.findings() == [])
  }

  @Test func `the next message returns a deleted conversation to the list, without its older messages`() throws {
    let group = try groupWithMessages()
    _ = try group.bob.change(.deleted, in: [.title("ops")])
    _ = try group.alice.setTitle("operations", of: .title("ops"))
    #expect(try group.bob.conversations() == [], "an announcement does not return a conversation to the list")
    try group.alice.say("four", to: "+operations")
    #expect(try group.bob.conversations().map(\.unreadCount) == [1])
    #expect(try group.bob.texts(in: "+operations") == ["four"])
  }

  @Test func `deleting a conversation twice changes nothing, and its pin stays`() throws {
    let group = try groupWithMessages()
    _ = try group.bob.change(.pinned(true), in: [.title("ops")])
    _ = try group.bob.change(.deleted, in: [.title("ops")])
    #expect(try group.changes { _ = try group.bob.change(.deleted, in: [.title("ops")]) } == 0)
    try group.alice.say("four", to: "+ops")
    #expect(try group.bob.conversations().map(\.isPinned) == [true])
  }
}
