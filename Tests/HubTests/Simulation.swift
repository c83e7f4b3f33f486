import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Machines that act at random on a hub that fails at random, all from one seed.
///
/// The stores and the engine are those of the programs; the hub is the model, and time is counted by it.
final class Simulation {
  let hub = SharedHub()
  var dice: SplitMix64
  let seed: UInt64
  private(set) var machines: [SimulatedMachine] = []
  private let handles = ["alice", "bob", "carol"]
  private var said = 0
  /// The ids of the messages that each machine has sent.
  private(set) var sent: [(machine: Int, id: Identifier)] = []
  /// Whether the hub is set back now and then, and the state to which.
  private let isSetBack: Bool
  private var backup: ModelHub?
  private(set) var restores = 0

  init(seed: UInt64, faults: Faults, isSetBack: Bool) throws {
    self.seed = seed
    self.isSetBack = isSetBack
    dice = SplitMix64(seed: seed)
    hub.model = ModelHub(seed: seed)
    for handle in handles { machines.append(try SimulatedMachine(hub, handle, faults, seed: dice.next())) }
    for machine in machines { try machine.settle() }
    _ = try machines[0].messenger.createGroup(titled: "ops", with: [Handle("bob")])
  }

  func run(steps: Int) throws {
    for _ in 0..<steps {
      let machine = machines[dice.below(machines.count)]
      if dice.chance(40) { try machine.sync() } else { try act(machine) }
      if dice.chance(3) { try machine.restart() }
      if dice.chance(3) { try machine.messenger.simulate(HubNetwork.allCases[dice.below(4)]) }
      if isSetBack { setBack() }
      hub.model.clock += Int64(dice.below(2_000_000))
      hub.runGhosts(at: hub.model.clock)
    }
  }

  /// Backs the hub up, or restores it.
  private func setBack() {
    if dice.chance(6) { backup = hub.model }
    guard dice.chance(2), let backup else { return }
    hub.model.restore(backup)
    restores += 1
  }

  /// Ends all faults, and lets everything come to rest.
  func settle() throws {
    for machine in machines {
      machine.link.faults = Faults()
      try machine.messenger.simulate(.normal)
    }
    hub.runGhosts(at: .max)
    for _ in 0..<4 { for machine in machines { try machine.settle() } }
  }

  // MARK: Acts

  private func act(_ machine: SimulatedMachine) throws {
    let conversations = try machine.messenger.conversations().map { $0.id }
    do {
      guard let id = conversations.isEmpty ? nil : conversations[dice.below(conversations.count)], !dice.chance(8)
      else { return try say(machine, .direct(Handle(handles[dice.below(3)]))) }
      try act(machine, in: .id(id))
    } catch let error as DMError
      where [.notAllowed, .unknownMessage, .unknownUser, .unknownConversation].contains(error.code)
    {
      // As of a person who is told so.
    }
  }

  private func say(_ machine: SimulatedMachine, _ conversation: ConversationReference) throws {
    said += 1
    let nonce = dice.chance(30) ? "n\(dice.below(40))" : nil
    do {
      let text = "\(machine.handle) \(said)"
      let message = try machine.messenger.send(Outgoing(to: conversation, text: text, nonce: nonce))
      sent.append((machines.firstIndex { $0 === machine } ?? 0, message.id))
    } catch let error as DMError where error.code == .nonceConflict {}
  }

