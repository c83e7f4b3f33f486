import Testing

@testable import DMModel
@testable import TestSupport

/// The changes of status by a receipt, compared with a test of each message and of each possible sender.
struct StatusChangeTests {
  private static let users: [UserKey] = [1, 2, 3, 4]

  private static func marks(_ random: inout SplitMix64, in limit: Int) -> [ReadMark] {
    var marks: [ReadMark] = []
    var next = 1 + random.below(4)
    while next <= limit, random.chance(80) {
      let upper = next + random.below(6)
      marks.append(ReadMark(range: next...upper, reader: random.chance(30) ? nil : users[random.below(users.count)]))
      next = upper + 1 + (random.chance(50) ? 0 : random.below(5))
    }
    return marks
  }

  private static func names(_ change: StatusChange, _ seq: Int, from sender: UserKey) -> Bool {
    guard change.range.contains(seq) else { return false }
    switch change.senders {
    case .allBut(let user): return sender != user
    case .only(let user): return sender == user
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `a mark changes the status of a message of another user if no user except the message's sender had marked it`(
    _ seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    for number in 1...400 {
      let lower = 1 + random.below(20)
      let range = lower...(lower + random.below(20))
      let layers = (0..<random.below(4)).map { _ in Self.marks(&random, in: 45) }
      let user = Self.users[random.below(Self.users.count)]
      let changes = StatusChange.changes(range, by: user, over: layers)
      let comment: Comment = "seed \(seed), case \(number): \(range) by \(user) over \(layers): \(changes)"
      let isRight = (1...45).allSatisfy { seq in
        Self.users.allSatisfy { sender in
          let hadCome = layers.joined().contains { $0.range.contains(seq) && $0.reader != sender }
          let isExpected = range.contains(seq) && sender != user && !hadCome
          return changes.count { Self.names($0, seq, from: sender) } == (isExpected ? 1 : 0)
        }
      }
      #expect(isRight, comment)
      #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.range.upperBound < $1.range.lowerBound }, comment)
      #expect(changes.allSatisfy { $0.range == $0.range.clamped(to: range) }, comment)
    }
  }

  @Test func `without earlier marks, a mark changes the status of all messages of other senders in its range`() {
    #expect(
      StatusChange.changes(3...7, by: 1, over: []) == [StatusChange(range: 3...7, senders: .allBut(1))])
    #expect(
      StatusChange.changes(3...7, by: 1, over: [[], []]) == [StatusChange(range: 3...7, senders: .allBut(1))])
  }

  @Test func `if one other user had read some messages, a mark changes the status only of those that this user sent`() {
    let marks = [ReadMark(range: 1...4, reader: 2), ReadMark(range: 5...5, reader: nil)]
    #expect(
      StatusChange.changes(3...7, by: 1, over: [marks]) == [
        StatusChange(range: 3...4, senders: .only(2)), StatusChange(range: 6...7, senders: .allBut(1)),
      ])
  }

  @Test func `status changes over 100,000 marks are computed in one pass`() {
    let marks = (1...100_000).map { ReadMark(range: (2 * $0)...(2 * $0), reader: UserKey(number: Int64($0 % 2))) }
    #expect(StatusChange.changes(1...200_001, by: 7, over: [marks]).count == 200_001)
  }
}
