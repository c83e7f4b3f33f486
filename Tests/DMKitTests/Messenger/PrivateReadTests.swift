import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Marking as read without a receipt, and choosing what to mark.
struct PrivateReadTests {
  private struct Scene {
    let store: TemporaryStore
    let alice: Messenger
    let bob: Messenger

    init() throws {
      store = try TemporaryStore()
      (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
      for number in 1...10 { try alice.say("\(number)", to: "bob") }
    }

    func mark(_ seqs: SeqRange, isPrivate: Bool) throws -> [SeqRange] {
      var options = Messenger.MarkOptions()
      options.isPrivate = isPrivate
      let range = RangeReference(from: seqs.lowerBound, to: seqs.upperBound)
      return try bob.markRead(.ranges([range]), in: .direct("alice"), options)?.ranges ?? []
    }

    /// The numbers of the messages whose status is read for Alice.
    func read() throws -> [Int] { try alice.everything(in: "bob").filter { $0.status == .read }.map(\.number) }
  }

  @Test func `marking as read privately sends no receipt and keeps the status`() throws {
    let scene = try Scene()
    let position = try scene.alice.here()
    #expect(try scene.mark(1...4, isPrivate: true) == [1...4])
    #expect(try scene.bob.unreadCount() == 6 && scene.read().isEmpty)
    #expect(try scene.alice.received(Set(MessagingEvent.Kind.allCases), from: position).isEmpty)
    #expect(try scene.bob.received([.conversationUpdated], from: position) == ["alice+bob changed"])
    #expect(try scene.alice.receipts(for: .number(1, in: .direct("bob"))).isEmpty)
    #expect(try scene.store.findings() == [])
  }

  @Test func `a public mark sends receipts only for the messages that it makes read`() throws {
    let scene = try Scene()
    try scene.bob.say("11", to: "alice")
    try scene.alice.say("12", to: "bob")
    _ = try scene.mark(3...4, isPrivate: true)
    #expect(try scene.mark(1...12, isPrivate: false) == [1...2, 5...10, 12...12])
    #expect(try scene.read() == [1, 2, 5, 6, 7, 8, 9, 10, 12])
    #expect(try scene.mark(1...12, isPrivate: false).isEmpty && scene.read().count == 9)
    // A message that was marked as unread can get a receipt when it is read again.
    var options = Messenger.MarkOptions()
    options.act = .unread
    _ = try scene.bob.markRead(.ranges([RangeReference(from: 3, to: 3)]), in: .direct("alice"), options)
    _ = try scene.mark(3...4, isPrivate: false)
    #expect(try scene.read() == [1, 2, 3, 5, 6, 7, 8, 9, 10, 12])
    #expect(try scene.store.findings() == [])
  }

  @Test func `a user who hides read receipts marks privately, with every command that marks`() throws {
    let scene = try Scene()
    #expect(try scene.bob.user().sendsReadReceipts)
    #expect(try !scene.bob.setProfile(ProfileChange(sendsReadReceipts: false)).sendsReadReceipts)
    _ = try scene.mark(1...2, isPrivate: false)
    _ = try scene.bob.markReadEverywhere(.since(.message(.number(4, in: .direct("alice"))), before: nil))
    let id = try scene.alice.conversation(.direct("bob")).id
    _ = try scene.bob.markRead([Messenger.MarkedMessage(conversation: id, seq: 3)])
    #expect(try scene.bob.unreadCount() == 0 && scene.read().isEmpty)
    _ = try scene.bob.setProfile(ProfileChange(sendsReadReceipts: true))
    try scene.alice.say("11", to: "bob")
    _ = try scene.mark(1...11, isPrivate: false)
    #expect(try scene.read() == [11])
    #expect(try scene.store.findings() == [])
  }

  @Test func `marking can be limited to the messages of one sender`() throws {
    let store = try TemporaryStore()
    let bob = try store.messenger("bob")
    _ = try bob.createGroup(titled: "ops", with: ["alice", "carol"])
    for user in ["alice", "carol", "alice", "bob", "carol"] { try store.messenger(user).say("x", to: "+ops") }
    try store.messenger("carol").say("x", to: "bob")
    var options = Messenger.MarkOptions()
    options.sender = "carol"
    #expect(try bob.markRead(.all, in: .title("ops"), options)?.ranges == [3...3, 6...6])
    #expect(try bob.markRead(.all, in: .title("ops"), options) == nil)
    #expect(try bob.markReadEverywhere(.all, options).map(\.ranges) == [[1...1]])
    options.sender = "nobody"
    #expect(try code { try bob.markReadEverywhere(.all, options) } == .unknownUser)
  }

