internal import DMCLI
internal import DMKit
internal import DMSystem

/// The acts of a usage log as text for people.
struct UsageText {
  let week: UsageWeek
  /// The width of the terminal in columns.
  let width: Int

  /// A line for each day: the date, the number of acts, and a bar.
  func plot() throws -> String {
    let counts = week.dates.map { (date: $0, count: week.count(on: $0)) }
    let most = counts.map(\.count).max() ?? 0
    let digits = String(most).count
    let room = max(1, width - Self.dateWidth - digits - 4)
    return try counts.map { date, count in
      let line = "\(try TextFormat.weekdayAndDay(date))  \(right(String(count), digits))"
      return count == 0 ? line : line + "  " + Self.bar(count, of: most, width: room)
    }.joined(separator: "\n")
  }

  private static let dateWidth = "Mon 2026-11-23".count

  /// A bar whose length is proportional to a count; at least an eighth of a column.
  private static func bar(_ count: Int, of most: Int, width: Int) -> String {
    let eighths = max(1, Int((Double(count) / Double(most) * Double(8 * width)).rounded()))
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
    return String(repeating: "█", count: eighths / 8) + rest
  }

  /// A line for each kind of act, below a heading.
  var table: String {
    let heading = row("act", "acts", "failed", "count", "size", "median")
    let rows = week.totals.map { act, total in
      row(
        act.rawValue, "\(total.acts)", "\(total.failed)", "\(total.count)", TextFormat.size(total.bytes),
        Self.length(total.durations.median))
    }
    return ([Mark.faint(heading)] + rows).joined(separator: "\n")
  }

  private func row(
    _ act: String, _ acts: String, _ failed: String, _ count: String, _ size: String, _ median: String
  ) -> String {
    left(act, 8) + right(acts, 8) + right(failed, 8) + right(count, 9) + right(size, 12) + right(median, 10)
  }

  /// A duration: `231 µs`, `18.6 ms` or `2.3 s`.
  private static func length(_ microseconds: Int) -> String {
    if microseconds < 1000 { return "\(microseconds) µs" }
    let (unit, tenth) = microseconds < 1_000_000 ? ("ms", 100) : ("s", 100_000)
    let tenths = microseconds / tenth
    return "\(tenths / 10).\(tenths % 10) \(unit)"
  }

  /// A sentence for each day and for each kind of act.
  func sentences() throws -> String {
    let days = try week.dates.map { try "\(TextFormat.weekdayAndDay($0)): \(counted(week.count(on: $0), "act"))" }
    let acts = week.totals.map { act, total in
      "\(act.rawValue): \(counted(total.acts, "act")), \(total.failed) failed, count \(total.count), "
        + "\(TextFormat.size(total.bytes)), median \(Self.length(total.durations.median))"
    }
    return (days + acts).joined(separator: "\n")
  }
}
