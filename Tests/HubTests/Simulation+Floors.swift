@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

// Machines that keep only few messages.

extension Simulation {
  /// Has a machine keep only the last messages of each conversation, and remove others.
  func keepFewer(_ machine: SimulatedMachine) throws {
    if dice.chance(50) { try machine.messenger.keep(dice.chance(80) ? .last(1 + dice.below(4)) : nil) }
    // Only what was read can go, and only once the hub has it and all that was decided about it.
    if dice.chance(60) { _ = try machine.messenger.markReadEverywhere(.all) }
    for _ in 0..<3 { try machine.sync() }
    try machine.trim()
    if dice.chance(50) { try machine.readBelowFloors() }
  }

  /// Has some machines keep only few messages, once all agree.
  func keepFewer() throws {
    let few = machines.filter { _ in dice.chance(50) }
    for machine in few {
      try machine.messenger.keep(.last(1 + dice.below(4)))
      _ = try machine.messenger.markReadEverywhere(.all)
    }
    _ = try settle()
    for machine in few { try machine.trim() }
  }

  /// Adds a machine of a person that keeps only few messages from the start.
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

  /// Has each machine fetch the messages that it has not kept.
  func fillFloors() throws {
    for machine in machines {
      try machine.readBelowFloors()
      try machine.settle()
    }
  }
}
