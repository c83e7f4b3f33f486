import Testing

@testable import DMSystem

struct MonotonicClockTests {
  @Test func `the monotonic clock never goes back`() {
    var last = monotonicMicroseconds()
    for _ in 1...1000 {
      let now = monotonicMicroseconds()
      #expect(now >= last)
      last = now
    }
  }

  @Test func `a repeating timer fires when it is due, and then starts again`() {
    let before = monotonicMicroseconds()
    var interval = RepeatingTimer(1000)
    #expect(interval.due >= before + 1000)
    while monotonicMicroseconds() < interval.due {}
    let due = interval.due
    let comes = interval.fires()
    #expect(comes)
    #expect(interval.due >= due + 1000)
  }

  @Test func `a repeating timer that is not due does not fire and keeps its due time`() {
    var interval = RepeatingTimer(3_600_000_000)
    let due = interval.due
    let comes = interval.fires() || interval.fires()
    #expect(!comes)
    #expect(interval.due == due)
  }
}
