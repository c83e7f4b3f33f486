internal import DMModel
internal import DMStore
internal import Synchronization

/// The conversations of a query: those that exist, and direct conversations that do not exist yet.
struct ChosenConversations {
  private let watched: WatchedConversations?
  private var version = 0
  /// The conversations that do not exist yet.
  private var missing: [ConversationReference] = []
  /// The keys of the conversations that exist; nil for all conversations that the user is in.
  private(set) var keys: [ConversationKey]?

  /// - Parameter watched: the object through which the program changes the conversations later; nil if the program
  ///   cannot change them.
  init(_ references: [ConversationReference], _ watched: WatchedConversations?) {
    self.watched = watched
    choose(references)
  }

  private mutating func choose(_ references: [ConversationReference]) {
    (missing, keys) = (references, references.isEmpty ? nil : [])
  }

  /// Takes over the conversations that the program has set since the last call, and looks up again those that did not
  /// exist yet.
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

/// The conversations that a program last chose for its stream.
package final class WatchedConversations: Sendable {
  private let state = Mutex((references: [ConversationReference](), version: 0))

  func set(_ references: [ConversationReference]) {
    state.withLock { $0 = (references, $0.version + 1) }
  }

  /// - Returns: nil if the conversations were not set after `version`. In the first call, `version` is 0.
  func changed(since version: Int) -> ([ConversationReference], version: Int)? {
    state.withLock { $0.version == version ? nil : ($0.references, $0.version) }
  }
}
