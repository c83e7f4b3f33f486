@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// How often each fault happens, in percent of calls.
struct Faults {
  var lostRequest = 0
  var lostReply = 0
  /// A request that the hub carries out later, after the machine has given it up.
  var ghost = 0
  /// The program is killed during the commit of what it has pulled.
  var kill = 0

  static let all = Faults(lostRequest: 10, lostReply: 10, ghost: 5, kill: 5)
}

/// The error that is thrown where the program is killed.
struct Kill: Error {}

/// A link to the model that loses and delays calls, and kills the program.
///
/// The calls go through the network that the machine simulates.
final class FaultyLink: HubLink {
  let hub: SharedHub
  let machine: Identifier
  var faults: Faults
  private var dice: SplitMix64
  private let played: SimulatedLink

  init(_ hub: SharedHub, _ machine: Identifier, _ messenger: Messenger, _ faults: Faults, seed: UInt64) {
    self.hub = hub
    self.machine = machine
    self.faults = faults
    dice = SplitMix64(seed: seed)
    // The simulated network advances the clock of the hub.
    played = SimulatedLink(ModelLink(hub, machine), messenger, dice: SplitMix64(seed: dice.next())) { microseconds in
      hub.model.clock += microseconds
    }
  }

  /// A random page size, so that a pull may end at any entry.
  func pageSize() -> Int { 1 + dice.below(20) }

  private func call<T>(_ body: () throws -> T) throws -> T {
    if dice.chance(faults.lostRequest) { throw HubFault.lost("request") }
    let result = try body()
    if dice.chance(faults.lostReply) { throw HubFault.lost("reply") }
    return result
  }

  func open() throws -> HubHello { try call(played.open) }
  func listen(_ isOn: Bool) throws { try played.listen(isOn) }
  func restamp(held: [Identifier], next: Identifier, _ answer: @escaping (Bool) -> Void) throws {
    try call { try played.restamp(held: held, next: next, answer) }
  }
  func compare(since horizon: String?) throws -> HubComparison { try call { try played.compare(since: horizon) } }

  func exchange(
    _ operations: [HubOperation], pulling: [HubPull], limit: Int, _ batch: (HubBatch) throws -> Void
  ) throws -> [HubAnswer] {
    if !operations.isEmpty, dice.chance(faults.ghost) {
      let machine = machine
      hub.ghosts.append((hub.model.clock + 20_000_000, { _ = try $0.push(machine, operations) }))
      throw HubFault.lost("given up")
    }
    var batches: [HubBatch] = []
    let answers = try call {
      try played.exchange(operations, pulling: pulling, limit: limit) { batches.append($0) }
    }
    for pulled in batches {
      if dice.chance(faults.kill) { throw Kill() }
      try batch(pulled)
    }
    if dice.chance(faults.kill) { throw Kill() }
    return answers
  }

  func people(after rev: Int64) throws -> [HubPerson] { try call { try played.people(after: rev) } }
  func signals(_ own: HubSignals) throws -> [HubSignal] { try call { try played.signals(own) } }
  func ownStates(after rev: Int64, _ changes: [HubOwnState], limit: Int) throws -> [HubOwnState] {
    if !changes.isEmpty, dice.chance(faults.ghost) {
      let machine = machine
      hub.ghosts.append(
        (hub.model.clock + 20_000_000, { _ = try $0.ownStates(machine, after: rev, changes, limit: limit) }))
      throw HubFault.lost("given up")
    }
    let states = try call { try played.ownStates(after: rev, changes, limit: limit) }
    if dice.chance(faults.kill) { throw Kill() }
    return states
  }
  func starts(of conversations: [Identifier], keeping kept: KeptMessages) throws -> [HubStart] {
    let starts = try call { try played.starts(of: conversations, keeping: kept) }
    if dice.chance(faults.kill) { throw Kill() }
    return starts
  }
  func page(of conversation: Identifier, _ seqs: SeqRange) throws -> [HubEntry] {
    let entries = try call { try played.page(of: conversation, seqs) }
    if dice.chance(faults.kill) { throw Kill() }
    return entries
  }
  func members(of conversation: Identifier) throws -> [HubMember] {
    try call { try played.members(of: conversation) }
  }
  func wait(for duration: Duration) throws -> HubHint { HubHint() }
  func close() {}
}

/// A machine that goes on after each fault.
final class SimulatedMachine {
  let handle: String
  let store: TemporaryStore
  let link: FaultyLink
  let fileLink: FaultyFileLink
  private(set) var messenger: Messenger
  /// The ids of the messages that the machine has not kept, by their conversations and numbers.
  private(set) var removed: [ConversationKey: [Int: Identifier]] = [:]
  let folder: LiveFolder
  private var engine: SyncEngine
  private var bridge: SignalBridge

