package import DMKit

/// The messages that a program has printed, so that the program can mark them as read or as delivered.
package struct PrintedMessages {
  private var ranges: [Identifier: [SeqRange]] = [:]
  /// For each conversation, the number of the last message from another user.
  package private(set) var lastOfOthers: [Identifier: Int] = [:]

  private let isToBeRead: Bool

  /// - Parameter isToBeRead: whether to keep the numbers of all messages, for `markRead`.
  package init(isToBeRead: Bool) { self.isToBeRead = isToBeRead }

  package mutating func add(_ message: borrowing Message) {
    // A message without a number waits for the hub. The user has sent it, so it need not be marked.
    guard let seq = message.seq else { return }
    let id = message.conversationID
    if !message.isMine { lastOfOthers[id] = max(lastOfOthers[id] ?? 0, seq) }
    guard isToBeRead else { return }
    if let last = ranges[id]?.last, last.upperBound + 1 == seq {
      ranges[id]?.removeLast()
      ranges[id]?.append(last.lowerBound...seq)
    } else {
      ranges[id, default: []].append(seq...seq)
    }
  }

  /// - Parameter busyTimeout: how long to wait for the lock of the store; nil to use `--busy-timeout`.
  package func markRead(_ messenger: Messenger, busyTimeout: Duration? = nil) throws {
    var options = Messenger.MarkOptions()
    options.busyTimeout = busyTimeout
    for (id, ranges) in ranges {
      let target = ReadTarget.ranges(ranges.map { RangeReference(from: $0.lowerBound, to: $0.upperBound) })
      _ = try messenger.markRead(target, in: .id(id), options)
    }
  }
}