  @Test func `marking everywhere can leave out named, muted or unmuted conversations`() throws {
    let store = try TemporaryStore(users: ["alice", "bob", "carol", "dave"])
    let bob = try store.messenger("bob")
    for user in ["alice", "carol", "dave"] { try store.messenger(user).say("x", to: "bob") }
    _ = try bob.change(.muted(for: nil), in: [.direct("carol")])
    var options = Messenger.MarkOptions()
    options.isDryRun = true
    func marked(_ except: [Handle] = [], muted: Bool? = nil) throws -> [String?] {
      try bob.markReadEverywhere(
        .all, options, except: except.map { .direct($0) }, muted: muted
      ).map(\.conversationTitle)
    }
    #expect(try marked() == ["alice", "carol", "dave"])
    #expect(try marked(["alice", "carol"]) == ["dave"])
    #expect(try marked(muted: true) == ["carol"])
    #expect(try marked(["dave"], muted: false) == ["alice"])
    #expect(try code { try marked(["nobody"]) } == .unknownUser)
  }

  @Test func `the receipts of several messages are grouped: one record for each act with which a user marked them`()
    throws
  {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    _ = try alice.createGroup(titled: "ops", with: ["bob", "carol"])
    for user in [alice, bob, alice, alice] { try user.say("x", to: "+ops") }
    try alice.say("x", to: "bob")
    try bob.take(.delivered, upTo: 3, of: "+ops")
    try bob.take(.delivered, upTo: 5, of: "+ops")
    _ = try bob.markRead(.ranges([RangeReference(from: 2, to: 2), RangeReference(from: 4, to: 4)]), in: .title("ops"))
    try store.messenger("carol").read(3...4, of: "+ops")
    func said(_ selections: [MessageSelection]) throws -> [String] {
      try alice.receipts(for: selections).map { "\($0.user) \($0.kind) \($0.ranges)" }
    }
    let all = RangeReference(from: 2, to: nil)
    #expect(
      try said([.ranges([all], in: .title("ops"))]) == [
        "bob delivery [ClosedRange(2...2)]", "bob delivery [ClosedRange(4...5)]",
        "bob read [ClosedRange(2...2), ClosedRange(4...4)]", "carol read [ClosedRange(3...4)]",
      ])
    #expect(
      try said([.message(.number(3, in: .title("ops"))), .message(.number(1, in: .direct("bob")))]) == [
        "carol read [ClosedRange(3...3)]"
      ])
    // A receipt whose change was removed from the log has no time.
    try store.execute("DELETE FROM change WHERE kind = 3")
    let deliveries = try alice.receipts(for: [.ranges([all], in: .title("ops"))], [.delivery])
    #expect(deliveries.map(\.at) == [nil] && deliveries.map(\.ranges) == [[2...2, 4...5]])
  }

  @Test func `a delivery receipt covers only messages sent after the user joined`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "ops", with: ["bob"])
    try alice.say("x", to: "+ops")
    _ = try alice.add(["carol"], to: .title("ops"))
    let last = try alice.say("y", to: "+ops")
    try store.messenger("carol").take(.delivered, upTo: last.number, of: "+ops")
    let all = RangeReference(from: 2, to: nil)
    let receipts = try alice.receipts(for: [.ranges([all], in: .title("ops"))])
    #expect(receipts.map(\.user.description) == ["carol"])
    #expect(receipts.first?.ranges.allSatisfy { $0.lowerBound > 2 } == true)
  }

  @Test func `a dump and a backup keep private read marks and the setting that hides receipts`() throws {
    let scene = try Scene()
    _ = try scene.mark(1...4, isPrivate: true)
    _ = try scene.mark(6...7, isPrivate: false)
    _ = try scene.bob.setProfile(ProfileChange(sendsReadReceipts: false))
    let (backup, dump) = (try scene.store.elsewhere("backup"), try scene.store.elsewhere("dump"))
    _ = try scene.store.upkeep.backUp(to: backup)
    var lines: [UInt8] = []
    try scene.store.upkeep.dump().forEach { lines += $0 }
    try Data(lines).write(to: URL(filePath: dump))
    for path in [backup, dump] {
      let other = try TemporaryStore(users: [])
      _ = try other.upkeep.restore(file: path)
      let (alice, bob) = (try other.messenger("alice"), try other.messenger("bob"))
      #expect(try alice.everything(in: "bob").filter { $0.status == .read }.map(\.number) == [6, 7])
      #expect(try bob.unreadCount() == 4)
      #expect(try !bob.user().sendsReadReceipts)
      _ = try bob.markRead(.all, in: .direct("alice"))
      #expect(try alice.everything(in: "bob").filter { $0.status == .read }.map(\.number) == [6, 7])
      #expect(try other.findings() == [])
    }
  }
}
