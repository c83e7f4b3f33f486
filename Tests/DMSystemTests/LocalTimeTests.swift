import DMModel
import DMSystem
import Testing

struct LocalTimeTests {
  private let noon: LocalTime = {
    var local = LocalTime(Timestamp(microseconds: 1_800_000_000_000_000))
    (local.year, local.month, local.day) = (2026, 3, 1)
    (local.hour, local.minute, local.second) = (12, 30, 0)
    return local
  }()

  @Test func `a local time has the date and the time of day that were set`() {
    let local = LocalTime(noon.timestamp)
    #expect((local.year, local.month, local.day) == (2026, 3, 1))
    #expect((local.hour, local.minute, local.second) == (12, 30, 0))
  }

  @Test func `day 0 is the last day of the previous month`() {
    var local = noon
    local.day = 0
    let before = LocalTime(local.timestamp)
    #expect((before.month, before.day, before.hour) == (2, 28, 12))
  }
}
