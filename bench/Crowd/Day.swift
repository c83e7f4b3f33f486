import DMModel
import DMSystem

/// A day of a crowd, which passes in seconds.
struct Day: Sendable {
  /// Times of `monotonicMicroseconds`.
  let start: Int64
  let end: Int64
  /// How many messages a person sends in the day, on average.
  let messages: Double

  /// How much of a day's messages is sent in each hour: little at night, most in the morning and after noon.
  private static let curve: [Double] = [1, 1, 0, 0, 0, 1, 2, 5, 8, 10, 10, 9, 7, 9, 10, 9, 8, 7, 6, 6, 6, 5, 3, 2]
  private static let sum = curve.reduce(0, +)
  static let busiestHour = 9

  init(seconds: Int, messages: Double) {
    start = monotonicMicroseconds() + 1_000_000
    end = start + Int64(seconds) * 1_000_000
    self.messages = messages
  }

  func hour(at time: Int64) -> Int { max(0, min(23, Int((time - start) * 24 / (end - start)))) }

  /// When a person sends next: the pauses are random, and shorter in hours in which much is sent.
  func nextSend(after time: Int64) -> Int64 {
    var rest = -Double.random(in: Double.leastNonzeroMagnitude..<1).logarithm
    let hourLength = (end - start) / 24
    var time = time
    while time < end {
      let hour = hour(at: time)
      let until = start + Int64(hour + 1) * hourLength
      let rate = messages * Self.curve[hour] / Self.sum / Double(hourLength)
      let expected = rate * Double(max(1, until - time))
      if expected >= rest { return time + Int64(rest / rate) }
      rest -= expected
      time = max(until, time + 1)
    }
    return .max
  }
}
