package import DMCLI
internal import DMKit
internal import DMSystem

package struct DMUsage: Program {
  static let since = Option(
    "since", value: "WHEN", "count only acts since this time [the last 7 days, with today]", as: messageOrTime)

  package static let command = Command(
    "dm-usage", "count the acts in a usage log, as a table and a plot",
    synopsis: ["[--since WHEN] [FILE]", "<FILE"], options: [since], operands: "[FILE]",
    examples: [
      ("DM_USAGE_LOG=~/dm-usage.log dm-send bob hello", "send a message, and add a line to the usage log"),
      ("dm-usage ~/dm-usage.log", "the acts of the last 7 days"),
      ("dm-usage --since 30d", "the acts of the last 30 days, from the log that DM_USAGE_LOG names"),
      (
        "dm-usage | jq -r 'select(.act == \"sent\") | \"\\(.day) \\(.count)\"'",
        "how many messages were sent on each day"
      ),
    ], reads: "usage", writes: ["usage_day", "error"])

  package static func run(_ call: Invocation) throws {
    let start = try start(call.arguments)
    let path = try path(call.arguments)
    var week = UsageWeek(since: start)
    try call.answerLines(of: path) { line, _ in
      try UsageRecord(line: line)
    } act: { records in
      for record in records { week.add(record) }
      return records.map { _ in Result<Void, DMError>.success(()) }
    } print: { _, _ in
    }
    try print(week, call)
  }

  private static func path(_ arguments: Arguments) throws -> String {
    try arguments.atMost(1)
    if let path = try arguments.operands.first ?? environment("DM_USAGE_LOG") { return path }
    if isTerminal(.input) { throw arguments.missing("FILE", "name a usage log, or set DM_USAGE_LOG") }
    return "-"
  }

  /// The time of `--since`, else the midnight that begins the last 7 days.
  private static func start(_ arguments: Arguments) throws -> Timestamp {
    switch try arguments[since] {
    case .time(let time): return time
    case .message: throw usage("'--since' needs a time, such as 2026-11-21 or 7d; a usage log has no messages")
    case nil: return try UsageWeek.midnight(of: Timestamp.now, daysBefore: 6)
    }
  }

  private static func print(_ week: UsageWeek, _ call: Invocation) throws {
    if call.isJSON {
      for day in week.records { try call.print(day) { _ in nil } }
    } else if week.isEmpty {
      try call.note("the log has no acts since \(TextFormat.dateAndTime(week.start))")
    } else if !call.isQuiet {
      let screen = try call.screen()
      let text = UsageText(week: week, width: screen.columns ?? 80)
      try call.inPages { try call.print(screen.isPlain ? text.sentences() : text.plot() + "\n\n" + text.table) }
    }
  }
}
