import Testing

@testable import DMSystem

struct WaitingTests {
  @Test func `a wait ends at its timeout`() {
    let stop = StopSignal()
    var streams = [Awaited(stop.descriptor, for: .reading), Awaited(nil, for: .reading)]
    #expect(!waitForAny(of: &streams, until: monotonicMicroseconds() + 1000))
    #expect(!streams[0].isReady && !streams[1].isReady)
    #expect(!stop.wasGiven)
  }

  @Test func `a stop signal ends a wait and all later waits`() throws {
    let stop = StopSignal()
    #expect(startThread { stop.give() } == 0)
    for _ in 0..<2 {
      var streams = [Awaited(nil, for: .reading), Awaited(stop.descriptor, for: .end)]
      #expect(waitForAny(of: &streams, until: .max))
      #expect(streams[1].hasEnded && !streams[0].isReady)
    }
    #expect(waitUntilReadable(try #require(stop.descriptor), milliseconds: 0))
    stop.give()
    #expect(stop.wasGiven)
  }
}
