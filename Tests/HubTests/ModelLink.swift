@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import StoreSupport

/// A hub that several machines of a test share.
final class SharedHub {
  var model = ModelHub()
  /// Requests that the hub carries out later, at these times, after the machines have given them up.
  var ghosts: [(at: Int64, run: (inout ModelHub) throws -> Void)] = []

  func runGhosts(at time: Int64) {
    let due = ghosts.filter { $0.at <= time }
    ghosts.removeAll { $0.at <= time }
    // No machine gets the result.
    for ghost in due { _ = Result { try ghost.run(&model) } }
  }

  /// Adds a new machine of a person, with a store that has joined the hub.
  func joined(_ handle: String) throws -> Machine { try Machine(self, handle) }
}

/// A link of one machine to a model hub.
final class ModelLink: HubLink {
  let hub: SharedHub
  let machine: Identifier
  /// Whether requests are lost.
  var isDeaf = false
  private(set) var comparisons = 0
  /// Whether the hub notifies this machine.
  private(set) var listens = false
  private(set) var exchanges = 0
  /// The operations of which other machines are notified.
  private(set) var announced: [Outbox.Act] = []
  /// The hints that the next calls of `wait` return.
  var hints: [HubHint] = []
  /// The kind of entries that the next pull leaves out.
  var missing: HubEntry.Kind?

  /// Whether the hub keeps no own states, because the user is over their quota.
  var refusesOwnStates = false
  /// Whether the answers to given own states are lost.
  var losesOwnStates = false

  /// Whether the hub cannot return pages in time.
  var failsPages = false
  /// The maximum number of entries that the hub can return in time; nil for any number.
  var most: Int?

  init(_ hub: SharedHub, _ machine: Identifier) {
    self.hub = hub
    self.machine = machine
  }

  func open() throws -> HubHello { try hub.model.hello(machine) }
  func listen(_ isOn: Bool) { listens = isOn }
  func restamp(held: [Identifier], next: Identifier, _ answer: @escaping (Bool) -> Void) {
    answer(hub.model.restamp(machine, held: held, next: next))
  }
  func compare(since horizon: String?) throws -> HubComparison {
    comparisons += 1
    return try hub.model.changed(machine, since: horizon)
  }

  func exchange(
    _ operations: [HubOperation], pulling: [HubPull], limit: Int, _ batch: (HubBatch) throws -> Void
  ) throws -> [HubAnswer] {
    if isDeaf { throw HubFault.lost("request") }
    exchanges += 1
    announced += operations.filter(\.isAnnounced).map(\.act)
    let answers = operations.isEmpty ? [] : try hub.model.push(machine, operations)
    if let most, pulling.count * limit > most { try giveSome(pulling, most, batch) }
    for pull in pulling {
      guard let pulled = try hub.model.pull(machine, pull, limit: limit) else { continue }
      if case .entries(let entries) = pulled, let missing {
        self.missing = nil
        try batch(.entries(entries.filter { $0.kind != missing }))
      } else {
        try batch(pulled)
      }
    }
    return answers
  }

  /// Returns some entries of the first conversation, and then times out.
  private func giveSome(_ pulling: [HubPull], _ most: Int, _ batch: (HubBatch) throws -> Void) throws {
    if let first = pulling.first, let some = try hub.model.pull(machine, first, limit: most / 2) { try batch(some) }
    throw HubFault.timedOut("57014")
  }

  func people(after rev: Int64) throws -> [HubPerson] { try hub.model.people(machine, after: rev) }
  func starts(of conversations: [Identifier], keeping kept: KeptMessages) throws -> [HubStart] {
    try conversations.compactMap { try hub.model.start(machine, of: $0, keeping: kept) }
  }
  func page(of conversation: Identifier, _ seqs: SeqRange) throws -> [HubEntry] {
    if failsPages { throw HubFault.timedOut("57014") }
    return try hub.model.page(machine, of: conversation, seqs)
  }
  func members(of conversation: Identifier) throws -> [HubMember] { try hub.model.members(machine, of: conversation) }
  func signals(_ own: HubSignals) throws -> [HubSignal] { try hub.model.signals(machine, own) }
  func ownStates(after rev: Int64, _ changes: [HubOwnState], limit: Int) throws -> [HubOwnState] {
    let states = try hub.model.ownStates(machine, after: rev, refusesOwnStates ? [] : changes, limit: limit)
    if losesOwnStates { throw HubFault.lost("the answer") }
    return states
  }
  func wait(for duration: Duration) throws -> HubHint {
    hints.isEmpty || !listens ? HubHint() : hints.removeFirst()
  }
  func close() { listens = false }
}

/// Syncs until each machine has the messages of the others.
func settle(_ machines: [Machine]) throws {
  for _ in 1...3 { for machine in machines { try machine.sync() } }
}

/// Syncs as `settle` does, but over new connections, which compare all conversations.
func connectAnewAndSettle(_ machines: [Machine]) throws {
  for machine in machines { machine.engine.close() }
  try settle(machines)
}

/// A machine of a person: a linked store and its engine.
final class Machine {
  let store: TemporaryStore
  let messenger: Messenger
  let engine: SyncEngine
  let link: ModelLink

  /// - Parameter fills: whether the machine syncs at once.
  init(_ hub: SharedHub, _ handle: String, fills: Bool = true) throws {
    store = try TemporaryStore(users: [])
    messenger = try store.messenger(handle)
    link = ModelLink(hub, hub.model.invite(handle))
    try messenger.link(to: link.open())
    engine = try SyncEngine(messenger, link)
    engine.receiptDelay = 0
    if fills { try sync() }
  }

  /// Pushes everything that is queued, and pulls everything that is new.
  func sync() throws {
    if engine.hello == nil { try engine.connect() } else { try engine.compare() }
    try engine.drain()
  }

  func messages(_ conversation: String) throws -> [Message] {
    try messenger.history(HistoryQuery(ConversationReference(conversation))).rest()
  }

  /// The texts of a conversation with their numbers, as the person sees them.
  func texts(_ conversation: String) throws -> [String] {
    try messages(conversation).map { message in
      "\(message.seq.map(String.init) ?? "-") \(message.sender): \(message.text ?? message.systemKind?.rawValue ?? "")"
    }
  }

  @discardableResult
  func say(_ text: String, to conversation: String) throws -> Message {
    try messenger.send(Outgoing(to: ConversationReference(conversation), text: text))
  }
}
