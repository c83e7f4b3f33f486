import Testing

@testable import DMKit
@testable import DMModel
@testable import DMStore
@testable import DMSync
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Stores that keep only the last messages of each conversation, on a model of the hub.
struct FloorTests {
  private let hub = SharedHub()
  private let alice: Machine
  private let bob: Machine

  /// Bob has read 40 messages of Alice, and keeps the last ten.
  init() throws {
    (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try alice.sync()
    for number in 1...40 { try alice.say("message \(number)", to: "bob") }
    try settle([alice, bob])
    _ = try bob.messenger.markReadEverywhere(.all)
    try settle([alice, bob])
    try keep(10, bob)
  }

  private func keep(_ count: Int, _ machine: Machine) throws {
    try machine.messenger.keep(.last(count))
    _ = try machine.messenger.trimMessages(slack: 0)
    // The engine of the test fetches missing messages.
    let (engine, location) = (machine.engine, machine.messenger.location)
    _ = createFolder(location.live)
    machine.messenger.pages = Messenger.PageSource(limit: { .seconds(5) }) {
      var state = RunningState()
      (state.state, state.pulled) = (.live, FileStatus(location.liveAsked)?.modified)
      let fetched = Result {
        try engine.fetchPages()
        try state.write(to: location.liveHub)
      }
      if case .failure(let error) = fetched { return "\(error)" }
      return nil
    }
  }

  private func stored(_ machine: Machine) throws -> [Int] {
    try machine.store.integers("SELECT seq FROM message ORDER BY seq").compactMap { $0.first ?? nil }.map { Int($0) }
  }

  private func texts(_ change: (inout HistoryQuery) -> Void) throws -> [String?] {
    var query = HistoryQuery(try ConversationReference("alice"))
    query.limit = nil
    change(&query)
    return try bob.messenger.history(query).rest().map(\.text)
  }

  @Test func `the missing messages of all ranges of a history are fetched`() throws {
    #expect(try stored(bob) == Array(31...40))
    let found = try texts { $0.ranges = [RangeReference(from: 1, to: 2), RangeReference(from: 5, to: 6)] }
    #expect(found == ["message 1", "message 2", "message 5", "message 6"])
    #expect(try texts { $0.limit = 25 }.first == "message 16")
    try bob.check()
  }

  @Test func `a history of a time range says that older messages are left out`() throws {
    let time = try #require(try alice.messages("bob").first { $0.seq == 20 }).createdAt
    #expect(try texts { $0.since = .time(time) }.count == 10)
    #expect(bob.messenger.leftOut == 1)
  }

  @Test func `messages whose changes a stopped consumer has not received are not removed`() throws {
    let store = try bob.messenger.linkedStore().0
    try alice.messenger.edit([Edit(MessageReference("bob:35"), .delete(forEveryone: true))]).forEach {
      _ = try $0.get()
    }
    try bob.store.execute(
      "INSERT INTO consumer (user, name, rev, seq, used_at, marks_delivered) SELECT hub.user, 'bot', max(rev), 0, 0, 1 FROM change, hub"
    )
    try settle([alice, bob])
    for number in 41...60 { try alice.say("message \(number)", to: "bob") }
    try settle([alice, bob])
    _ = try bob.messenger.markReadEverywhere(.all)
    try settle([alice, bob])
    _ = try bob.messenger.trimMessages(slack: 0)
    #expect(try stored(bob) == Array(35...60))
    try store.write { try store.connection.execute("DELETE FROM consumer") }
    try settle([alice, bob])
    _ = try bob.messenger.trimMessages(slack: 0)
    #expect(try stored(bob) == Array(51...60))
  }

  @Test func `an unread message and all messages after it are not removed`() throws {
    for number in 41...60 { try alice.say("message \(number)", to: "bob") }
    try settle([alice, bob])
    let read = [RangeReference(from: 41, to: 41), RangeReference(from: 43, to: 60)]
    _ = try bob.messenger.markRead(.ranges(read), in: ConversationReference("alice"))
    try settle([alice, bob])
    try keep(10, bob)
    #expect(try stored(bob) == Array(42...60))
    try bob.check()
  }

  @Test func `after a restore of the hub, the whole conversation is in the store, without new message events`() throws {
    let backup = hub.model
    try alice.say("later", to: "bob")
    try settle([alice, bob])
    hub.model.restore(backup)
    let before = try bob.messenger.linkedStore().0.changes.range()?.upperBound
    try connectAnewAndSettle([alice, bob])
    #expect(try stored(bob) == Array(1...41))
    #expect(try bob.messenger.linkedStore().0.hubFloors.all().isEmpty)
    let news = try bob.store.integers("SELECT count(*) FROM change WHERE kind = 1 AND rev > \(before?.number ?? 0)")
    #expect(news == [[0]])
    #expect(try bob.messenger.conversations().map(\.unreadCount) == [1])
    // The next trim removes the older messages again.
    _ = try bob.messenger.trimMessages(slack: 0)
    #expect(try stored(bob) == Array(32...41))
    try bob.check()
  }

  @Test func `a page of messages that the hub cannot return in time does not stop queued messages`() throws {
    bob.link.failsPages = true
    #expect(try texts { $0.ranges = [RangeReference(from: 1, to: 2)] }.isEmpty)
    #expect(bob.messenger.leftOut == 1)
    _ = try bob.messenger.send(Outgoing(to: ConversationReference("alice"), text: "answer"))
    try settle([bob, alice])
    #expect(try alice.messages("bob").last?.text == "answer")
    #expect(try !bob.engine.hasPages())
  }

  @Test func `an edit of a message that cannot be fetched fails, and the other edits of its batch succeed`() throws {
    let results = try offline().edit([
      Edit(MessageReference("alice:3"), .react("👍")), Edit(MessageReference("alice:40"), .react("👍")),
    ])
    #expect(throws: DMError.self) { try results[0].get() }
    _ = try results[1].get()
  }

  /// Bob's messenger, whose hub cannot be reached.
  private func offline() throws -> Messenger {
    let messenger = try bob.store.messenger("bob")
    messenger.pages = Messenger.PageSource(limit: { .milliseconds(10) }) { "the hub cannot be reached" }
    return messenger
  }

  @Test func `unread messages of a blocked user do not keep other messages from being removed`() throws {
    let carol = try hub.joined("carol")
    try settle([alice, bob, carol])
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob"), Handle("carol")])
    try settle([alice, bob, carol])
    for number in 1...30 { try (number % 3 == 0 ? carol : alice).say("report \(number)", to: "+ops") }
    try settle([alice, carol, bob])
    _ = try bob.messenger.setBlocked(true, [Handle("carol")])
    _ = try bob.messenger.markReadEverywhere(.all)
    try settle([alice, bob, carol])
    _ = try bob.messenger.trimMessages(slack: 0)
    let left = try bob.store.integers("SELECT count(*) FROM message WHERE text LIKE 'report%'")
    // The last ten messages are left, and the earlier messages of Carol, which Bob has not read.
    #expect(try #require(left.first?.first ?? nil) <= 17)
    try bob.check()
    _ = try bob.messenger.setBlocked(false, [Handle("carol")])
    let unread = try bob.messenger.conversations().reduce(0) { $0 + $1.unreadCount }
    var query = HistoryQuery()
    (query.unreadOnly, query.limit) = (true, nil)
    #expect(try unread == 10 && bob.messenger.history(query).rest().count == unread)
    try bob.check()
  }
}
