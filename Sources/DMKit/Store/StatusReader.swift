/// How far messages have come, for one pass over them.
///
/// What it has looked up it keeps: a stretch of messages that the same people have read costs one query.
final class StatusReader {
  private struct Known {
    /// The two participants to whom most was delivered: the sender may be one of them.
    var delivered: [(user: Int64, seq: Int)]
    var range: SeqRange?
    var isRead = false
    var reader: Int64?
  }

  private let store: Store
  private var conversations: [Int64: Known] = [:]

  init(_ store: Store) { self.store = store }

  func status(of seq: Int, in conversation: Int64, from sender: Int64) throws -> Message.Status {
    var known = try conversations[conversation] ?? Known(delivered: store.furthestDelivered(in: conversation))
    if known.range?.contains(seq) != true {
      try look(&known, seq, conversation)
      conversations[conversation] = known
    }
    if known.isRead, known.reader != sender { return .read }
    return known.delivered.contains { $0.user != sender && $0.seq >= seq } ? .delivered : .sent
  }

  /// Finds the mark that covers a message, or how far there is none.
  private func look(_ known: inout Known, _ seq: Int, _ conversation: Int64) throws {
    var statement = try store.connection.prepare(
      "SELECT from_seq, to_seq, reader FROM read_mark WHERE conversation = ? AND to_seq >= ? ORDER BY to_seq LIMIT 1")
    statement.bind(conversation)
    statement.bind(seq)
    let found = try statement.step()
    known.isRead = found && statement.int(0) <= seq
    known.reader = known.isRead ? statement.optionalInt64(2) : nil
    known.range = known.isRead ? try statement.seqs(0, 1) : seq...(found ? statement.int(0) - 1 : .max)
  }
}
