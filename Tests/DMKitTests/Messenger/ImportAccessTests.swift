import Testing

@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// Which users may import into which conversations, and what the results reveal.
struct ImportAccessTests {
  private static let past = Timestamp(microseconds: 1_000_000_000_000_000)

  /// A time a number of seconds from now, so that an imported line is later than all messages in the store.
  private func later(_ second: Int) -> Timestamp {
    Timestamp(microseconds: Timestamp.now.microseconds + Int64(second) * 1_000_000)
  }

  private func line(
    _ text: String, from sender: String, in group: ImportedMessage.Group = .title("team"), at time: Timestamp,
    nonce: String? = nil
  ) throws -> Imported {
    .message(
      try ImportedMessage(group: group, sender: Handle(sender), text: text, createdAt: time, nonce: nonce))
  }

  private func result(_ messenger: Messenger, _ line: Imported) throws -> Message {
    guard case .message(let message) = try messenger.importHistory([line])[0].get() else {
      throw DMError(.internal, "no message")
    }
    return message
  }

  /// A group that Alice has imported, with messages of Alice and Bob.
  private func imported() throws -> TemporaryStore {
    let store = try TemporaryStore(users: ["alice", "bob", "mallory"])
    let alice = try store.messenger("alice")
    _ = try result(alice, line("one", from: "alice", at: Self.past, nonce: "n1"))
    _ = try result(
      alice, line("two", from: "bob", at: Timestamp(microseconds: Self.past.microseconds + 1_000_000), nonce: "n2"))
    return store
  }

  @Test func `importing into a group in use does not make anyone a member`() throws {
    let store = try imported()
    try store.messenger("bob").say("secret", to: "+team")
    let mallory = try store.messenger("mallory")
    let id = try store.messenger("bob").conversation(.title("team")).id
    for group in [ImportedMessage.Group.title("team"), .id(id)] {
      for sender in ["mallory", "bob"] {
        #expect(try code { try result(mallory, line("x", from: sender, in: group, at: later(5))) } == .notAllowed)
      }
    }
    let whole = try Imported.conversation(
      ImportedConversation(id: id, isGroup: true, title: "team", creator: nil, participants: [Handle("mallory")]))
    #expect(try code { try mallory.importHistory([whole])[0].get() } == .notAllowed)
    // A refused import also creates no new user.
    #expect(try code { try result(store.messenger("bob"), line("x", from: "eve", at: later(5))) } == .notAllowed)
    #expect(try code { try mallory.conversation(.id(id)) } == .notAllowed)
    #expect(try store.integers("SELECT count(*) FROM user") == [[3]])
    #expect(try store.integers("SELECT count(*) FROM message") == [[3]])
  }

  @Test func `a member cannot import messages of a non-member into a group in use`() throws {
    let store = try imported()
    let alice = try store.messenger("alice")
    try alice.say("secret", to: "+team")
    #expect(try code { try result(alice, line("x", from: "mallory", at: later(5))) } == .notAllowed)
    #expect(try code { try result(alice, line("x", from: "bob", at: later(5))) } == nil)
  }

  @Test func `only an owner can import announcements into a conversation in use`() throws {
    let store = try imported()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    func left(_ second: Int) throws -> Imported {
      .message(
        try ImportedMessage(
          group: .title("team"), sender: "alice", text: nil, createdAt: later(second), nonce: nil,
          systemKind: .userLeft, subject: "bob"))
    }
    #expect(try code { try result(bob, left(-3)) } == nil, "the group has only imported messages")
    try bob.say("hello", to: "+team")
    #expect(try code { try result(bob, left(5)) } == .notAllowed)
    #expect(try code { try result(alice, left(6)) } == nil)
  }

  @Test func `any user can import into a group that has only imported messages, and the senders join it`() throws {
    let store = try imported()
    let mallory = try store.messenger("mallory")
    #expect(try code { try result(mallory, line("three", from: "carol", at: later(-5))) } == nil)
    #expect(try store.messenger("carol").everything(in: "+team").map(\.text) == ["one", "two", "three"])
    #expect(try store.integers("SELECT count(*) FROM message WHERE system_kind NOT NULL") == [[0]])
  }