  init(_ hub: SharedHub, _ handle: String, _ faults: Faults, seed: UInt64) throws {
    self.handle = handle
    store = try TemporaryStore(users: [])
    messenger = try store.messenger(handle)
    folder = LiveFolder(path: messenger.location.live)
    let machine = hub.model.invite(handle)
    try messenger.link(to: ModelLink(hub, machine).open())
    link = FaultyLink(hub, machine, messenger, Faults(), seed: seed)
    fileLink = FaultyFileLink(hub, machine, seed: seed &+ 1)
    engine = try SyncEngine(messenger, link)
    engine.receiptDelay = 0
    bridge = try SignalBridge(messenger, link)
    link.faults = faults
    fileLink.faults = faults
  }

  /// One attempt to sync, which may fail.
  func sync() throws {
    do {
      if engine.hello == nil { try connect() } else { try engine.compare() }
      engine.pageSize = link.pageSize()
      for _ in 0..<3 where try engine.hasWork() { try engine.exchange() }
    } catch is HubFault {
      engine.close()
    } catch is Kill {
      try restart()
    }
  }

  /// Ends the connection to the hub; the next `sync` connects again.
  func disconnect() { engine.close() }

  /// One attempt to transfer files, which may fail.
  func carryFiles() throws {
    do {
      // As if real time had passed since the last attempt.
      try messenger.linkedStore().0.write { try messenger.linkedStore().0.hubFiles.hurry() }
      try FileCarrier(messenger, fileLink, chunkBytes: ModelHub.chunkBytes).carry()
    } catch is HubFault {
    } catch is Kill {}
  }

  /// Removes messages that the machine need not keep, if it has compared its store with the hub.
  func trim() throws {
    if engine.hello == nil || engine.connection.mustCompare { return }
    // As if time had passed, so that messages that were fetched are removed again.
    let store = try messenger.linkedStore().0
    try store.write { try store.connection.execute("UPDATE hub_floor SET fetched_at = min(fetched_at, 1)") }
    let before = try ids(store)
    _ = try messenger.trimMessages(slack: 0)
    let after = try ids(store)
    for (conversation, ids) in before {
      removed[conversation, default: [:]].merge(ids.filter { after[conversation]?[$0.key] == nil }) { $1 }
    }
  }

  /// The ids of all messages that the machine has, by their conversations and numbers.
  private func ids(_ store: Store) throws -> [ConversationKey: [Int: Identifier]] {
    var found: [ConversationKey: [Int: Identifier]] = [:]
    var statement = try store.connection.prepare("SELECT conversation, seq, uuid FROM message")
    while try statement.step() {
      found[statement.conversationKey(0), default: [:]][statement.int(1)] = statement.identifier(2)
    }
    return found
  }

  /// Asks for all messages that the machine has not kept.
  func readBelowFloors() throws {
    let store = try messenger.linkedStore().0
    try store.write {
      for conversation in try store.hubFloors.all() {
        let last = try store.hubFloors.row(conversation)?.seq ?? 1
        for seqs in try store.hubFloors.absent(1...last, in: conversation) {
          try store.hubFloors.want(HubFloors.Page(conversation: conversation, seqs: seqs))
        }
      }
    }
  }

  /// Ends the program and starts it again.
  func restart() throws {
    messenger = try store.messenger(handle)
    engine = try SyncEngine(messenger, link)
    engine.receiptDelay = 0
    bridge = try SignalBridge(messenger, link)
  }

  private func connect() throws {
    try engine.connect()
    beginSignals()
  }

  func beginSignals() { bridge.begin() }

  /// Exchanges signals, if there is a connection.
  func signal() throws {
    if engine.hello == nil { return }
    do {
      _ = try bridge.carry()
    } catch is HubFault {
      engine.close()
    }
  }

  /// More exchanges than a run can need.
  private static let mostExchanges = 3000

  /// Syncs without faults, until there is nothing to do.
  ///
  /// - Returns: how many exchanges this took.
  @discardableResult func settle() throws -> Int {
    engine.close()
    let faults = (link.faults, fileLink.faults)
    (link.faults, fileLink.faults) = (Faults(), Faults())
    try connect()
    var exchanges = 0
    repeat {
      while try engine.hasWork() {
        try engine.exchange()
        exchanges += 1
        if exchanges > Self.mostExchanges { throw Violation(description: "\(handle): it pushes and pulls for ever") }
      }
      try carryFiles()
    } while try engine.hasWork()
    (link.faults, fileLink.faults) = faults
    return exchanges
  }
}
