import Glibc
import Testing

/// Tests that set the time zone, which is that of the whole process.
///
/// So they run one at a time.
@Suite(.serialized) struct LocalTime {}

func inZone<T>(_ zone: String, _ body: () throws -> T) rethrows -> T {
  setenv("TZ", zone, 1)
  tzset()
  defer {
    unsetenv("TZ")
    tzset()
  }
  return try body()
}
