import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Machines that act at random on a hub that fails at random, all from one seed.
///
/// The stores and the engine are those of the programs; the hub is the model, and its clock gives the time.
final class Simulation {
  let hub = SharedHub()
  var dice: SplitMix64
  let seed: UInt64
  var machines: [SimulatedMachine] = []
  let handles = ["alice", "bob", "carol"]
  private var said = 0
  /// The ids of the messages that each machine has sent.
  private(set) var sent: [(machine: Int, id: Identifier)] = []
  /// The ids of the messages that each person has deleted for themselves.
  private(set) var deletedForSelf: [String: Set<Identifier>] = [:]
  /// The ids of messages that a person deleted for themselves on a machine that had not kept them.
  ///
  /// If the hub is restored, and another machine sends them again, they may be shown again.
  private(set) var deletedUnseen: [String: Set<Identifier>] = [:]
  /// Whether the hub is sometimes restored from `backup`.
  private let isSetBack: Bool
  private var backup: ModelHub?
  private(set) var restores = 0

  init(seed: UInt64, faults: Faults, isSetBack: Bool) throws {
    self.seed = seed
    self.isSetBack = isSetBack
    dice = SplitMix64(seed: seed)
    hub.model = ModelHub(seed: seed)
    // Alice has two machines.
    for handle in handles + ["alice"] { machines.append(try SimulatedMachine(hub, handle, faults, seed: dice.next())) }
    for machine in machines { try machine.settle() }
    _ = try machines[0].messenger.createGroup(titled: "ops", with: [Handle("bob")])
  }

  func run(steps: Int) throws {
    for _ in 0..<steps {
      let machine = machines[dice.below(machines.count)]
      if dice.chance(40) { try machine.sync() } else { try act(machine) }
      if dice.chance(30) { try signal(machine) }
      if dice.chance(10) { try machine.carryFiles() }
      if dice.chance(3) { try machine.restart() }
      if dice.chance(5) { try keepFewer(machine) }
      // After a backup, no machine is added, because the backup would not have its login.
      if machines.count < 7, backup == nil, dice.chance(2) { try addMachine() }
      if dice.chance(3) { try machine.messenger.simulate(HubNetwork.allCases[dice.below(4)]) }
      if isSetBack { setBack() }
      hub.model.clock += Int64(dice.below(2_000_000))
      hub.runGhosts(at: hub.model.clock)
    }
  }

  /// Backs the hub up, or restores it, which ends all connections and the requests that are on their way.
  private func setBack() {
    if dice.chance(6) { backup = hub.model }
    guard dice.chance(2), let backup else { return }
    hub.model.restore(backup)
    hub.ghosts = []
    for machine in machines { machine.disconnect() }
    restores += 1
  }

  /// Ends all faults, and syncs until nothing changes.
  ///
  /// - Returns: how often each machine connected until all had what the hub has.
  func settle() throws -> Int {
    for machine in machines {
      (machine.link.faults, machine.fileLink.faults) = (Faults(), Faults())
      try machine.messenger.simulate(.normal)
    }
    hub.runGhosts(at: .max)
    var changes = hub.model.moves
    for round in 1...Self.mostRounds {
      let hasWork = try machines.map { try $0.settle() }.contains { $0 > 0 }
      // Operations that wait for the user who started a lost conversation are pushed again at each connection, and
      // change nothing.
      if hub.model.moves == changes || !hasWork { return round - 1 }
      changes = hub.model.moves
    }
    throw Violation(description: "after \(Self.mostRounds) connections of each the hub still changes")
  }

  /// How many connections each machine may make after the last fault until all must agree.
  private static let mostRounds = 5

  // MARK: Signals

  /// Changes what the user signals or watches (typing or presence), and then exchanges signals.
  private func signal(_ machine: SimulatedMachine) throws {
    let me = try Handle(machine.handle)
    let conversations = try machine.messenger.conversations().map { $0.id }
    let conversation = conversations.isEmpty ? nil : conversations[dice.below(conversations.count)]
    switch dice.below(6) {
    case 0, 1: if let conversation { machine.folder.give(.typing(conversation, me)) }
    case 2: if let conversation { machine.folder.takeBack(.typing(conversation, me)) }
    case 3: machine.folder.give(.present(me))
    case 4: machine.folder.give(.watched(nil))
    default: machine.folder.give(.presenceWatched)
    }
    try machine.signal()
  }

  /// Blocks and unblocks users, with faults.
  ///
  /// After the faults have ended, only users who type may be shown as typing, and users who hide their presence must
  /// not be shown as online.
  func checkSignals(_ faults: Faults) throws {
    for machine in machines { machine.link.faults = faults }
    for _ in 0..<20 {
      let machine = machines[dice.below(machines.count)]
      let other = try Handle(handles[dice.below(3)])
      if other.description != machine.handle { _ = try machine.messenger.setBlocked(dice.chance(50), [other]) }
      if dice.chance(20) { try machine.sync() }
      try signal(machine)
    }
    _ = try settle()
    for machine in machines {
      for case .typing(let conversation, let user) in machine.folder.signals().keys {
        machine.folder.takeBack(.typing(conversation, user))
      }
      machine.folder.give(.present(try Handle(machine.handle)))
      try machine.signal()
    }
    hub.model.clock += 6_000_000
    for machine in machines { try checkShown(machine) }
  }

