internal import DMCLI
internal import DMDigest
internal import DMKit

/// What messages of the conversation are about, as lines of text, for /digest.
struct DigestLines {
  private let acts: Conversing
  /// How many messages are read if none was unread when the conversation was opened.
  private static let newest = 100
  /// The maximum number of messages that are read, because the window waits for the digest.
  private static let most = 10_000
  /// The maximum number of summary points.
  private static let points = 5

  init(_ acts: Conversing) { self.acts = acts }

  /// A line that says which messages were read, and lines for the points; a single line if there are no points.
  ///
  /// - Parameter words: the number of the first message to read; empty for the first one that was unread when the
  ///   conversation was opened.
  /// - Throws: `usage` for other words, `unknown_message`.
  func made(of words: String) throws -> [String] {
    let (number, rest) = Entered.number(words)
    guard rest.allSatisfy(\.isWhitespace) else { throw usage("write /digest, or /digest and the number of a message") }
    let messages = try read(from: number)
    let digest = Digest(try Cues(), for: acts.messenger.identity.handle, limit: Self.points)
    let texts = messages.compactMap(DigestMessage.init)
    let points = digest.points(texts)
    let title = title(counted(texts.count, "message"), from: number)
    if points.isEmpty { return [title + ": no points found"] }
    return [Mark.faint(title + ": points are guesses")] + lines(points, of: messages)
  }

  /// The messages from a number on; without a number, see `made`.
  private func read(from number: Int?) throws -> [Message] {
    var query = HistoryQuery(acts.conversation)
    query.allowsMissing = true
    query.limit = Self.most
    if let number {
      query.since = .message(acts.message(number))
    } else if let first = acts.firstUnread {
      // Asks for a range of numbers, because the message may have been deleted after the conversation was opened.
      query.ranges = [RangeReference(from: first, to: nil)]
    } else {
      query.limit = Self.newest
    }
    let history = try acts.messenger.history(query)
    var messages: [Message] = []
    while case let batch = try history.next(), !batch.isEmpty { messages += batch }
    return messages
  }

  private func title(_ messages: String, from number: Int?) -> String {
    if let number { return "\(messages) since \(number)" }
    return acts.firstUnread == nil ? "nothing was unread; newest \(messages)" : "\(messages) since the first unread one"
  }

  private func lines(_ points: [DigestPoint], of messages: [Message]) -> [String] {
    let numbers = Dictionary(messages.map { (ExactString($0.reference), TextFormat.number($0)) }) { first, _ in first }
    var lines: [String] = []
    var kind: DigestPoint.Kind?
    for point in points.unrepeated {
      if point.kind != kind { lines.append(Mark.strong(point.kind.title)) }
      kind = point.kind
      // A number is enough for /go, as in the lines of the conversation.
      let names = point.references.compactMap { numbers[ExactString($0)] }
      lines.append("  " + TextFormat.line(point, messages: names))
    }
    return lines
  }
}
