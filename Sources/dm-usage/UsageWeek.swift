internal import DMCLI
internal import DMKit
internal import DMSystem

/// The acts of a usage log since a time, by day and kind.
struct UsageWeek {
  let start: Timestamp
  private var days: [String: [UsageAct.Kind: UsageTotal]] = [:]
  var isEmpty: Bool { days.isEmpty }

  /// The longest time for which days without acts are listed, too.
  private static let longest: Int64 = 366 * dayLength
  private static let dayLength: Int64 = 86_400_000_000

  init(since start: Timestamp) { self.start = start }

  mutating func add(_ record: UsageRecord) {
    guard record.at >= start else { return }
    days[TextFormat.day(record.at), default: [:]][record.act, default: UsageTotal()].add(record)
  }

  /// The local dates, in order: all from the start to today, or if these are too many, those with acts.
  var dates: [String] {
    var dates = Set(days.keys)
    let now = Timestamp.now.microseconds
    if now - start.microseconds <= Self.longest {
      // Steps of half a day reach each date, also when the clock changes for summer time.
      for time in stride(from: start.microseconds, through: now, by: Int64.Stride(Self.dayLength / 2)) {
        dates.insert(TextFormat.day(Timestamp(microseconds: time)))
      }
    }
    return dates.sorted()
  }

  var records: [UsageDay] {
    dates.flatMap { date in
      UsageAct.Kind.allCases.compactMap { act in days[date]?[act].map { UsageDay(date, act, $0) } }
    }
  }

  /// How many acts there were on a date.
  func count(on date: String) -> Int { days[date]?.values.reduce(0) { $0 + $1.acts } ?? 0 }

  /// The kinds of acts, each with its sums over all days.
  var totals: [(act: UsageAct.Kind, total: UsageTotal)] {
    UsageAct.Kind.allCases.compactMap { act in
      var total = UsageTotal()
      for acts in days.values { if let one = acts[act] { total.add(one) } }
      return total.acts > 0 ? (act, total) : nil
    }
  }

  /// The midnight that begins the local day of a time, or of a day before it.
  static func midnight(of time: Timestamp, daysBefore count: Int64) throws -> Timestamp {
    // From noon, the clock's change for summer time does not lead to another day.
    guard case .time(let today) = try messageOrTime(TextFormat.day(time)) else { return time }
    let noon = today.microseconds + dayLength / 2 - count * dayLength
    guard case .time(let start) = try messageOrTime(TextFormat.day(Timestamp(microseconds: noon))) else { return time }
    return start
  }
}
