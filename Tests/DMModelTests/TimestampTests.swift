import Testing

@testable import DMModel
@testable import TestSupport

struct TimestampTests {
  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:01.5Z", 1_500_000), ("1969-12-31T23:59:59.999999Z", -1),
      ("2026-11-21T14:30:00.123456Z", 1_795_271_400_123_456), ("2000-02-29T00:00:00Z", 951_782_400_000_000),
      ("1970-01-01t00:00:00z", 0), ("1970-01-01 00:00:00Z", 0), ("1970-01-01T01:30:00+01:30", 0),
      ("1969-12-31T16:00:00-08:00", 0),
      ("1970-01-01T00:00:00-00:00", 0), ("1970-01-01T00:00:00.1Z", 100_000),
      ("1970-01-01T00:00:00.1234567899Z", 123_456),
      ("2016-12-31T23:59:60Z", 1_483_228_799_000_000),
    ] as [(String, Int64)])
  func `RFC 3339 is read to the microsecond`(_ text: String, _ microseconds: Int64) throws {
    #expect(Timestamp(rfc3339: text)?.microseconds == microseconds)
  }

  @Test(arguments: [
    "", "2026-11-21", "2026-11-21T14:30:00", "2026-11-21T14:30Z", "2026-11-21T14:30:00.Z", "2026-1-21T14:30:00Z",
    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:61Z",
    "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+00:60", "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+01",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "2026-01-01T00:00:00Zx", " 2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00 Z",
    "+2026-01-01T00:00:00Z", "2026-01-01T00:00:00,5Z", "２026-01-01T00:00:00Z", "2026/01/01T00:00:00Z",
    "20260101T000000Z",
  ])
  func `a text that is not an RFC 3339 time is refused`(_ text: String) throws {
    #expect(Timestamp(rfc3339: text) == nil)
  }

  @Test(arguments: [2000, 2004, 2024, 2400])
  func `a leap year has a 29th of February`(_ year: Int) throws {
    #expect(Timestamp(rfc3339: "\(year)-02-29T12:00:00Z") != nil)
  }

  @Test(arguments: [1900, 2001, 2023, 2100])
  func `a year that is not a leap year has no 29th of February`(_ year: Int) throws {
    #expect(Timestamp(rfc3339: "\(year)-02-29T12:00:00Z") == nil)
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `any timestamp is written and read back`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let all = Timestamp.writable.lowerBound.microseconds...Timestamp.writable.upperBound.microseconds
    for _ in 0..<1000 {
      let time = Timestamp(microseconds: Int64.random(in: all, using: &random))
      let text = time.description
      #expect(text.utf8.count == 27, "seed \(seed)")
      #expect(Timestamp(rfc3339: text) == time, "seed \(seed): \(text)")
    }
  }

  @Test func `every day of 400 years follows the one before`() throws {
    let first = daysFromCivil(1900, 1, 1)
    var expected = (year: 1900, month: 1, day: 1)
    for day in first..<(first + 146_097) {
      let civil = civilFromDays(day)
      #expect(civil == expected)
      #expect(daysFromCivil(civil.year, civil.month, civil.day) == day)
      expected.day += 1
      if expected.day > daysIn(expected.month, of: expected.year) { expected = (expected.year, expected.month + 1, 1) }
      if expected.month > 12 { expected = (expected.year + 1, 1, 1) }
    }
    #expect(expected == (2300, 1, 1))
  }

  @Test func `timestamps outside the years 1 to 9999 are printed as the nearest printable time`() throws {
    #expect(Timestamp.writable.lowerBound.description == "0001-01-01T00:00:00.000000Z")
    #expect(Timestamp.writable.upperBound.description == "9999-12-31T23:59:59.999999Z")
    #expect(Timestamp(microseconds: .max).description == "9999-12-31T23:59:59.999999Z")
    #expect(Timestamp(microseconds: .min).description == "0001-01-01T00:00:00.000000Z")
  }

  @Test func `timestamps that were read from text sort by time`() throws {
    let texts = ["1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00.000000Z", "2026-11-21T14:30:00.123456Z"]
    #expect(texts.compactMap { Timestamp(rfc3339: $0) }.sorted().map(\.description) == texts)
  }
}
