internal import DMCLI
internal import DMDigest
internal import DMKit

/// What messages of the conversation are about, as lines of text, for /digest.
struct DigestLines {
  private let acts: Conversing
  /// How many messages are read if none was unread when the conversation was opened.
  private static let newest = 100
  private static let points = 5

  init(_ acts: Conversing) { self.acts = acts }

  /// - Parameter words: the number of the first message to read; empty for the first one that was unread when the
  ///   conversation was opened.
  /// - Throws: `usage` for other words.
  func made(of words: String) throws -> [String] {
    let (number, rest) = Entered.number(words)
    guard rest.allSatisfy(\.isWhitespace) else { throw usage("write /digest, or /digest and the number of a message") }
    var query = HistoryQuery(acts.conversation)
    query.allowsMissing = true
    let first = number ?? acts.firstUnread
    query.since = first.map { .message(acts.message($0)) }
    query.limit = first == nil ? Self.newest : nil
    let history = try acts.messenger.history(query)
    var messages: [Message] = []
    while case let batch = try history.next(), !batch.isEmpty { messages += batch }
    return try lines(messages)
  }

  private func lines(_ messages: [Message]) throws -> [String] {
    let numbers = Dictionary(messages.map { ($0.reference, $0.seq.map(String.init) ?? "-") }) { first, _ in first }
    let digest = Digest(try Cues(), for: acts.messenger.identity.handle.description, limit: Self.points)
    var lines: [String] = []
    var kind: Point.Kind?
    for point in digest.points(messages.compactMap(DigestMessage.init)) {
      if point.kind != kind { lines.append(Mark.strong(point.kind.title)) }
      kind = point.kind
      let seqs = point.references.compactMap { numbers[$0] }.joined(separator: " ")
      lines.append(
        "  \(Mark.faint(seqs)) \(Mark.body(visible(point.introduction))): \(Mark.body(TextFormat.oneLine(point.text)))")
    }
    return lines
  }
}
