internal import CSystem

/// A time in microseconds since 1970-01-01T00:00:00Z, written as RFC 3339 in UTC.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z, without leap seconds.
  public let microseconds: Int64

  /// Makes a time from microseconds since 1970-01-01T00:00:00Z.
  public init(microseconds: Int64) { self.microseconds = microseconds }

  /// The current time of the system's clock.
  ///
  /// The corresponding C function is `clock_gettime` with `CLOCK_REALTIME`.
  public static var now: Timestamp { Timestamp(microseconds: dm_now()) }

  /// Compares the microseconds.
  public static func < (a: Timestamp, b: Timestamp) -> Bool { a.microseconds < b.microseconds }

  /// The times that RFC 3339 can express: years 0001 to 9999.
  package static let writable =
    Timestamp.at(
      1, 1, 1)...Timestamp(
      microseconds: at(9999, 12, 31).microseconds + 86_399_999_999)

  /// The last writable time, which means that something has no end.
  public static let forever = writable.upperBound

  /// The nearest writable time.
  package var clamped: Timestamp { min(max(self, Self.writable.lowerBound), Self.writable.upperBound) }

  package static func at(_ year: Int, _ month: Int, _ day: Int) -> Timestamp {
    Timestamp(microseconds: Int64(daysFromCivil(year, month, day)) * 86_400_000_000)
  }
}

extension Timestamp {
  /// Writes `2026-11-21T14:30:00.123456Z` to 27 bytes.
  package func write(to text: UnsafeMutableBufferPointer<UInt8>) {
    let clamped = clamped.microseconds
    let (days, inDay) = clamped.flooredDivision(by: 86_400_000_000)
    let (year, month, day) = civilFromDays(Int(days))
    let seconds = Int(inDay / 1_000_000)
    func put(_ value: Int, at index: Int) {
      text[index] = UInt8(truncatingIfNeeded: 48 + value / 10)
      text[index + 1] = UInt8(truncatingIfNeeded: 48 + value % 10)
    }
    let fraction = Int(inDay % 1_000_000)
    put(year / 100, at: 0)
    put(year % 100, at: 2)
    put(month, at: 5)
    put(day, at: 8)
    put(seconds / 3600, at: 11)
    put(seconds / 60 % 60, at: 14)
    put(seconds % 60, at: 17)
    put(fraction / 10_000, at: 20)
    put(fraction / 100 % 100, at: 22)
    put(fraction % 100, at: 24)
    text[4] = UInt8(ascii: "-")
    text[7] = UInt8(ascii: "-")
    text[10] = UInt8(ascii: "T")
    text[13] = UInt8(ascii: ":")
    text[16] = UInt8(ascii: ":")
    text[19] = UInt8(ascii: ".")
    text[26] = UInt8(ascii: "Z")
  }

  /// Reads a time of RFC 3339, section 5.6: an offset is required, and digits after the microseconds are ignored.
  public init?(rfc3339 text: some StringProtocol) {
    var reader = TimeReader(rest: Array(text.utf8)[...])
    guard let day = reader.date(), reader.skip("Tt "), let second = reader.secondOfDay(),
      let fraction = reader.microseconds(), let offset = reader.offset(), reader.rest.isEmpty
    else { return nil }
    let time = Timestamp(microseconds: day.microseconds + Int64(second - offset) * 1_000_000 + Int64(fraction))
    guard Self.writable.contains(time) else { return nil }
    self = time
  }
}

/// Reads the parts of a time of RFC 3339 one after the other.
private struct TimeReader {
  var rest: ArraySlice<UInt8>

  mutating func number(_ width: Int) -> Int? {
    guard rest.count >= width else { return nil }
    var value = 0
    for byte in rest.prefix(width) {
      guard byte >= 48, byte <= 57 else { return nil }
      value = value * 10 + Int(byte - 48)
    }
    rest = rest.dropFirst(width)
    return value
  }

  mutating func skip(_ allowed: String) -> Bool {
    guard let first = rest.first, allowed.utf8.contains(first) else { return false }
    rest = rest.dropFirst()
    return true
  }

  mutating func date() -> Timestamp? {
    guard let year = number(4), year > 0, skip("-"), let month = number(2), skip("-"), let day = number(2),
      (1...12).contains(month), day >= 1, day <= daysIn(month, of: year)
    else { return nil }
    return Timestamp.at(year, month, day)
  }

  /// A leap second counts as the second before it.
  mutating func secondOfDay() -> Int? {
    guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2), hour < 24,
      minute < 60, second <= 60
    else { return nil }
    return hour * 3600 + minute * 60 + min(second, 59)
  }

  /// The fraction of a second in microseconds; 0 if the text has no fraction.
  mutating func microseconds() -> Int? {
    guard skip(".") else { return 0 }
    var (value, digits) = (0, 0)
    while let digit = number(1) {
      if digits < 6 { value = value * 10 + digit }
      digits += 1
    }
    guard digits > 0 else { return nil }
    for _ in min(digits, 6)..<6 { value *= 10 }
    return value
  }

  /// The offset from UTC in seconds; positive is east.
  mutating func offset() -> Int? {
    if skip("Zz") { return 0 }
    let sign = skip("+") ? 1 : skip("-") ? -1 : 0
    guard sign != 0, let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60 else {
      return nil
    }
    return sign * (hours * 3600 + minutes * 60)
  }
}

extension Timestamp: CustomStringConvertible {
  /// 27 characters: `2026-11-21T14:30:00.123456Z`; times before year 1 or after 9999 are written as the first or the last time.
  public var description: String {
    String(unsafeUninitializedCapacity: 27) { text in
      write(to: text)
      return 27
    }
  }
}

extension Int64 {
  func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

func daysIn(_ month: Int, of year: Int) -> Int {
  let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
}

// The proleptic Gregorian calendar in eras of 400 years. A year begins in March here, so that the leap day is its last
// day. The method is H. Hinnant's, "chrono-Compatible Low-Level Date Algorithms".

func daysFromCivil(_ year: Int, _ month: Int, _ day: Int) -> Int {
  let year = month <= 2 ? year - 1 : year
  let era = (year >= 0 ? year : year - 399) / 400
  let yearOfEra = year - era * 400
  let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

func civilFromDays(_ days: Int) -> (year: Int, month: Int, day: Int) {
  let days = days + 719_468
  let era = (days >= 0 ? days : days - 146_096) / 146_097
  let dayOfEra = days - era * 146_097
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let shifted = (5 * dayOfYear + 2) / 153
  let month = shifted < 10 ? shifted + 3 : shifted - 9
  return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
}
