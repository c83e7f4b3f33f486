import DMModel
import Testing

@testable import DMKit
@testable import TestSupport

extension RecordsTests {
  static var usageRecords: [any Record] {
    let act = UsageAct(kind: .sent, duration: 1, extent: UsageAct.Extent(count: 1, bytes: 2))
    return [
      UsageRecord(act, at: time, program: "p", version: "1", status: 0), UsageDay("2026-11-23", .sent, UsageTotal()),
    ]
  }
}

/// The medians and the lines of usage logs.
@Suite struct UsageTests {
  @Test func `a median of durations is exact to 1/64`() {
    var dice = SplitMix64(seed: 7)
    for size in [1, 2, 3, 10, 101, 1000] {
      let all = (0..<size).map { _ in Int(dice.next() >> UInt64(1 + Int(dice.next() % 62))) }
      var durations = Durations()
      for duration in all { durations.add(duration) }
      let median = all.sorted()[(size - 1) / 2]
      #expect(abs(durations.median - median) <= median / 64, "\(durations.median) instead of \(median)")
    }
    #expect(Durations().median == 0)
  }

  @Test func `sums that are too large end at the largest number`() throws {
    let text =
      #"{"type":"usage","at":"2026-11-23T10:00:00Z","act":"sent","program":"dm-send","version":"0.2.0","#
      + #""duration_us":9223372036854775807,"count":9223372036854775807,"bytes":9223372036854775807,"status":1}"#
    let record = try UsageRecord(line: Array(text.utf8)[...])
    var total = UsageTotal()
    for _ in 1...2 { total.add(record) }
    #expect(total.count == .max && total.bytes == .max && total.acts == 2 && total.failed == 2)
  }
}