  private func checkShown(_ machine: SimulatedMachine) throws {
    for watch in [LiveFolder.Signal.watched(nil), .presenceWatched] { machine.folder.give(watch) }
    machine.beginSignals()
    try machine.signal()
    for (signal, time) in machine.folder.signals()
    where Timestamp.now.microseconds - time.microseconds < signal.lifetime {
      switch signal {
      case .typing(_, let user): throw Violation(description: "\(machine.handle) still sees \(user) type")
      case .present(let user):
        let hidden = try machines.first { $0.handle == user.description }?.messenger.blockedUsers() ?? []
        if hidden.contains(where: { $0.handle.description == machine.handle }) {
          throw Violation(description: "\(machine.handle) sees \(user), who blocks them, online")
        }
      default: break
      }
    }
  }

  // MARK: Acts

  private func act(_ machine: SimulatedMachine) throws {
    let conversations = try machine.messenger.conversations().map { $0.id }
    do {
      guard let id = conversations.isEmpty ? nil : conversations[dice.below(conversations.count)], !dice.chance(8)
      else { return try say(machine, .direct(Handle(handles[dice.below(3)]))) }
      try act(machine, in: .id(id))
    } catch let error as DMError
      where [.notAllowed, .unknownMessage, .unknownUser, .unknownConversation, .nameTaken].contains(error.code)
    {
      // The act is refused, as it would be for a real user.
    }
  }

  private func say(_ machine: SimulatedMachine, _ conversation: ConversationReference) throws {
    said += 1
    let nonce = dice.chance(30) ? "n\(dice.below(40))" : nil
    do {
      let text = "\(machine.handle) \(said)"
      let attached = try dice.chance(10) ? attachments(of: machine) : []
      let outgoing = try Outgoing(
        to: conversation, text: attached.isEmpty || dice.chance(50) ? text : "", nonce: nonce, attachments: attached)
      let message = try machine.messenger.send(outgoing)
      sent.append((machines.firstIndex { $0 === machine } ?? 0, message.id))
    } catch let error as DMError where error.code == .nonceConflict {}
  }

  /// Attachments of one or two sizes: new ones, or those of a message that the machine has.
  private func attachments(of machine: SimulatedMachine) throws -> [Identifier] {
    if dice.chance(30) {
      for conversation in try machine.messenger.conversations() {
        if let sent = try machine.messenger.attachments(in: .id(conversation.id)).first { return [sent.attachment.id] }
      }
    }
    var options = PreparationOptions()
    options.asFile = true
    return try (0...dice.below(2)).map { _ in
      let bytes = (0..<dice.below(100)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
      return try machine.messenger.prepare(.bytes(bytes), options).attachment.id
    }
  }

  private func act(_ machine: SimulatedMachine, in conversation: ConversationReference) throws {
    let messenger = machine.messenger
    let messages = try messenger.history(HistoryQuery(conversation)).rest()
    let mine = messages.filter { $0.isMine && $0.systemKind == nil }
    let other = try Handle(handles[dice.below(3)])
    switch dice.below(28) {
    case 20...25: try actPrivately(machine, in: conversation, messages.filter { $0.seq != nil })
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
    case 26, 27:
      guard let message = messages.isEmpty ? nil : messages[dice.below(messages.count)] else { return }
      _ = try messenger.edit([Edit(.id(message.id), .pin(dice.chance(60)))])[0].get()
    case 16: _ = try messenger.add([other], to: conversation, withHistory: dice.chance(50))
    case 17: _ = try messenger.remove([other], from: conversation)
    case 18: _ = try dice.chance(30) ? messenger.leave(conversation) : messenger.setTitle("ops", of: conversation)
    default: _ = try messenger.setTitle("title \(said)", of: conversation)
    }
  }

  /// An act that only the person's own machines learn of.
  private func actPrivately(
    _ machine: SimulatedMachine, in conversation: ConversationReference, _ messages: [Message]
  ) throws {
    let messenger = machine.messenger
    said += 1
    let message = messages.isEmpty ? nil : messages[dice.below(messages.count)]
    let seq = message?.seq
    var options = Messenger.MarkOptions()
    switch dice.below(9) {
    case 0: _ = try messenger.change(.pinned(dice.chance(50)), in: [conversation])
    case 1: _ = try messenger.change(.archived(dice.chance(50)), in: [conversation])
    case 2: _ = try messenger.change(dice.chance(50) ? .muted(for: nil) : .unmuted, in: [conversation])
    case 3: _ = try messenger.change(.draft(dice.chance(70) ? "draft \(said)" : nil), in: [conversation])
    case 4: _ = try messenger.change(.named(dice.chance(70) ? "name \(dice.below(3))" : nil), in: [conversation])
    case 5:
      guard dice.chance(20) else { return }
      var query = HistoryQuery(conversation)
      (query.includesDeleted, query.limit) = (true, nil)
      let absent = try absent(machine, conversation)
      let all = try messenger.history(query).rest().filter { $0.seq != nil }.map(\.id) + absent
      _ = try messenger.change(.deleted, in: [conversation])
      deletedForSelf[machine.handle, default: []].formUnion(all)
      deletedUnseen[machine.handle, default: []].formUnion(absent)
    case 6:
      guard let message else { return }
      _ = try messenger.edit([Edit(.id(message.id), .delete(forEveryone: false))])[0].get()
      deletedForSelf[machine.handle, default: []].insert(message.id)
    case 7:
      options.isPrivate = true
      if let seq { _ = try messenger.markRead(.ranges([RangeReference(from: 1, to: seq)]), in: conversation, options) }
    default:
      options.act = .unread
      if let seq {
        _ = try messenger.markRead(.ranges([RangeReference(from: seq, to: nil)]), in: conversation, options)
      }
    }
  }
}
