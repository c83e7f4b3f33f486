internal import DMKit

/// The engine's state for the open connection; a new connection starts without it.
struct HubConnection {
  /// Nil while no connection is open.
  var hello: HubHello?
  /// The last comparison of each conversation, until the conversation is pulled.
  var named: [Identifier: HubComparison.Conversation] = [:]
  /// The members, from the hub, of conversations whose beginning the user cannot see, until these are pulled.
  var members: [Identifier: [HubMember]] = [:]
  /// The horizon of the last comparison, until all conversations that it listed are pulled.
  var horizon: String?
  /// The conversations to pull, in this order.
  private(set) var toPull: [Identifier] = []
  /// The conversations whose last pull did not continue the log that this store has.
  private(set) var doubted: Set<Identifier> = []
  /// The conversations that are no longer pulled, and why.
  private(set) var setAside: [Identifier: DMError.Code] = [:]
  /// The conversations for which the hub has another log than this store.
  var forked: [Identifier] = []
  var mustCompare = false

  /// Pulls a conversation, unless it was set aside.
  mutating func enqueue(_ id: Identifier) {
    if setAside[id] == nil, !toPull.contains(id) { toPull.append(id) }
  }

  /// Removes conversations from the queue, because they are pulled now.
  mutating func dequeue(_ ids: [Identifier]) { toPull.removeAll(where: ids.contains) }

  /// Compares again, once, if the log of a conversation does not continue: the last comparison may be out of date.
  ///
  /// - Returns: false if the conversation is already doubted.
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

  /// Ends the doubt about a conversation, because its pull went well.
  mutating func trust(_ id: Identifier) { doubted.remove(id) }
}
