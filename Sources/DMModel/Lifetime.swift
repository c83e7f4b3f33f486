/// Reads a length of time: `10s`, `5m`, `1h`, `7d` or `2w`.
///
/// - Throws: `bad_time`, also for 0 and for more than a year of 366 days.
package func duration(_ text: String) throws -> Duration {
  if let length = microseconds(of: text), (1...366 * 86_400_000_000).contains(length) { return .microseconds(length) }
  if microseconds(of: text) == 0 {
    throw DMError(.badTime, "'\(text)' is too short; the shortest time is 1s", subject: text)
  }
  throw DMError(
    .badTime, "'\(text)' is not a length of time from 1s to 366d; give 10s, 5m or 1h", subject: text)
}

/// Reads a number and a unit (`s`, `m`, `h`, `d` or `w`) as microseconds; nil if the text is anything else.
package func microseconds(of text: String) -> Int64? {
  let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
  guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), count >= 0,
    text.first != "+"
  else { return nil }
  let (seconds, isTooLong) = count.multipliedReportingOverflow(by: unit * 1_000_000)
  return isTooLong ? nil : seconds
}

/// - Throws: `bad_field` for a lifetime of less than a second.
package func checkLifetime(_ lifetime: Duration) throws(DMError) {
  guard lifetime >= .seconds(1) else {
    throw DMError(.badField, "a message lives a second at least; write 10s, 5m or 1d", subject: "expires_in")
  }
}
