internal import DMKit

/// What the engine knows by the connection that is open; the next one begins without it.
struct HubConnection {
  /// Nil while no connection is open.
  var hello: HubHello?
  /// What the hub has said of conversations that are not pulled yet.
  var named: [Identifier: HubComparison.Conversation] = [:]
  /// The members of conversations of which the beginning is not seen, until they are pulled.
  var members: [Identifier: [HubMember]] = [:]
  /// The horizon of the last comparison, until all that it named is here.
  var horizon: String?
  /// The conversations to be pulled, in this order.
  private(set) var toPull: [Identifier] = []
  /// The conversations whose logs did not continue when they were pulled last.
  private(set) var doubted: Set<Identifier> = []
  /// The conversations that are pulled no more, and why.
  private(set) var setAside: [Identifier: DMError.Code] = [:]
  /// The conversations of which the hub has another log than this store.
  var forked: [Identifier] = []
  var mustCompare = false

  /// Pulls a conversation, unless it was set aside.
  mutating func enqueue(_ id: Identifier) {
    if setAside[id] == nil, !toPull.contains(id) { toPull.append(id) }
  }

  /// These are pulled now.
  mutating func dequeue(_ ids: [Identifier]) { toPull.removeAll(where: ids.contains) }

  /// Asks once what the hub says of a conversation whose log does not continue: what is known of it may be old.
  ///
  /// - Returns: false the second time.
  mutating func doubt(_ id: Identifier) -> Bool {
    guard doubted.insert(id).inserted else { return false }
    mustCompare = true
    enqueue(id)
    return true
  }

  mutating func setAside(_ id: Identifier, for code: DMError.Code) {
    setAside[id] = code
    trust(id)
    dequeue([id])
  }

  /// A conversation was pulled as it should be.
  mutating func trust(_ id: Identifier) { doubted.remove(id) }
}
