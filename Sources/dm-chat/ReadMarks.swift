internal import DMCLI
internal import DMKit
internal import DMSystem

/// Marks what was on the screen as read, at most five times a second.
struct ReadMarks {
  /// The unread messages that are on the screen.
  var unread: [Message] = []
  /// Whether the store cannot be written to.
  private(set) var isRefused = false
  /// When messages may next be marked, on the monotonic clock.
  private var next: Int64 = 0

  /// When there is something to mark, on the monotonic clock.
  var due: Int64 { unread.isEmpty ? .max : next }

  /// Marks the unread messages as read, unless it is too early for that.
  ///
  /// A busy store is not waited for long, because the user may be typing; it is tried again a second later, like a store
  /// that cannot be written to.
  ///
  /// - Returns: the messages that are read now.
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
