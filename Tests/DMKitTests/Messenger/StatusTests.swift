import Testing

@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// The status of messages whose sender blocks some of their readers.
struct StatusTests {
  private struct Scene {
    let store: TemporaryStore

    init() throws {
      store = try TemporaryStore()
      _ = try store.messenger("alice").createGroup(titled: "ops", with: ["bob", "carol"])
    }

    func statuses(to user: String) throws -> [Message.Status] {
      try store.messenger(user).everything(in: "+ops").dropFirst().map(\.status)
    }

    func act(_ act: Marked.Action, by user: String, upTo seq: Int) throws {
      try store.messenger(user).take(act, upTo: seq, of: "+ops")
    }

    /// The readers of a message, as the store returns them.
    func readers(_ seq: Int, to user: String) throws -> (handles: [String], count: Int) {
      let sender = try #require(
        try store.integers("SELECT sender FROM message WHERE conversation = 1 AND seq = \(seq)")[0][0])
      return try store.messenger(user).reading(([], 0)) { session in
        let (store, me) = (session.store, session.me)
        let row = try store.conversations.groups(titled: "ops", of: me)[0]
        let viewer = Viewer(store, me)
        return (
          try viewer.statuses.readers(of: seq, in: row.key, from: UserKey(number: sender)).map {
            try store.users.handle($0).description
          },
          try viewer.statuses.readerCount(of: seq, in: row.key, from: UserKey(number: sender))
        )
      }
    }
  }

  @Test func `a receipt of a user that the sender blocks does not change the status of the message`() throws {
    let scene = try Scene()
    let alice = try scene.store.messenger("alice")
    for number in 1...3 { try alice.say("\(number)", to: "+ops") }
    try scene.act(.delivered, by: "bob", upTo: 4)
    try scene.act(.read, by: "bob", upTo: 3)
    #expect(try scene.statuses(to: "alice") == [.read, .read, .delivered])
    _ = try alice.setBlocked(true, ["bob"])
    #expect(try scene.statuses(to: "alice") == [.sent, .sent, .sent])
    #expect(try scene.statuses(to: "carol") == [.sent, .sent, .sent])
    try scene.act(.delivered, by: "carol", upTo: 3)
    try scene.act(.read, by: "carol", upTo: 2)
    #expect(try scene.statuses(to: "alice") == [.read, .delivered, .sent])
    #expect(try alice.receipts(for: .number(2, in: .title("ops"))).map(\.user.description) == ["carol"])
    _ = try alice.setBlocked(false, ["bob"])
    #expect(try scene.statuses(to: "alice") == [.read, .read, .delivered])
  }

  @Test func `a blocked user still sees how their own receipts change the status of the blocker's messages`() throws {
    let scene = try Scene()
    let alice = try scene.store.messenger("alice")
    for number in 1...2 { try alice.say("\(number)", to: "+ops") }
    try scene.act(.delivered, by: "bob", upTo: 3)
    try scene.act(.read, by: "bob", upTo: 2)
    let before = try scene.statuses(to: "bob")
    _ = try alice.setBlocked(true, ["bob"])
    #expect(try scene.statuses(to: "bob") == before && before == [.read, .delivered])
    #expect(try scene.readers(2, to: "bob") == (["bob"], 1))
    #expect(try scene.readers(2, to: "alice") == ([], 0))
  }

  @Test func `a message's readers and their number equal its receipts`() throws {
    let scene = try Scene()
    try scene.store.messenger("alice").say("1", to: "+ops")
    try scene.store.messenger("carol").say("2", to: "+ops")
    for user in ["carol", "alice", "bob"] { try scene.act(.read, by: user, upTo: 3) }
    #expect(try scene.readers(2, to: "alice") == (["bob", "carol"], 2))
    #expect(try scene.readers(3, to: "alice") == (["alice", "bob"], 2))
    _ = try scene.store.messenger("carol").setBlocked(true, ["bob"])
    for (viewer, count) in [("alice", 1), ("bob", 2), ("carol", 1)] {
      let readers = try scene.readers(3, to: viewer)
      let receipts = try scene.store.messenger(viewer).receipts(for: .number(3, in: .title("ops")))
      #expect(readers.count == count && Set(readers.handles) == Set(receipts.map(\.user.description)), "\(viewer)")
    }
  }

  @Test func `the readers of messages are the same in whatever order the messages are read`() throws {
    let scene = try Scene()
    let alice = try scene.store.messenger("alice")
    for number in 1...40 { try alice.say("\(number)", to: "+ops") }
    var random = SplitMix64(seed: 7)
    var expected: [Int: Set<String>] = [:]
    for _ in 1...30 {
      let user = ["bob", "carol"][random.below(2)]
      let lower = 2 + random.below(39)
      let range = lower...min(41, lower + random.below(5))
      _ = try scene.store.messenger(user).read(range, of: "+ops")
    }
    for row in try scene.store.integers("SELECT user, from_seq, to_seq FROM receipt", columns: 3) {
      let (user, range) = (row[0] == 2 ? "bob" : "carol", Int(row[1] ?? 0)...Int(row[2] ?? 0))
      for seq in range { expected[seq, default: []].insert(user) }
    }
    try alice.reading(()) { session in
      let (store, me) = (session.store, session.me)
      for seqs in [Array(2...41), (2...41).reversed(), (2...41).shuffled(using: &random)] {
        let viewer = Viewer(store, me)
        for seq in seqs {
          let readers = try viewer.statuses.readers(of: seq, in: 1, from: me)
          let found = try readers.map { try store.users.handle($0).description }
          #expect(Set(found) == expected[seq] ?? [], "\(seq)")
          #expect(try viewer.statuses.status(of: seq, in: 1, from: me) == (found.isEmpty ? .sent : .read))
        }
      }
    }
  }

  @Test func `each follower gets a read event for the first receipt that changes the status that this follower sees`()
    throws
  {
    let scene = try Scene()
    let alice = try scene.store.messenger("alice")
    try alice.say("1", to: "+ops")
    _ = try alice.setBlocked(true, ["bob"])
    let start = try alice.here()
    try scene.act(.read, by: "bob", upTo: 2)
    #expect(try alice.received([.messageStatus], from: start).isEmpty)
    #expect(try scene.store.messenger("carol").received([.messageStatus], from: start).isEmpty)
    #expect(try scene.store.messenger("bob").received([.messageStatus], from: start) == ["bob read 2 of alice"])
    try scene.act(.read, by: "carol", upTo: 2)
    #expect(try alice.received([.messageStatus], from: start) == ["carol read 2 of alice"])
    #expect(try scene.store.messenger("carol").received([.messageStatus], from: start) == ["carol read 2 of alice"])
    #expect(try scene.store.messenger("bob").received([.messageStatus], from: start) == ["bob read 2 of alice"])
  }
}