  private func act(_ machine: SimulatedMachine, in conversation: ConversationReference) throws {
    let messenger = machine.messenger
    let messages = try messenger.history(HistoryQuery(conversation)).rest()
    let mine = messages.filter { $0.isMine && $0.systemKind == nil }
    let other = try Handle(handles[dice.below(3)])
    switch dice.below(20) {
    case 0...8: try say(machine, conversation)
    case 9, 10:
      guard let message = mine.isEmpty ? nil : mine[dice.below(mine.count)] else { return }
      said += 1
      _ = try messenger.edit([Edit(.id(message.id), .text("\(machine.handle) \(said)"))])[0].get()
    case 11:
      guard let message = mine.isEmpty ? nil : mine[dice.below(mine.count)] else { return }
      _ = try messenger.edit([Edit(.id(message.id), .delete(forEveryone: true))])[0].get()
    case 12, 13:
      guard let message = messages.isEmpty ? nil : messages[dice.below(messages.count)] else { return }
      let emoji: String? = ["👍", "👀", nil][dice.below(3)]
      _ = try messenger.edit([Edit(.id(message.id), .react(emoji))])[0].get()
    case 14, 15: _ = try messenger.markRead(.all, in: conversation)
    case 16: _ = try messenger.add([other], to: conversation, withHistory: dice.chance(50))
    case 17: _ = try messenger.remove([other], from: conversation)
    case 18: _ = try dice.chance(30) ? messenger.leave(conversation) : messenger.setTitle("ops", of: conversation)
    default: _ = try messenger.setTitle("title \(said)", of: conversation)
    }
  }
}

/// How often what goes wrong, in percent of calls.
struct Faults {
  var lostRequest = 0
  var lostReply = 0
  /// A request that the hub carries out later, when the machine has given it up.
  var ghost = 0
  /// The end of the program within the commit of what came.
  var kill = 0

  static let all = Faults(lostRequest: 10, lostReply: 10, ghost: 5, kill: 5)
}

/// The end of a program, at any moment.
struct Kill: Error {}

/// A link to the model, through the network that its machine plays, that loses, delays and ends the program.
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
    // Time is that of the hub.
    played = SimulatedLink(ModelLink(hub, machine), messenger, dice: SplitMix64(seed: dice.next())) { microseconds in
      hub.model.clock += microseconds
    }
  }

  /// Pages of all sizes, so that a pull ends anywhere.
  func pageSize() -> Int { 1 + dice.below(20) }

  private func call<T>(_ body: () throws -> T) throws -> T {
    if dice.chance(faults.lostRequest) { throw HubFault.lost("request") }
    let result = try body()
    if dice.chance(faults.lostReply) { throw HubFault.lost("reply") }
    return result
  }

  func open() throws -> HubHello { try call(played.open) }
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
  func signals(_ own: HubSignals) throws -> [HubSignal] { [] }
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
  private(set) var messenger: Messenger
  private var engine: SyncEngine

  init(_ hub: SharedHub, _ handle: String, _ faults: Faults, seed: UInt64) throws {
    self.handle = handle
    store = try TemporaryStore(users: [])
    messenger = try store.messenger(handle)
    let machine = hub.model.invite(handle)
    try messenger.link(to: ModelLink(hub, machine).open())
    link = FaultyLink(hub, machine, messenger, Faults(), seed: seed)
    engine = try SyncEngine(messenger, link)
    engine.receiptDelay = 0
    link.faults = faults
  }

  /// One attempt to sync, which may fail.
  func sync() throws {
    do {
      if engine.hello == nil { try engine.connect() } else { try engine.compare() }
      engine.pageSize = link.pageSize()
      for _ in 0..<3 where try engine.hasWork() { try engine.exchange() }
    } catch is HubFault {
      engine.close()
    } catch is Kill {
      try restart()
    }
  }

  /// Ends the program and starts it again.
  func restart() throws {
    messenger = try store.messenger(handle)
    engine = try SyncEngine(messenger, link)
    engine.receiptDelay = 0
  }

  /// More than a run makes entries.
  private static let mostExchanges = 3000

  /// Syncs without faults, until there is nothing to do.
  func settle() throws {
    engine.close()
    let faults = link.faults
    link.faults = Faults()
    try engine.connect()
    var exchanges = 0
    while try engine.hasWork() {
      try engine.exchange()
      exchanges += 1
      if exchanges > Self.mostExchanges { throw Violation(description: "\(handle): it pushes and pulls for ever") }
    }
    link.faults = faults
  }
}
