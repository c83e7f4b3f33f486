import Glibc
import Testing

/// What depends on the zone of the process: one test at a time, because the zone is everybody's.
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
