import Testing

@testable import DMSystem

struct WaitingTests {
  @Test func `a wait ends with its time`() {
    let stop = StopSignal()
    #expect(waitForInput([stop.descriptor, nil], orReaderGone: nil, until: monotonicMicroseconds() + 1000) == nil)
    #expect(!stop.wasGiven)
  }

  @Test func `a stop signal ends a wait, and each one after it`() throws {
    let stop = StopSignal()
    #expect(startThread { stop.give() } == 0)
    for _ in 0..<2 {
      let woken = try #require(waitForInput([nil, nil], orReaderGone: stop.descriptor, until: .max))
      #expect(woken.isReaderGone)
      #expect(woken.isReadable == [false, false])
    }
    #expect(waitUntilReadable(try #require(stop.descriptor), milliseconds: 0))
    stop.give()
    #expect(stop.wasGiven)
  }
}
