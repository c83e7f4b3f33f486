import DMKit
import DMSystem
import Glibc
import Testing

@testable import DMCLI

extension LocalTime {
  struct PointsInTime {
    private let now = time("2026-11-21T14:30:15.5Z")

    private static func time(_ text: String) -> Timestamp { Timestamp(rfc3339: text) ?? Timestamp(microseconds: 0) }

    @Test(arguments: [
      ("2026-11-21T14:30:00Z", "2026-11-21T14:30:00Z"), ("2026-11-21T14:30:00+02:00", "2026-11-21T12:30:00Z"),
      ("now", "2026-11-21T14:30:15.5Z"),
      ("2h", "2026-11-21T12:30:15.5Z"), ("7d", "2026-11-14T14:30:15.5Z"), ("30s", "2026-11-21T14:29:45.5Z"),
      ("5m", "2026-11-21T14:25:15.5Z"),
      ("1w", "2026-11-14T14:30:15.5Z"), ("0s", "2026-11-21T14:30:15.5Z"),
    ])
    func `ages and times with an offset do not depend on the time zone`(_ text: String, _ meant: String) throws {
      for zone in ["UTC", "Europe/Berlin", "America/New_York"] {
        let found = try inZone(zone) { try DMSystem.typedTime(text, now: now) }
        #expect(found == Self.time(meant))
      }
    }

    @Test(arguments: [
      ("UTC", "2026-11-21", "2026-11-21T00:00:00Z"), ("Europe/Berlin", "2026-11-21", "2026-11-20T23:00:00Z"),
      ("Europe/Berlin", "2026-07-01", "2026-06-30T22:00:00Z"),
      ("America/New_York", "2026-11-21", "2026-11-21T05:00:00Z"),
      ("Asia/Kathmandu", "2026-11-21", "2026-11-20T18:15:00Z"),
      ("Europe/Berlin", "2026-11-21T14:30", "2026-11-21T13:30:00Z"),
      ("Europe/Berlin", "14:30", "2026-11-21T13:30:00Z"), ("Europe/Berlin", "00:00", "2026-11-20T23:00:00Z"),
      ("Asia/Tokyo", "14:30", "2026-11-21T05:30:00Z"), ("Europe/Berlin", "today", "2026-11-20T23:00:00Z"),
      ("Europe/Berlin", "yesterday", "2026-11-19T23:00:00Z"), ("UTC", "yesterday", "2026-11-20T00:00:00Z"),
      ("Asia/Tokyo", "yesterday", "2026-11-19T15:00:00Z"), ("Europe/Berlin", "2026-02-28", "2026-02-27T23:00:00Z"),
      ("Europe/Berlin", "1969-07-20", "1969-07-19T23:00:00Z"), ("UTC", "2024-02-29", "2024-02-29T00:00:00Z"),
    ])
    func `a date or time without an offset is in the local time zone`(_ zone: String, _ text: String, _ meant: String)
      throws
    {
      let found = try inZone(zone) { try DMSystem.typedTime(text, now: now) }
      #expect(found == Self.time(meant))
    }

    @Test func `'yesterday' is the calendar day before, also when that day has 25 hours`() throws {
      let morning = Self.time("2026-10-26T07:00:00Z")
      let (yesterday, today) = try inZone("Europe/Berlin") {
        (try DMSystem.typedTime("yesterday", now: morning), try DMSystem.typedTime("today", now: morning))
      }
      #expect(yesterday == Self.time("2026-10-24T22:00:00Z"))
      #expect(today == Self.time("2026-10-25T23:00:00Z"))
    }

    @Test(arguments: [
      "", "tomorrow", "Yesterday", "noon", "2026", "2026-11", "2026-11-31", "2026-13-01", "2025-02-29", "0000-01-01",
      "24:00", "14:60", "4:30",
      "14:30:00", "2026-11-21 14:30", "2026-11-21T24:00", "2026-11-21T14:30:00", "-2h", "+2h", "2.5h", "h", "2", "2 h",
      "2y", "2H",
      "99999999999999999999d", "9223372036854775807w", "٢h", "11/21/2026", "21.11.2026", "bob",
    ])
    func `an invalid time is an error that names it`(_ text: String) throws {
      let error = #expect(throws: DMError.self) { try DMSystem.typedTime(text, now: now) }
      #expect(error?.code == .badTime)
      #expect(error?.subject == text)
    }

    @Test func `an age that overflows is an error, and a very long one is valid`() throws {
      #expect(throws: DMError.self) { try DMSystem.typedTime("9223372036854775807s", now: now) }
      #expect(try DMSystem.typedTime("100000d", now: now) < Self.time("1800-01-01T00:00:00Z"))
    }
  }
}
