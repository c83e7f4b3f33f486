import Testing

@testable import DMKit
@testable import DMSync

/// How much the engine requests from a hub at once, and what it postpones.
struct PaceTests {
  private let a = Identifier.random
  private let b = Identifier.random

  @Test func `a push that fails halves the batch size, and each success doubles it`() {
    var pace = Pace()
    #expect(pace.batchSize == 100)
    for count in [100, 50] {
      let recovery = pace.recover(from: .poison(""), pushed: Array(repeating: a, count: count), pull: nil, at: 0)
      #expect(recovery == .requeue)
    }
    #expect(pace.batchSize == 25)
    let two = pace.recover(from: .timedOut(""), pushed: [a, b], pull: nil, at: 0)
    #expect(two == .requeue && pace.batchSize == 1)
    let alone = pace.recover(from: .poison(""), pushed: [a], pull: 1000, at: 0)
    #expect(alone == .refuse, "an operation that fails alone is refused")
    let sizes = (1...8).map { _ in
      pace.widen()
      return pace.batchSize
    }
    #expect(sizes == [2, 4, 8, 16, 32, 64, 100, 100])
  }

  @Test func `after a pull that took too long, the next pull has a quarter of its size`() {
    var pace = Pace()
    for pushed in [[], [a]] {
      let recovery = pace.recover(from: .timedOut(""), pushed: pushed, pull: 1000, at: 0)
      #expect(recovery == .requeue && pace.batchSize == 100)
    }
    #expect(pace.divisor == 16)
    let smallest = pace.recover(from: .timedOut("slow"), pushed: [a], pull: 16, at: 0)
    #expect(smallest == .fail(.timedOut("slow")))
    for _ in 1...5 { pace.widen() }
    #expect(pace.divisor == 1)
  }

  @Test func `a conversation that others lock waits longer each time, from one second to half a minute`() {
    var pace = Pace()
    let waits = (1...8).map { _ in
      pace.hold(a, at: 0)
      return pace.heldUntil.map { $0 / 1_000_000 }
    }
    #expect(waits == [1, 2, 4, 8, 16, 32, 32, 32])
    #expect(pace.isHeld(a) && !pace.isHeld(b) && !pace.isHeld(nil))
    pace.hold(nil, at: 0)
    #expect(pace.heldUntil == 1_000_000 && pace.due(at: 999_999) == [] && pace.due(at: 1_000_000) == [nil])
    pace.release(nil)
    pace.release(a)
    #expect(pace.heldUntil == nil && !pace.isHeld(a))
  }

  @Test func `a machine acts on 16 hints that bring no changes, and on further hints less and less often`() {
    var pace = Pace()
    let first = (1...17).map { _ in
      defer { pace.judgeHints([], at: 0) }
      return pace.follow(a, at: 0)
    }
    #expect(first == Array(repeating: true, count: 16) + [false])
    let next = [pace.follow(a, at: 99_999), pace.follow(b, at: 0), pace.follow(a, at: 100_000)]
    #expect(next == [false, true, true], "hints about other conversations are followed")
    pace.judgeHints([], at: 100_000)
    let later = [pace.follow(a, at: 299_999), pace.follow(a, at: 300_000)]
    #expect(later == [false, true])
    pace.judgeHints([a], at: 300_000)
    let last = pace.follow(a, at: 300_000)
    #expect(last, "after a hint that brought changes, each hint is followed")
  }

  @Test func `a lock delays the conversations that its error names; if it names none, it is a temporary failure`() {
    var pace = Pace()
    let named = pace.recover(from: .locked("", [b]), pushed: [a, b, nil], pull: nil, at: 0)
    #expect(named == .requeue && pace.isHeld(b) && !pace.isHeld(a) && !pace.isHeld(nil))
    let shared = pace.recover(from: .locked("", []), pushed: [a, nil], pull: nil, at: 0)
    #expect(shared == .requeue && pace.isHeld(nil))
    let none = pace.recover(from: .locked("text", []), pushed: [a], pull: nil, at: 0)
    #expect(none == .fail(.again("text")))
    let lost = pace.recover(from: .lost("text"), pushed: [a], pull: 1000, at: 0)
    #expect(lost == .fail(.lost("text")))
  }

  @Test func `a group is pulled once for the receipts of all messages that were sent in the meantime`() {
    var pace = Pace()
    let (one, other) = (Identifier.random(), Identifier.random())
    #expect(pace.receiptsExpectedAt == nil)
    pace.expectReceipts(of: one, at: 100)
    pace.expectReceipts(of: one, at: 150)
    pace.expectReceipts(of: other, at: 200)
    #expect(pace.receiptsExpectedAt == 100)
    #expect(pace.takeExpectedReceipts(at: 99).isEmpty)
    #expect(pace.takeExpectedReceipts(at: 150) == [one])
    #expect(pace.receiptsExpectedAt == 200)
  }

  /// The pause after the last of some pushes, each of which is given by its number of operations and its distance from the
  /// push before it.
  private func pause(after pushes: [(count: Int, interval: Int64)]) -> Int64 {
    var pauses = WorkPauses()
    var time: Int64 = 1_000_000
    pauses.note(pushed: 1, at: time)
    for (count, interval) in pushes {
      time += interval
      pauses.note(pushed: count, at: time)
    }
    return pauses.end(beforePush: true) - time
  }

  @Test func `fifty messages a second are pushed one by one, even after a push that took long`() {
    #expect(pause(after: [(8, 160_000), (2, 40_000), (2, 40_000)]) == 15_000)
  }

  @Test func `two hundred messages a second are pushed in groups`() {
    #expect(pause(after: [(3, 15_000), (6, 30_000), (12, 60_000), (24, 120_000)]) == 120_000)
  }
}
