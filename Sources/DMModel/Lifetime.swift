/// A length of time: `10s`, `5m`, `1h`, `7d` or `2w`.
///
/// - Throws: `bad_time`, also of nothing and of more than a year.
public func duration(_ text: String) throws -> Duration {
  if let length = microseconds(of: text), (1...366 * 86_400_000_000).contains(length) { return .microseconds(length) }
  throw DMError(.badTime, "'\(text)' is not a length of time up to a year; give 10s, 5m or 1h", subject: text)
}

/// The microseconds that a number and a unit mean; nil when it is not that.
public func microseconds(of text: String) -> Int64? {
  let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
  guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), count >= 0,
    text.first != "+"
  else { return nil }
  let (seconds, isTooLong) = count.multipliedReportingOverflow(by: unit * 1_000_000)
  return isTooLong ? nil : seconds
}

/// - Throws: `bad_field` unless a message may live that long: a second at least.
package func checkLifetime(_ lifetime: Duration) throws {
  guard lifetime >= .seconds(1) else {
    throw DMError(.badField, "a message lives a second at least; write 10s, 5m or 1d", subject: "expires_in")
  }
}
