internal import DMModel
internal import DMStore
internal import Synchronization

/// The conversations of a query: those that exist, and those that are awaited.
struct ChosenConversations {
  private let watched: WatchedConversations?
  private var version = 0
  /// The conversations that do not exist yet.
  private var missing: [ConversationReference] = []
  /// The keys of the conversations that exist; nil for all conversations that the user is in.
  private(set) var keys: [ConversationKey]?

  /// - Parameter watched: the source of later changes to the conversations.
  init(_ references: [ConversationReference], _ watched: WatchedConversations?) {
    self.watched = watched
    choose(references)
  }

  private mutating func choose(_ references: [ConversationReference]) {
    (missing, keys) = (references, references.isEmpty ? nil : [])
  }

  /// Applies a change of the watched conversations, and looks up those that did not exist before.
  mutating func resolve(_ session: Session) throws {
    if let (references, version) = watched?.changed(since: version) {
      choose(references)
      self.version = version
    }
    var left: [ConversationReference] = []
    for reference in missing {
      if let row = try session.findIfPresent(reference) { keys?.append(row.key) } else { left.append(reference) }
    }
    missing = left
  }
}

/// The conversations that a stream watches, as they were set last.
package final class WatchedConversations: Sendable {
  private let state = Mutex((references: [ConversationReference](), version: 0))

  func set(_ references: [ConversationReference]) {
    state.withLock { $0 = (references, $0.version + 1) }
  }

  /// - Returns: nil if the conversations were not set since `version`; a caller begins with 0.
  func changed(since version: Int) -> ([ConversationReference], version: Int)? {
    state.withLock { $0.version == version ? nil : ($0.references, $0.version) }
  }
}
