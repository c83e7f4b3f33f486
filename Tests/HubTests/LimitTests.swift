import Testing

@testable import DMKit
@testable import DMModel
@testable import DMPostgres
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// How much a person may do on a hub in a minute and an hour.
struct LimitTests {
  let hub: PostgresHub
  let alice: Attacker
  let group = Identifier.random(.group(by: "alice"))

  init() throws {
    hub = try PostgresHub()
    alice = try Attacker(hub, "alice")
    #expect(try alice.push([HubOperation(.group, conversation: group)]).map(\.fault) == [nil])
  }

  private func says(_ count: Int, bytes: Int = 10) -> [HubOperation] {
    (0..<count).map { _ in
      HubOperation(
        .say, nonce: .random, conversation: group, id: .random, payload: [UInt8](repeating: 0x20, count: bytes))
    }
  }

  @Test func `operations within the limit of their kind are carried out, and the rest is postponed in order`() throws {
    try hub.administrator.limit([.act("say", perMinute: 60), .act("title", perMinute: 1)])
    let title = HubOperation(.title, conversation: group, payload: "{}")
    let answers = try alice.push([title] + says(59) + [title] + says(1))
    // The second title is over the limit, and the operation after it waits, too.
    #expect(answers.prefix(60).allSatisfy { $0.fault == nil })
    #expect(answers.suffix(2).map(\.fault) == ["over_quota", "over_quota"])
    let wait = try #require(answers.last?.retryAt).microseconds - Timestamp.now.microseconds
    #expect(50_000_000...60_000_000 ~= wait, "\(wait)")
    // One more message is within the limit of sixty.
    #expect(try alice.push(says(2)).map(\.fault).contains("over_quota"))
    let others = try alice.push([HubOperation(.avatar, conversation: group, payload: "{}")])
    #expect(others.map(\.fault) == [nil])
    try hub.administrator.limit([], unlimited: ["say", "title"])
    #expect(try alice.push([title] + says(100)).allSatisfy { $0.fault == nil })
    #expect(try hub.administrator.limits() == [.bytesPerHour(64 << 20), .fileBytesPerHour(1 << 30)])
  }

  @Test func `if a push exceeds the hourly limit, the operations up to the limit are carried out`() throws {
    try hub.administrator.limit([.bytesPerHour(1 << 20)])
    let answers = try alice.push(says(4, bytes: 300_000))
    #expect(answers.map { $0.fault ?? "done" } == ["done", "done", "over_quota", "over_quota"])
    #expect(try alice.pull(group).count { $0.kind == .message } == 2)
    #expect(try hub.administrator.limits() == [.bytesPerHour(1 << 20), .fileBytesPerHour(1 << 30)])
  }

  @Test func `an operation waits only for the limit that stops it, and refused operations do not count`() throws {
    try hub.administrator.limit([.bytesPerHour(1 << 20), .act("say", perMinute: 2)])
    let first = try alice.push(says(10, bytes: 200_000))
    #expect(first.map { $0.fault == nil } == [true, true] + Array(repeating: false, count: 8))
    // The limit of acts stops the third operation. The limit of bytes would stop the fourth, and for much longer.
    let wait = try #require(first.last?.retryAt).microseconds - Timestamp.now.microseconds
    #expect(0...31_000_000 ~= wait, "\(wait)")
    try hub.administrator.limit([.act("say", perMinute: 100)])
    #expect(try alice.push(says(90, bytes: 200_000)).count { $0.fault == nil } <= 1)
    try hub.administrator.limit([.bytesPerHour(1 << 30)])
    #expect(try alice.push(says(95)).allSatisfy { $0.fault == nil })
  }

  @Test func `a message over the limit of stored bytes waits until other messages are deleted`() throws {
    try hub.administrator.limit([.bytesPerPerson(1 << 20)])
    #expect(
      try hub.administrator.limits() == [.bytesPerHour(64 << 20), .fileBytesPerHour(1 << 30), .bytesPerPerson(1 << 20)])
    let kept = says(3, bytes: 300_000)
    let seqs = try alice.push(kept + says(1, bytes: 300_000)).map { $0.fault ?? "done" }
    #expect(seqs == ["done", "done", "done", "over_quota"])
    // An operation that needs no space is carried out; here it deletes a message.
    let entries = try alice.pull(group).filter { $0.kind == .message }
    let delete = HubOperation(.delete, nonce: .random, conversation: group, id: entries[0].id, seq: entries[0].seq)
    let answers = try alice.push([delete] + says(1, bytes: 300_000))
    #expect(answers.map { $0.fault ?? "done" } == ["done", "over_quota"])
    let wait = try #require(answers.last?.retryAt).microseconds - Timestamp.now.microseconds
    #expect(500_000_000...600_000_000 ~= wait, "\(wait)")
    try hub.server.psql(
      hub.database, "UPDATE dm.person SET counted_at = counted_at - interval '11 minutes' WHERE kept > 0")
    #expect(try alice.push(says(1, bytes: 300_000)).map(\.fault) == [nil])
    // Bytes that were stored before the limit was set count, too.
    try hub.administrator.limit([], keepsAll: true)
    #expect(try alice.push(says(1, bytes: 300_000)).map(\.fault) == [nil])
    try hub.administrator.limit([.bytesPerPerson(1 << 20)])
    #expect(try alice.push(says(1, bytes: 1000)).map(\.fault) == ["over_quota"])
  }
}
