internal import DMCLI
internal import DMKit
internal import DMSystem

/// Marks the messages that were on the screen as read, at most five times a second.
struct ReadMarks {
  /// The unread messages that are on the screen.
  var unread: [Message] = []
  /// Whether the last attempt to mark messages has failed, but not because the store was busy.
  private(set) var isRefused = false
  /// The time, on the monotonic clock, from which messages may be marked again.
  private var next: Int64 = 0

  /// The next time to call `mark`, on the monotonic clock; `.max` if nothing is unread.
  var due: Int64 { unread.isEmpty ? .max : next }

  /// Marks the unread messages as read, unless it is too early for that.
  ///
  /// Waits only 100 ms for a busy store, because the user may be typing. After any error, marks nothing for a second.
  ///
  /// - Returns: the ids of the messages that this call has marked.
  mutating func mark(_ messenger: Messenger, now: Int64) throws -> Set<Identifier> {
    guard !unread.isEmpty, now >= next else { return [] }
    var printed = PrintedMessages(isToBeRead: true)
    for message in unread { printed.add(message) }
    if let error = try failure(of: { try printed.markRead(messenger, busyTimeout: .milliseconds(100)) }) {
      isRefused = error.code != .busy
      next = monotonicMicroseconds() + 1_000_000
      return []
    }
    isRefused = false
    next = monotonicMicroseconds() + 200_000
    defer { unread = [] }
    return Set(unread.map(\.id))
  }
}