  @Test func `an import into a conversation in use adds one announcement, and followers get an event`() throws {
    let store = try imported()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    try bob.say("hello", to: "+team")
    let position = try bob.here()
    _ = try result(alice, line("three", from: "alice", at: later(5)))
    _ = try result(alice, line("four", from: "bob", at: later(6)))
    let messages = try bob.everything(in: "+team")
    #expect(
      messages.map { $0.text ?? "\($0.sender) \($0.systemKind?.rawValue ?? "")" } == [
        "one", "two", "hello", "alice history_imported", "three", "four",
      ])
    #expect(try bob.received([.message], from: position).count == 1)
    #expect(try bob.conversation(.title("team")).unreadCount == 0)
    try bob.say("again", to: "+team")
    _ = try result(alice, line("five", from: "alice", at: later(10)))
    #expect(try bob.everything(in: "+team").suffix(2).map(\.systemKind) == [.historyImported, nil])
    #expect(try store.findings() == [])
  }

  @Test func `an import is announced even if its first line is 2 microseconds after the last message`() throws {
    let store = try imported()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let last = try bob.say("hello", to: "+team").createdAt
    func after(_ microseconds: Int64) -> Timestamp { Timestamp(microseconds: last.microseconds + microseconds) }
    #expect(try code { try result(alice, line("x", from: "bob", at: after(1))) } == .outOfOrder)
    #expect(try code { try result(alice, line("x", from: "bob", at: after(2))) } == nil)
    #expect(try bob.everything(in: "+team").suffix(2).map(\.createdAt) == [after(1), after(2)])
  }

  @Test func `an import into a direct conversation in use is announced to the other user`() throws {
    let store = try TemporaryStore(users: ["alice", "bob"])
    let alice = try store.messenger("alice")
    let id = try alice.say("hi", to: "bob").conversationID
    _ = try result(alice, line("more", from: "bob", in: .id(id), at: later(5)))
    #expect(try store.messenger("bob").everything(in: "alice").map(\.systemKind) == [nil, .historyImported, nil])
  }

  @Test func `repeating an import after new messages were sent adds nothing`() throws {
    let store = try imported()
    try store.messenger("bob").say("hello", to: "+team")
    let before = try store.integers("SELECT count(*) FROM message")
    let again = try result(store.messenger("alice"), line("one", from: "alice", at: Self.past, nonce: "n1"))
    #expect(again.isDuplicate)
    #expect(try store.integers("SELECT count(*) FROM message") == before)
  }

  @Test func `an import cannot add messages or conversations for a user who blocks the importer`() throws {
    let store = try TemporaryStore(users: ["alice", "bob", "mallory"])
    _ = try store.messenger("alice").setBlocked(true, ["mallory"])
    let mallory = try store.messenger("mallory")
    let id = Identifier(at: .now)
    for participants in [["alice", "mallory"], ["alice", "bob"]] {
      for isGroup in [true, false] {
        let whole = try Imported.conversation(
          ImportedConversation(
            id: id, isGroup: isGroup, title: isGroup ? "you" : nil, creator: nil,
            participants: participants.map(Handle.init(_:))))
        #expect(try code { try mallory.importHistory([whole])[0].get() } == .notAllowed)
      }
    }
    // A line whose sender is the user who blocks the importer is refused, too.
    #expect(try code { try result(mallory, line("forged", from: "alice", at: Self.past)) } == .notAllowed)
    let direct = try mallory.say("hi", to: "alice").conversationID
    for sender in ["alice", "mallory"] {
      #expect(
        try code { try result(mallory, line("forged", from: sender, in: .id(direct), at: later(5))) } == .notAllowed)
    }
    #expect(try store.messenger("alice").conversations().isEmpty)
    #expect(try store.integers("SELECT count(*) FROM message") == [[1]])
    // Mallory can import into a conversation without a user who blocks Mallory.
    #expect(try code { try result(mallory, line("hi", from: "bob", in: .title("other"), at: Self.past)) } == nil)
  }

  @Test func `a user who blocks a sender does not see the sender's imported messages`() throws {
    let store = try imported()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    _ = try bob.setBlocked(true, ["mallory"])
    _ = try result(alice, line("psst @bob", from: "mallory", at: later(-5)))
    #expect(try bob.everything(in: "+team").map(\.text) == ["one", "two"])
    #expect(try bob.conversation(.title("team")).unreadMentionsCount == 0)
    #expect(try store.findings() == [])
  }

  @Test func `the result of an import does not reveal texts that the importer does not see`() throws {
    let store = try imported()
    let mallory = try store.messenger("mallory")
    func guess(_ text: String, at time: Timestamp) throws -> String {
      do {
        return "\(try result(mallory, line(text, from: "alice", at: time, nonce: "n1")).isDuplicate)"
      } catch let error as DMError { return error.code.rawValue }
    }
    // The result is the same for the right and for a wrong text; with another time, it is that of a message which does not exist.
    #expect(try guess("one", at: Self.past) == "true" && guess("wrong", at: Self.past) == "true")
    let other = Timestamp(microseconds: Self.past.microseconds - 1)
    #expect(try guess("one", at: other) == "out_of_order" && guess("wrong", at: other) == "out_of_order")
    #expect(try guess("one", at: later(-5)) == "nonce_conflict" && guess("wrong", at: later(-5)) == "nonce_conflict")
    #expect(try store.integers("SELECT count(*) FROM message") == [[2]])
  }

  @Test func `if the importer and others have groups with the same title, the title refers to the importer's group`()
    throws
  {
    let store = try imported()
    try store.messenger("bob").say("hello", to: "+team")
    let id = Identifier(at: .now)
    let mallory = try store.messenger("mallory")
    let own = try Imported.conversation(
      ImportedConversation(id: id, isGroup: true, title: "team", creator: nil, participants: [Handle("mallory")]))
    _ = try mallory.importHistory([own])
    #expect(try result(mallory, line("mine", from: "mallory", at: Self.past)).conversationID == id)
  }

  @Test(arguments: [true, false])
  func `in a migrated store, any user can import into a group if the complete log has no message sent to the group`(
    isComplete: Bool
  )
    throws
  {
    let store = try imported()
    try store.execute("DELETE FROM history")
    if !isComplete { try store.execute("DELETE FROM change WHERE rev = 1") }
    let steps = Migration.steps.map { String(decoding: $0, as: UTF8.self) }.joined()
    let start = try #require(steps.firstRange(of: "INSERT INTO history"))
    let end = try #require(steps[start.lowerBound...].firstIndex(of: ";"))
    try store.execute(String(steps[start.lowerBound..<end]))
    let answer = try code { try result(store.messenger("mallory"), line("x", from: "bob", at: later(-5))) }
    #expect(answer == (isComplete ? nil : .notAllowed))
  }
}
