import Testing

@testable import DMKit
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

struct ImportTests {
  private static func time(_ second: Int) -> Timestamp { Timestamp(microseconds: Int64(second) * 1_000_000) }

  private func line(
    _ text: String, at second: Int, from sender: String = "ann", in group: ImportedMessage.Group = .title("old"),
    id: Identifier? = nil, nonce: String? = nil, reply: ImportedMessage.Reply? = nil
  ) throws -> Imported {
    .message(
      try ImportedMessage(
        group: group, id: id, sender: Handle(sender), text: text, createdAt: Self.time(second), nonce: nonce,
        replyTo: reply))
  }

  private func codes(_ results: [Result<Imported.Outcome, DMError>]) throws -> [DMError.Code?] {
    try results.map { result in try code { try result.get() } }
  }

  private func message(_ result: Result<Imported.Outcome, DMError>) throws -> Message {
    guard case .message(let message) = try result.get() else { throw DMError(.internal, "no message") }
    return message
  }

  @Test func `history keeps its times, senders and replies`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let id = Identifier(at: Self.time(1))
    let results = try alice.importHistory([
      line("one", at: 1, id: id, nonce: "n1"), line("two", at: 2, from: "ben", reply: .nonce("n1")),
      line("three", at: 3, reply: .id(id)),
    ])
    #expect(try codes(results) == [nil, nil, nil])
    let ann = try store.messenger("ann")
    let messages = try ann.everything(in: "+old")
    #expect(messages.map(\.seq) == [1, 2, 3])
    #expect(messages.map(\.text) == ["one", "two", "three"])
    #expect(messages.map(\.sender.description) == ["ann", "ben", "ann"])
    #expect(messages.map(\.createdAt) == [1, 2, 3].map(Self.time))
    #expect(messages.map(\.replyTo?.id) == [nil, id, id])
    #expect(messages[0].id == id && messages[0].nonce == "n1")
    // The importer is not in the group, so the other fields of the messages differ.
    #expect(try messages.map(\.id) == results.map { try message($0).id })
    #expect(try messages.map(\.seq) == results.map { try message($0).seq })
  }

  @Test func `imported senders join the group, and the importer does not`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    _ = try alice.importHistory([line("one", at: 1), line("two", at: 2, from: "ben")])
    #expect(try alice.conversations().isEmpty)
    #expect(try store.messenger("ben").conversation(.title("old")).participants.map(\.description) == ["ann", "ben"])
    #expect(try store.messenger("ann").conversation(.title("old")).creator == nil)
  }

  @Test func `imported messages count as read, also for users who join later`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    _ = try alice.importHistory([line("one", at: 1), line("two", at: 2, from: "ben")])
    _ = try alice.importHistory([line("three", at: 3, from: "cem"), line("four", at: 4)])
    for user in ["ann", "ben", "cem"] {
      let seen = try store.messenger(user).conversation(.title("old"))
      #expect(seen.unreadCount == 0 && seen.lastReadSeq == 4 && seen.firstUnreadSeq == nil, "\(user)")
    }
    #expect(try store.integers("SELECT from_seq, to_seq FROM read_range", columns: 2) == [[1, 4], [1, 4], [1, 4]])
    #expect(try store.integers("SELECT count(*) FROM receipt") == [[0]])
    try store.messenger("ann").say("five", to: "+old")
    #expect(try store.messenger("cem").conversation(.title("old")).firstUnreadSeq == 5)
  }

  @Test func `an import that is repeated adds nothing and returns the existing messages`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let lines = [
      try line("one", at: 1, id: Identifier(at: Self.time(1))), try line("two", at: 2, from: "ben", nonce: "n"),
    ]
    let first = try alice.importHistory(lines).map(message)
    let log = try store.integers("SELECT count(*) FROM change")
    let second = try alice.importHistory(lines).map(message)
    #expect(second.map(\.id) == first.map(\.id))
    #expect(second.map(\.isDuplicate) == [true, true])
    #expect(try store.integers("SELECT count(*) FROM message") == [[2]])
    #expect(try store.integers("SELECT count(*) FROM change") == log)
  }

  @Test func `importing a nonce or an id again with another text is a conflict`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let id = Identifier(at: Self.time(1))
    _ = try alice.importHistory([line("one", at: 1, id: id), line("two", at: 2, nonce: "n")])
    let lines = [try line("uno", at: 1, id: id), try line("due", at: 2, nonce: "n")]
    #expect(try codes(store.messenger("ann").importHistory(lines)) == [.nonceConflict, .nonceConflict])
    // Alice does not see the messages, so no error shows her that the texts differ.
    #expect(try codes(alice.importHistory(lines)) == [nil, nil])
  }

  @Test func `an imported line with the id of a message in another conversation is refused`() throws {
    let store = try TemporaryStore(users: ["alice", "bob"])
    let alice = try store.messenger("alice")
    let id = try alice.say("hi", to: "bob").id
    #expect(try codes(alice.importHistory([line("hi", at: 1, id: id)])) == [.badField])
  }

  @Test func `a line that is not later than the one before is out of order, and the next lines are imported`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let results = try alice.importHistory([
      line("one", at: 5), line("two", at: 4), line("three", at: 5), line("four", at: 6),
      line("elsewhere", at: 1, in: .title("other")),
    ])
    #expect(try codes(results) == [nil, .outOfOrder, .outOfOrder, nil, nil])
    #expect(try codes(alice.importHistory([line("five", at: 6), line("six", at: 7)])) == [.outOfOrder, nil])
    #expect(try store.messenger("ann").everything(in: "+old").map(\.seq) == [1, 2, 3])
  }

  @Test func `a reply to a message that is not earlier in the conversation is refused`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let results = try store.messenger("alice").importHistory([
      line("one", at: 1, reply: .nonce("n2")), line("two", at: 2, nonce: "n2"),
      line("three", at: 3, reply: .id(Identifier(at: .now))),
      line("four", at: 4, in: .title("other"), reply: .nonce("n2")),
    ])
    #expect(try codes(results) == [.unknownMessage, nil, .unknownMessage, .unknownMessage])
    #expect(try store.integers("SELECT count(*) FROM conversation") == [[1]])
  }

  @Test func `the title in an import line refers only to groups that were made by an import`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let own = try alice.createGroup(titled: "old", with: [])
    let imported = try message(alice.importHistory([line("one", at: 1)])[0])
    #expect(imported.conversationID != own.id)
    #expect(try message(alice.importHistory([line("two", at: 2)])[0]).conversationID == imported.conversationID)
    #expect(try alice.everything(in: "+old").map(\.systemKind) == [.conversationCreated])
  }

  @Test
  func `an import line may have the id of a conversation of the importer or of an imported conversation, or a new id`()
    throws
  {
    let store = try TemporaryStore(users: ["alice", "bob", "carol"])
    let alice = try store.messenger("alice")
    let direct = try alice.say("hi", to: "bob").conversationID
    let later = Int(Timestamp.now.microseconds / 1_000_000) + 3600
    #expect(
      try codes(store.messenger("carol").importHistory([line("x", at: later, from: "bob", in: .id(direct))])) == [
        .notAllowed
      ])
    #expect(try codes(alice.importHistory([line("x", at: later, from: "bob", in: .id(direct))])) == [nil])
    #expect(try codes(alice.importHistory([line("x", at: later + 1, from: "carol", in: .id(direct))])) == [.notAllowed])
    let new = Identifier(at: .now)
    #expect(try codes(alice.importHistory([line("x", at: 1, in: .id(new))])) == [nil])
    #expect(try codes(store.messenger("carol").importHistory([line("y", at: 2, in: .id(new))])) == [nil])
    #expect(try alice.everything(in: "bob").map(\.text) == ["hi", nil, "x"])
  }

  @Test func `a batch of imported lines gives one change for each conversation, and no message events`() throws {
    let store = try TemporaryStore(users: ["alice", "ann"])
    let alice = try store.messenger("alice")
    _ = try alice.importHistory([line("one", at: 1), line("other", at: 1, in: .title("new"))])
    let before = try store.integers("SELECT max(rev) FROM change")[0][0] ?? 0
    _ = try alice.importHistory((2..<50).map { try line("\($0)", at: $0) } + [line("other", at: 2, in: .title("new"))])
    #expect(
      try store.integers("SELECT kind, conversation FROM change WHERE rev > \(before) ORDER BY rev", columns: 2) == [
        [4, 1], [4, 2],
      ])
  }
}
