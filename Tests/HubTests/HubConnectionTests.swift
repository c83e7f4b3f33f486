import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSync

/// What `HubConnection` returns for the events of a hub.
struct HubConnectionTests {
  private let a = Identifier.random
  private let b = Identifier.random
  private let first = Identifier.random
  private let second = Identifier.random

  /// A connection whose methods can be called within `#expect`.
  @dynamicMemberLookup private final class Asked {
    private var connection = HubConnection()
    func take(_ event: HubConnection.Event) -> [HubConnection.Output] { connection.take(event) }
    func takeHorizon() -> String? { connection.takeHorizon() }
    func enqueue(_ id: Identifier) { connection.enqueue(id) }
    subscript<Value>(dynamicMember path: KeyPath<HubConnection, Value>) -> Value { connection[keyPath: path] }
  }

  /// A connection that the hub has accepted.
  private func open(isStandby: Bool = false) -> Asked {
    let connection = Asked()
    let hello = HubHello(
      hub: a, epoch: a, startedAt: .now, isStandby: isStandby, person: 1, handle: "alice", machine: b, now: .now)
    #expect(connection.take(.opened(hello)) == [])
    return connection
  }

  /// A log that this store has up to `rev`.
  private func held(_ rev: Int64 = 5, namedRev: Int64 = 5, sees: VisibleRevs = VisibleRevs(from: 1))
    -> HubConversations.Row
  {
    HubConversations.Row(
      conversation: ConversationKey(number: 1), rev: rev, mark: first, sees: sees, historyUpTo: 0, namedRev: namedRev)
  }

  private func listed(_ rev: Int64, _ mark: Identifier, sees: VisibleRevs = VisibleRevs(from: 1))
    -> HubComparison.Conversation
  {
    HubComparison.Conversation(id: a, rev: rev, mark: mark, sees: sees)
  }

  @Test func `a conversation is pulled if it is new to the store, or has another rev or another mark`() {
    for (conversation, row, isPulled) in [
      (listed(5, first), held(), false), (listed(6, second), held(), true), (listed(5, second), held(), true),
      (listed(5, first), nil, true),
    ] {
      let connection = open()
      #expect(connection.take(.listed(conversation, held: row)) == [])
      #expect(connection.toPull == (isPulled ? [a] : []))
    }
  }

  @Test
  func `a log is pulled from the start if the hub has lost entries of it, or shows more of its older entries`() {
    var late = VisibleRevs()
    late.open(from: 3)
    for (conversation, row, reason) in [
      (listed(4, second), held(), Replica.Reason.setBack), (listed(5, first), held(namedRev: 7), .setBack),
      (listed(5, first), held(sees: late), .seesMore),
    ] {
      let connection = open()
      #expect(connection.take(.listed(conversation, held: row)) == [.beginAnew(a, reason)])
      let standby = open(isStandby: true)
      #expect(standby.take(.listed(conversation, held: row)) == [], "a standby may lag")
    }
    let connection = open()
    _ = connection.take(.listed(listed(5, first), held: held()))
    #expect(connection.take(.notListed(a)) == [])
    #expect(connection.take(.notListed(b)) == [.beginAnew(b, .gone)])
  }

  @Test
  func `a log that does not continue the store's copy is compared once, then set aside until the next connection`() {
    let connection = open()
    for id in [a, b, a] { connection.enqueue(id) }
    #expect(connection.toPull == [a, b])
    #expect(connection.take(.pulling([a])) == [] && connection.toPull == [b])
    #expect(connection.take(.doesNotContinue(a)) == [])
    #expect(connection.toPull == [b, a] && connection.mustCompare)
    _ = connection.take(.compared(horizon: "1"))
    #expect(!connection.mustCompare)
    #expect(connection.take(.doesNotContinue(a)) == [.setAside(a, .hubDamaged)])
    connection.enqueue(a)
    #expect(connection.toPull == [b] && connection.setAside == [a: .hubDamaged])
    #expect(connection.take(.listed(listed(4, second), held: held())) == [] && connection.toPull == [b])
    #expect(connection.take(.doesNotFit(b, .storeDamaged)) == [.setAside(b, .storeDamaged)] && connection.toPull == [])
  }

  @Test func `a log in doubt is trusted again after a successful pull, and after a full page the pull continues`() {
    let connection = open()
    _ = connection.take(.doesNotContinue(a))
    _ = connection.take(.pulling([a]))
    #expect(connection.take(.pulled(a, count: 3, limit: 10, held: held())) == [.endFault(a)])
    #expect(connection.doubted == [] && connection.toPull == [])
    _ = connection.take(.compared(horizon: "1"))
    #expect(connection.take(.pulled(a, count: 10, limit: 10, held: held(namedRev: 9))) == [.endFault(a)])
    #expect(connection.toPull == [a] && !connection.mustCompare)
    _ = connection.take(.pulling([a]))
    _ = connection.take(.pulled(a, count: 10, limit: 10, held: held()))
    #expect(connection.mustCompare, "the hub has not said up to which entry the log goes")
  }

  @Test func `a log with fewer entries than the hub listed is compared and pulled again, unless the hub is a standby`()
  {
    let connection = open()
    #expect(connection.take(.pulled(a, count: 3, limit: 10, held: held(namedRev: 7))) == [])
    #expect(connection.mustCompare && connection.toPull == [a])
    _ = connection.take(.pulling([a]))
    #expect(connection.take(.pulled(a, count: 0, limit: 10, held: held(namedRev: 7))) == [.setAside(a, .hubDamaged)])
    let standby = open(isStandby: true)
    #expect(standby.take(.pulled(a, count: 3, limit: 10, held: held(namedRev: 7))) == [.endFault(a)])
  }

  @Test func `the horizon of a comparison is returned once, when no listed conversation is left to pull`() {
    let connection = open()
    _ = connection.take(.listed(listed(6, second), held: held()))
    _ = connection.take(.compared(horizon: "6"))
    let early = connection.takeHorizon()
    _ = connection.take(.pulling([a]))
    let horizons = [early, connection.takeHorizon(), connection.takeHorizon()]
    #expect(horizons == [nil, "6", nil])
  }
}
