package import DMKit
internal import DMModel

/// A digest of messages, made without a model: the same messages give the same digest.
package struct Digest {
  private let cues: Cues
  /// The handle of the user who gets the digest, in lower case.
  private let user: String
  /// The maximum number of summary points of a conversation.
  private let limit: Int

  package init(_ cues: Cues, for user: String, limit: Int) {
    self.cues = cues
    self.user = user.lowercased()
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
      return Findings(exchange: exchange, user: user).points() + Summary(exchange: exchange).points(limit)
    }
  }
}
