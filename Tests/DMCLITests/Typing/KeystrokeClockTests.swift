import Testing

@testable import DMCLI

/// When typing is shown.
///
/// The times are simulated, in microseconds.
struct KeystrokeClockTests {
  private static let start: Int64 = 1_000_000_000
  private static let second: Int64 = 1_000_000

  /// A keystroke clock whose methods can be called within `#expect`.
  private final class Clock {
    private var clock = KeystrokeClock()
    func strike(at time: Int64) { clock.strike(at: time) }
    func stop() { clock.stop() }
    func isShowing(at time: Int64) -> Bool { clock.isShowing(at: time) }
    func due(after time: Int64) -> Int64? { clock.due(after: time) }
  }

  @Test func `no typing is shown before the first key`() {
    let clock = Clock()
    #expect(!clock.isShowing(at: 0))
    #expect(!clock.isShowing(at: Self.start))
    #expect(clock.due(after: Self.start) == nil)
  }

  @Test func `typing shows 300 ms after the first key`() {
    let clock = Clock()
    clock.strike(at: Self.start)
    #expect(!clock.isShowing(at: Self.start))
    #expect(clock.due(after: Self.start) == Self.start + 300_000)
    #expect(!clock.isShowing(at: Self.start + 299_999))
    #expect(clock.isShowing(at: Self.start + 300_000))
  }

  @Test func `further keys do not delay the start of typing`() {
    let clock = Clock()
    for number in 0..<4 { clock.strike(at: Self.start + Int64(number) * 90_000) }
    #expect(clock.isShowing(at: Self.start + 300_000))
  }

  @Test func `typing is shown until 4 s after the last key`() {
    let clock = Clock()
    clock.strike(at: Self.start)
    #expect(clock.isShowing(at: Self.start + 3_999_999))
    clock.strike(at: Self.start + 3_999_999)
    let last = Self.start + 3_999_999
    #expect(clock.due(after: last) == last + 4 * Self.second)
    #expect(clock.isShowing(at: last + 3_999_999))
    #expect(!clock.isShowing(at: last + 4 * Self.second))
    #expect(clock.due(after: last + 4 * Self.second) == nil)
  }

  @Test func `after a pause, typing is shown from 300 ms after the next key`() {
    let clock = Clock()
    clock.strike(at: Self.start)
    #expect(!clock.isShowing(at: Self.start + 4 * Self.second))
    let again = Self.start + 10 * Self.second
    clock.strike(at: again)
    #expect(!clock.isShowing(at: again))
    #expect(clock.due(after: again) == again + 300_000)
    #expect(clock.isShowing(at: again + 300_000))
  }

  @Test func `after a stop, typing is not shown until 300 ms after the next key`() {
    let clock = Clock()
    clock.strike(at: Self.start)
    clock.strike(at: Self.start + Self.second)
    #expect(clock.isShowing(at: Self.start + Self.second))
    clock.stop()
    #expect(!clock.isShowing(at: Self.start + Self.second))
    #expect(clock.due(after: Self.start + Self.second) == nil)
    clock.strike(at: Self.start + 2 * Self.second)
    #expect(!clock.isShowing(at: Self.start + 2 * Self.second))
    #expect(clock.isShowing(at: Self.start + 2 * Self.second + 300_000))
  }

  @Test func `a pause restarts the 300 ms, also if the clock was not queried during the pause`() {
    let clock = Clock()
    clock.strike(at: Self.start)
    clock.strike(at: Self.start + 10 * Self.second)
    #expect(!clock.isShowing(at: Self.start + 10 * Self.second))
    #expect(clock.isShowing(at: Self.start + 10 * Self.second + 300_000))
  }

  @Test func `a caller that checks at each due time sees every change on time`() {
    var state: UInt64 = 1
    func below(_ limit: Int64) -> Int64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int64(state >> 33) % limit
    }
    let clock = Clock()
    var keys: [Int64] = []
    var now = Self.start
    for _ in 1...2000 {
      let next = now + (below(3) == 0 ? below(6_000_000) : below(500_000))
      while let due = clock.due(after: now), due <= next {
        let before = Self.shows(keys, at: now)
        #expect(Self.shows(keys, at: due - 1) == before, "\(keys.suffix(5)), \(due)")
        #expect(clock.isShowing(at: due) == Self.shows(keys, at: due), "\(keys.suffix(5)), \(due)")
        now = due
      }
      now = next
      #expect(clock.isShowing(at: now) == Self.shows(keys, at: now), "\(keys.suffix(5)), \(now)")
      clock.strike(at: now)
      keys.append(now)
    }
  }

  /// A second implementation of the rule: typing is shown from 300 ms after the first key of the last sequence of keys
  /// that are less than 4 s apart, until 4 s after its last key.
  private static func shows(_ keys: [Int64], at time: Int64) -> Bool {
    guard var first = keys.last, time - first < 4 * second else { return false }
    for key in keys.reversed() {
      if first - key >= 4 * second { break }
      first = key
    }
    return time - first >= 300_000
  }
}
