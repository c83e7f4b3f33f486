@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

// Machines that keep only few messages.

extension Simulation {
  /// Lets a machine keep only the last messages of each conversation, and remove the others.
  func keepFewer(_ machine: SimulatedMachine) throws {
    if dice.chance(50) { try machine.messenger.keep(dice.chance(80) ? .last(1 + dice.below(4)) : nil) }
    // A machine removes a message only after it was read, and after the hub has the message and the own states about
    // it.
    if dice.chance(60) { _ = try machine.messenger.markReadEverywhere(.all) }
    for _ in 0..<3 { try machine.sync() }
    try machine.trim()
    if dice.chance(50) { try machine.readBelowFloors() }
  }

  /// Lets some machines keep only few messages, after all stores agree.
  func keepFewer() throws {
    let few = machines.filter { _ in dice.chance(50) }
    for machine in few {
      try machine.messenger.keep(.last(1 + dice.below(4)))
      _ = try machine.messenger.markReadEverywhere(.all)
    }
    _ = try settle()
    for machine in few { try machine.trim() }
  }

  /// Adds a machine of a person; from the start, the machine keeps only few messages.
  func addMachine() throws {
    let machine = try SimulatedMachine(hub, handles[dice.below(3)], .all, seed: dice.next())
    try machine.messenger.keep(.last(1 + dice.below(4)))
    machines.append(machine)
    try machine.sync()
  }

  /// The ids of the messages that a machine has not kept.
  func absent(_ machine: SimulatedMachine, _ conversation: ConversationReference) throws -> [Identifier] {
    let store = try machine.messenger.linkedStore().0
    guard case .id(let id) = conversation, let row = try store.conversations.row(id), row.lastSeq > 0 else { return [] }
    return try store.hubFloors.absent(1...row.lastSeq, in: row.key).joined().compactMap { seq in
      machine.removed[row.key]?[seq] ?? hub.model.conversations[id]?.entries.first { $0.seq == seq }?.id
    }
  }

  /// Lets each machine fetch the messages that it has not kept.
  ///
  /// A fetched message that the person had deleted for themselves is hidden again, which changes the own state.
  func fillFloors() throws {
    for machine in machines {
      try machine.readBelowFloors()
      try machine.settle()
    }
    _ = try settle()
  }
}
