internal import DMCLI
internal import DMKit
internal import DMSystem

extension Chat {
  /// What was on the screen is read; it is written at most five times a second.
  ///
  /// A busy store is not waited for long, because the user may be typing; it is tried again a second later, like a store
  /// that cannot be written to.
  func markRead(now: Int64) throws {
    guard !unread.isEmpty, now >= nextMark else { return }
    var printed = PrintedMessages(isToBeRead: true)
    for message in unread { printed.add(message) }
    guard try attempt({ try printed.markRead(messenger, busyTimeout: .milliseconds(100)) }) else {
      nextMark = monotonicMicroseconds() + 1_000_000
      return
    }
    nextMark = monotonicMicroseconds() + 200_000
    stretch.setRead(Set(unread.map(\.id)))
    unread = []
  }
}
