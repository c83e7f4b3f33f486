import DMJSON
import Testing

@testable import DMKit
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

struct ImportConversationTests {
  private func line(
    _ id: Identifier, _ participants: [String], title: String? = nil, isGroup: Bool = false, creator: String? = nil
  ) throws -> Imported {
    .conversation(
      try ImportedConversation(
        id: id, isGroup: isGroup, title: title, creator: creator.map(Handle.init(_:)),
        participants: participants.map(Handle.init(_:))))
  }

  private func conversation(_ result: Result<Imported.Outcome, DMError>) throws -> Conversation {
    guard case .conversation(let conversation) = try result.get() else { throw DMError(.internal, "no conversation") }
    return conversation
  }

  @Test func `an imported group keeps its id, title, creator and participants`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let id = Identifier(at: .now)
    let given = try line(id, ["bob", "carol"], title: "ops", isGroup: true, creator: "carol")
    let answer = try conversation(store.messenger("alice").importHistory([given])[0])
    #expect(answer.id == id && answer.title == "ops" && answer.creator?.description == "carol")
    let seen = try store.messenger("bob").conversation(.title("ops"))
    #expect(seen.id == id && seen.creator?.description == "carol")
    #expect(seen.participants.map(\.description) == ["bob", "carol"])
    #expect(try store.messenger("alice").importHistory([given]).count == 1)
    #expect(try store.integers("SELECT count(*) FROM conversation") == [[1]])
  }

  @Test func `an imported direct conversation is merged into the existing direct conversation of the same users`()
    throws
  {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let existing = try alice.say("hi", to: "bob").conversationID
    let id = Identifier(at: .now)
    let later = Timestamp(microseconds: Timestamp.now.microseconds + 1_000_000)
    let results = try alice.importHistory([
      line(id, ["alice", "bob"]),
      .message(ImportedMessage(group: .id(id), sender: Handle("bob"), text: "later", createdAt: later)),
    ])
    #expect(try conversation(results[0]).id == existing)
    #expect(try alice.everything(in: "bob").map(\.text) == ["hi", nil, "later"])
  }

  @Test func `an imported conversation with one participant becomes their notes to themselves`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    _ = try alice.importHistory([line(Identifier(at: .now), ["alice"])])
    #expect(try alice.conversation(.direct("alice")).participants.map(\.description) == ["alice"])
  }

  @Test func `a duplicate participant is imported once`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    _ = try alice.importHistory([line(Identifier(at: .now), ["alice", "bob", "alice"])])
    let pair = try code { try alice.conversation(.direct("bob")) }
    #expect(pair == nil)
  }

  @Test func `senders whose handles look the same but differ in their bytes are two users`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let lines = try ["ren\u{E9}", "rene\u{301}"].enumerated().map { index, sender in
      try Imported.message(
        ImportedMessage(
          group: .title("old"), sender: Handle(sender), text: "hi",
          createdAt: Timestamp(microseconds: Int64(index + 1))))
    }
    for result in try store.messenger("alice").importHistory(lines) { _ = try result.get() }
    let users = try store.integers("SELECT count(*) FROM user")
    #expect(users == [[3]])
  }

  @Test func `a conversation without messages keeps the time of its last activity`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let id = Identifier(at: .now)
    let json = """
      {"type":"conversation","id":"\(id)","is_group":true,"title":"ops","participants":["alice"],\
      "last_activity":"2019-03-01T09:00:00Z"}
      """
    _ = try alice.importHistory([Imported(line: Array(json.utf8)[...])])
    let activity = try alice.conversation(.id(id)).lastActivityAt
    #expect(activity == Timestamp(rfc3339: "2019-03-01T09:00:00Z"))
  }

  @Test(arguments: [[], ["a", "b", "c"]])
  func `a direct conversation has one or two participants`(_ participants: [String]) throws {
    #expect(try code { try line(Identifier(at: .now), participants) } == .badField)
  }

  @Test func `a conversation list and its messages, imported into another store, are equal there`() throws {
    let (store, copy) = (try TemporaryStore(), try TemporaryStore(users: ["alice"]))
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "ops", with: ["bob", "carol"])
    try alice.say("one", to: "+ops", nonce: "n")
    try store.messenger("bob").say("two", to: "+ops", replyTo: "1")
    try store.messenger("carol").say("hi", to: "alice")
    try alice.say("note", to: "alice")

    var json = JSONWriter()
    var all = HistoryQuery()
    all.limit = nil
    for conversation in try alice.conversations() { json.line(conversation) }
    for message in try alice.history(of: all) { json.line(message) }
    let lines = try json.bytes.split(separator: 0x0A).map { try Imported(line: $0) }
    let other = try copy.messenger("alice")
    for result in try other.importHistory(lines) { _ = try result.get() }
    for result in try other.importHistory(lines) { _ = try result.get() }

    let messages = try other.history(of: all)
    let original = try alice.history(of: all)
    #expect(messages.map(\.id) == original.map(\.id))
    #expect(messages.map(\.text) == original.map(\.text))
    #expect(messages.map(\.createdAt) == original.map(\.createdAt))
    #expect(messages.map(\.replyTo) == original.map(\.replyTo))
    #expect(try other.conversations().map(\.id) == alice.conversations().map(\.id))
    #expect(
      try other.conversations().map { Set($0.participants) } == alice.conversations().map { Set($0.participants) })
    #expect(try other.unreadCount() == 0)
  }
}
