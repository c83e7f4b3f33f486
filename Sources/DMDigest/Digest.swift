package import DMKit
package import DMModel

/// A digest of messages, made without a model: the same messages give the same digest.
package struct Digest {
  private let cues: Cues
  /// The user who gets the digest.
  private let user: Handle
  private let kinds: Set<DigestPoint.Kind>
  /// The maximum number of summary points of a conversation.
  private let limit: Int

  /// - Parameter kinds: the kinds of the points; empty for all kinds.
  package init(_ cues: Cues, for user: Handle, kinds: [DigestPoint.Kind] = [], limit: Int) {
    self.cues = cues
    self.user = user
    self.kinds = Set(kinds.isEmpty ? DigestPoint.Kind.allCases : kinds)
    self.limit = limit
  }

  /// The points of the messages, by conversation in the order in which the conversations first occur, and by kind.
  package func points(_ messages: [DigestMessage]) -> [DigestPoint] {
    var conversations: [Identifier] = []
    var parts: [Identifier: [DigestMessage]] = [:]
    for message in messages {
      if parts[message.conversationID] == nil { conversations.append(message.conversationID) }
      parts[message.conversationID, default: []].append(message)
    }
    return conversations.flatMap { conversation in
      let exchange = Exchange(Talk(parts[conversation] ?? [], for: user), cues)
      let found = Findings(exchange: exchange, user: user).points().filter { kinds.contains($0.kind) }
      // A summary is made only if it is wanted, because it takes most of the time.
      return kinds.contains(.summary) ? found + Summary(exchange: exchange).points(limit) : found
    }
  }
}
