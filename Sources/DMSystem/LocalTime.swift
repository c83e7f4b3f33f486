package import DMModel
internal import Glibc

/// A date and a clock in the local time zone.
///
/// The corresponding C functions are `localtime_r` and `mktime`.
package struct LocalTime {
  package var year: Int
  /// The month, from 1 to 12.
  package var month: Int
  /// The day of the month, from 1; a value outside the month, such as 0, means a day of the month before or after.
  package var day: Int
  package var hour: Int
  package var minute: Int
  package var second: Int
  /// The day of the week of the original date, such as `Monday`; it stays the same when the date is changed.
  package private(set) var weekday = ""
  /// The first three letters of `weekday`.
  package var dayOfWeek: String { String(weekday.prefix(3)) }

  package init(_ time: Timestamp) {
    var seconds = time_t((Double(time.microseconds) / 1_000_000).rounded(.down))
    var parts = tm()
    localtime_r(&seconds, &parts)
    (year, month, day) = (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
    (hour, minute, second) = (Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
    let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    weekday = weekdays[Int(parts.tm_wday)]
  }

  /// The `Timestamp` of this date and clock; the time zone decides whether summer time applies.
  package var timestamp: Timestamp {
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(hour), Int32(minute), Int32(second))
    parts.tm_isdst = -1
    return Timestamp(microseconds: Int64(mktime(&parts)) * 1_000_000)
  }
}

/// Makes UTC the local time zone of this process, and of those that it starts.
///
/// Must not run while another thread reads the environment: setenv(3).
package func useUTC() {
  setEnvironment("TZ", "UTC0")
  tzset()
}
