package import DMModel

/// Reads a time as users type it: RFC 3339, `2026-11-21`, `2026-11-21T14:30`, `14:30`, `2h` or `7d` (ago), `yesterday`,
/// `today` or `now`.
///
/// A time without an offset is in the local time zone.
///
/// - Throws: `bad_time`.
package func typedTime(_ text: String, now: Timestamp = .now) throws -> Timestamp {
  if let time = Timestamp(rfc3339: text) ?? named(text, now) ?? ago(text, now) ?? clock(text, now) ?? date(text, now) {
    return time
  }
  throw DMError(
    .badTime, "'\(text)' is not a time; write 2026-11-21, 14:30, 2h, 7d, yesterday or 2026-11-21T14:30:00Z",
    subject: text)
}

/// Reads a message or a time.
///
/// A number, a UUID or `bob:57` is a message; `14:30` is a time, even if there is a user `14`.
///
/// - Throws: `bad_time`.
package func messageOrTime(_ text: String) throws -> HistoryQuery.Bound {
  if Int(text) != nil || Identifier(text) != nil { return .message(try MessageReference(text)) }
  do {
    return .time(try typedTime(text))
  } catch let error as DMError where error.code == .badTime {
    do {
      if let reference = try splitReference(text), reference.range.from != nil {
        return .message(try MessageReference(text))
      }
    } catch {
      // For a text such as '25:00', the error about the time helps the user more.
      guard error.code == .badReference else { throw error }
    }
    throw error
  }
}

private func named(_ text: String, _ now: Timestamp) -> Timestamp? {
  switch text {
  case "now": now
  case "today": local(now) { $0.clearTime() }
  case "yesterday":
    local(now) {
      $0.day -= 1
      $0.clearTime()
    }
  default: nil
  }
}

private func ago(_ text: String, _ now: Timestamp) -> Timestamp? {
  guard let ago = microseconds(of: text) else { return nil }
  let (past, isTooLong) = now.microseconds.subtractingReportingOverflow(ago)
  return isTooLong ? nil : Timestamp(microseconds: past)
}

private func clock(_ text: String, _ now: Timestamp) -> Timestamp? {
  guard let clock = numbers(text, pattern: "99:99"), clock[0] < 24, clock[1] < 60 else { return nil }
  return local(now) {
    $0.clearTime()
    ($0.hour, $0.minute) = (clock[0], clock[1])
  }
}

private func date(_ text: String, _ now: Timestamp) -> Timestamp? {
  let numbers = numbers(text, pattern: "9999-99-99") ?? numbers(text, pattern: "9999-99-99T99:99")
  // The parser of RFC 3339 checks the day of the month and the clock.
  let padded = text.count == 10 ? text + "T00:00:00Z" : text + ":00Z"
  guard let numbers, Timestamp(rfc3339: padded) != nil else { return nil }
  return local(now) {
    $0.clearTime()
    ($0.year, $0.month, $0.day) = (numbers[0], numbers[1], numbers[2])
    if numbers.count > 3 { ($0.hour, $0.minute) = (numbers[3], numbers[4]) }
  }
}

/// The numbers in a text that matches a pattern, in which 9 means any digit; nil if the text does not match.
private func numbers(_ text: String, pattern: String) -> [Int]? {
  guard text.utf8.count == pattern.utf8.count else { return nil }
  var result: [Int] = []
  var isInNumber = false
  for (byte, expected) in zip(text.utf8, pattern.utf8) {
    if expected == UInt8(ascii: "9") {
      guard byte >= 48, byte <= 57 else { return nil }
      if isInNumber {
        result[result.count - 1] = result[result.count - 1] * 10 + Int(byte - 48)
      } else {
        result.append(Int(byte - 48))
      }
      isInNumber = true
    } else {
      guard byte == expected else { return nil }
      isInNumber = false
    }
  }
  return result
}

/// The time after `change` has changed its local date and clock.
private func local(_ time: Timestamp, _ change: (inout LocalTime) -> Void) -> Timestamp {
  var local = LocalTime(time)
  change(&local)
  return local.timestamp
}

extension LocalTime {
  fileprivate mutating func clearTime() { (hour, minute, second) = (0, 0, 0) }
}
