internal import DMKit

/// How many changes an agent may make within a time, such as 20 in an hour.
package struct Rate: Sendable {
  let count: Int
  /// Microseconds.
  let period: Int64
  /// The period in words: `minute`, `hour` or `day`.
  let unit: String

  /// Reads `5/m`, `20/h` or `100/d`; nil for another text.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let count = Int(parts[0]), (1...10_000).contains(count) else { return nil }
    switch parts[1] {
    case "m": (period, unit) = (60_000_000, "minute")
    case "h": (period, unit) = (3_600_000_000, "hour")
    case "d": (period, unit) = (86_400_000_000, "day")
    default: return nil
    }
    self.count = count
  }
}

/// Compares the changes of an agent with the rate that the owner allows.
///
/// The messages that count are read from the store, so that another process of the agent does not start again at 0.
final class RateLimit {
  private let rate: Rate
  private let messenger: Messenger
  /// The times of the changes other than new messages.
  private var others: [Timestamp] = []

  init(_ rate: Rate, _ messenger: Messenger) { (self.rate, self.messenger) = (rate, messenger) }

  /// Makes a change, unless the agent has to wait before its next one.
  ///
  /// No other process with a rate makes a change meanwhile, so that each counts the changes of the others.
  ///
  /// - Throws: `over_quota`, `busy`, or the errors of the change.
  func limited<T>(_ change: () throws -> T) throws -> T {
    let lock = try messenger.agentsLock()
    try check()
    let result = try change()
    _ = consume lock
    return result
  }

  private func check() throws {
    let now = Timestamp.now
    let start = Timestamp(microseconds: now.microseconds - rate.period)
    others.removeAll { $0 <= start }
    // After a correction of the clock, times may be in the future.
    let times = try (others + sent(since: start)).map { min($0, now) }.sorted()
    guard times.count >= rate.count else { return }
    let wait = times[times.count - rate.count].microseconds + rate.period - now.microseconds
    let next = Timestamp(microseconds: now.microseconds + wait + 999_999)
    throw DMError(
      .overQuota,
      "the owner allows \(rate.count) changes per \(rate.unit), and they are used up; the next one is possible in "
        + "\((wait + 999_999) / 1_000_000) seconds, at \(next.inSeconds)")
  }

  /// Counts a change that is not a new message.
  func count() { others.append(.now) }

  /// The times of the user's newest messages since a time, at most as many as the rate allows.
  private func sent(since start: Timestamp) throws -> [Timestamp] {
    guard try messenger.hasStore() else { return [] }
    var query = HistoryQuery()
    (query.since, query.sender, query.limit) = (.time(start), messenger.identity.handle, rate.count)
    query.includesDeleted = true
    do {
      let history = try messenger.history(query)
      var times: [Timestamp] = []
      while case let batch = try history.next(), !batch.isEmpty { times += batch.map(\.createdAt) }
      return times
    } catch let error as DMError where error.code == .unknownUser {
      // The user is added to the store with the first message.
      return []
    }
  }
}
