public import DMModel

/// The messages of a conversation that an action marks.
public enum ReadTarget: Sendable {
  /// The messages with these numbers.
  case ranges([RangeReference])
  /// All messages up to and including this one.
  case upTo(MessageReference)
  /// All messages before a message or a time.
  case before(HistoryQuery.Bound)
  /// All messages from a message or a time on; with `before`, only the messages before that other message or time.
  case since(HistoryQuery.Bound, before: HistoryQuery.Bound?)
  /// All messages.
  case all
}
