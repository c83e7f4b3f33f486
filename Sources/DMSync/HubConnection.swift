internal import DMKit
internal import DMStore

/// A state machine for the open connection: its input is events, and its output is work for the engine.
///
/// The state machine does not use the network or the store. Each connection starts with a new state machine.
struct HubConnection {
  /// An event of the connection.
  ///
  /// `held` says how far this store has pulled the conversation; nil if the store has not pulled any entry.
  enum Event {
    /// The hub has accepted the connection.
    case opened(HubHello)
    /// A comparison lists a conversation.
    case listed(HubComparison.Conversation, held: HubConversations.Row?)
    /// A complete comparison does not list a conversation that this store has.
    case notListed(Identifier)
    /// All conversations of a comparison were listed.
    case compared(horizon: String)
    case pulling([Identifier])
    /// Pulled entries of a conversation were applied to this store.
    case applied(Identifier)
    /// The pulled entries do not continue the log that this store has.
    case doesNotContinue(Identifier)
    /// The log of a conversation cannot be applied to this store.
    case doesNotFit(Identifier, DMError.Code)
    /// At the rev of this store's last entry, the hub has a different entry.
    case forked(Identifier)
    /// An exchange that pulled a conversation has ended.
    ///
    /// - Parameter limit: the maximum number of entries that were requested.
    case pulled(Identifier, count: Int, limit: Int, held: HubConversations.Row?)
    /// The answers to a push contradict the entries that this store has pulled.
    case isBehind
  }

  /// Work for the engine.
  enum Output: Equatable {
    /// Pull the log again from its beginning.
    case beginAnew(Identifier, Replica.Reason)
    /// Record that the conversation is no longer pulled.
    case setAside(Identifier, DMError.Code)
    /// Record that the conversation is no longer set aside.
    case endFault(Identifier)
  }

  /// The hub's greeting; nil while no connection is open.
  private(set) var hello: HubHello?
  /// The result of the last comparison for each conversation that it listed, until the conversation is pulled.
  private(set) var named: [Identifier: HubComparison.Conversation] = [:]
  /// The hub's lists of members, each until its conversation is pulled.
  ///
  /// The lists are needed if the user cannot see all entries by which members join and leave.
  var members: [Identifier: [HubMember]] = [:]
  /// The horizon of the last comparison, until all conversations that the comparison listed are pulled.
  private(set) var horizon: String?
  /// The conversations to pull, in this order.
  private(set) var toPull: [Identifier] = []
  /// The conversations whose last pull did not continue this store's log, or lacked entries that the comparison listed.
  private(set) var doubted: Set<Identifier> = []
  /// The conversations that are set aside: they are no longer pulled on this connection, for the reason that the error
  /// code gives.
  private(set) var setAside: [Identifier: DMError.Code] = [:]
  /// The conversations whose log on the hub differs from the log that this store has pulled.
  private(set) var forked: [Identifier] = []
  /// Whether the store must be compared with the hub before anything else is pulled.
  private(set) var mustCompare = false

  /// Queues a conversation to be pulled, unless it was set aside.
  mutating func enqueue(_ id: Identifier) {
    if setAside[id] == nil, !toPull.contains(id) { toPull.append(id) }
  }

  /// Returns the horizon once, when no conversation is left to pull; otherwise nil.
  mutating func takeHorizon() -> String? {
    guard toPull.isEmpty else { return nil }
    defer { horizon = nil }
    return horizon
  }

  mutating func takeForked() -> [Identifier] {
    defer { forked = [] }
    return forked
  }

  mutating func take(_ event: Event) -> [Output] {
    switch event {
    case .opened(let hello): self.hello = hello
    case .listed(let conversation, let held): return list(conversation, held)
    case .notListed(let id): return named[id] == nil ? [.beginAnew(id, .gone)] : []
    case .compared(let horizon): (self.horizon, mustCompare) = (horizon, false)
    case .pulling(let ids): toPull.removeAll(where: ids.contains)
    case .applied(let id): (named[id], members[id]) = (nil, nil)
    case .doesNotContinue(let id): return doubt(id)
    case .doesNotFit(let id, let code): return setAside(id, for: code)
    case .forked(let id): forked.append(id)
    case .pulled(let id, let count, let limit, let held): return judge(id, isFull: count >= limit, held)
    case .isBehind: mustCompare = true
    }
    return []
  }

  private mutating func list(
    _ conversation: HubComparison.Conversation, _ held: HubConversations.Row?
  ) -> [Output] {
    let id = conversation.id
    named[id] = conversation
    guard let held else {
      enqueue(id)
      return []
    }
    if held.rev != conversation.rev || held.mark != conversation.mark { enqueue(id) }
    if setAside[id] != nil || hello?.isStandby != false { return [] }
    if conversation.rev < held.namedRev { return [.beginAnew(id, .setBack)] }
    let seesMore = conversation.sees.count(upTo: held.rev) > held.sees.count(upTo: held.rev)
    return seesMore ? [.beginAnew(id, .seesMore)] : []
  }

  /// Checks that a conversation was pulled to its end, unless it is queued to be pulled again.
  private mutating func judge(_ id: Identifier, isFull: Bool, _ held: HubConversations.Row?) -> [Output] {
    var outputs: [Output] = []
    if !toPull.contains(id) {
      if !isFull, let held, lacks(held), setAside[id] == nil { outputs += doubt(id) }
      if !toPull.contains(id), setAside[id] == nil {
        doubted.remove(id)
        outputs.append(.endFault(id))
      }
    }
    // After a full page, the log may have more entries. The messages of this page may already have the texts of later
    // edits. If the hub is restored to a state before these edits, only a comparison shows the restore. No new
    // comparison is needed if an earlier one has shown how far the log continues.
    if isFull {
      enqueue(id)
      if named[id] == nil, let held, held.namedRev <= held.rev { mustCompare = true }
    }
    return outputs
  }

  /// Whether the comparison lists later entries than the hub returned.
  private func lacks(_ held: HubConversations.Row) -> Bool {
    hello?.isStandby == false && !held.isWhole
  }

  /// After a faulty pull of a conversation, requests a comparison, because the last comparison may be out of date.
  ///
  /// If the next pull of the conversation is faulty, too, sets the conversation aside.
  private mutating func doubt(_ id: Identifier) -> [Output] {
    guard doubted.insert(id).inserted else { return setAside(id, for: .hubDamaged) }
    mustCompare = true
    enqueue(id)
    return []
  }

  private mutating func setAside(_ id: Identifier, for code: DMError.Code) -> [Output] {
    setAside[id] = code
    doubted.remove(id)
    toPull.removeAll { $0 == id }
    return [.setAside(id, code)]
  }
}
