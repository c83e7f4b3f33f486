import Testing

@testable import DMKit
@testable import DMSystem

struct StopwatchTests {
  @Test func `a stopwatch never goes back`() {
    var last = stopwatch()
    for _ in 1...1000 {
      let now = stopwatch()
      #expect(now >= last)
      last = now
    }
  }

  @Test func `an interval comes when it is due, and begins anew`() {
    let before = stopwatch()
    var interval = Interval(1000)
    #expect(interval.due >= before + 1000)
    while stopwatch() < interval.due {}
    let due = interval.due
    let comes = interval.comes()
    #expect(comes)
    #expect(interval.due >= due + 1000)
  }

  @Test func `an interval that is not due does not come and stays as it is`() {
    var interval = Interval(3_600_000_000)
    let due = interval.due
    let comes = interval.comes() || interval.comes()
    #expect(!comes)
    #expect(interval.due == due)
  }
}
