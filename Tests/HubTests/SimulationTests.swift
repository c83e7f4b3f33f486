import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// What must hold whatever the network, the hub and the machines do.
struct SimulationTests {
  /// The seeds: few in `make test`, and in `make torture` thousands.
  static let count = SplitMix64.isTorture ? 10_000 : 60

  @Test func `stores and hub agree after everything that can go wrong`() throws {
    for seed in 0..<UInt64(Self.count) {
      let simulation = try Simulation(seed: SplitMix64.seed &+ seed, faults: .all)
      do {
        try simulation.run(steps: 120)
        try simulation.settle()
        try simulation.check()
      } catch {
        Issue.record("\(error), seed \(seed)")
        return
      }
    }
  }
}

/// A violation of what must hold.
struct Violation: Error, CustomStringConvertible {
  let description: String
}

extension Simulation {
  static let isTraced = ProcessInfo.processInfo.environment["DM_TRACE"] == "1"

  /// Compares each store with what the hub has for its person.
  func check() throws {
    for machine in machines {
      let store = try #require(try machine.messenger.existingStore())
      let pending = try store.outbox.pending().filter { $0.state != .refused }
      if Self.isTraced, !pending.isEmpty {
        for conversation in hub.model.conversations.values { trace(conversation) }
        print(try store.hubConversations.all(), try store.hub.row() as Any)
      }
      if !pending.isEmpty { throw Violation(description: "\(machine.handle): \(pending) wait for ever") }
      for conversation in hub.model.conversations.values {
        try check(machine, conversation)
      }
      let findings = try machine.store.upkeep.check(deep: false).findings
      if !findings.isEmpty { throw Violation(description: "\(machine.handle): \(findings)") }
    }
  }

  private func trace(_ conversation: ModelHub.Conversation) {
    print(conversation.id)
    for entry in conversation.entries {
      print(
        entry.rev, entry.seq ?? 0, entry.kind.map { "\($0)" } ?? "-", persons(entry.actor),
        entry.nonce.map(\.description) ?? "", String(decoding: entry.payload ?? [], as: UTF8.self),
        String(decoding: entry.meta.json, as: UTF8.self))
    }
  }

  private func persons(_ id: Int64) -> String { hub.model.persons[id]?.handle ?? "" }

  private func check(_ machine: SimulatedMachine, _ conversation: ModelHub.Conversation) throws {
    guard let me = hub.model.persons.values.first(where: { $0.handle == machine.handle }),
      let member = conversation.members[me.id]
    else { return }
    // What was edited or deleted while a person was away does not come to them.
    guard member.sees.isOpen, member.sees.stretches.count == 1 else { return }
    let expected = hub.model.shown(conversation, to: member)
    var query = HistoryQuery(.id(conversation.id))
    query.includesDeleted = true
    let shown = try machine.messenger.history(query).rest().filter { $0.seq != nil }.map { message in
      let reactions = message.reactions.flatMap { reaction in reaction.users.map { "\($0)\(reaction.emoji)" } }.sorted()
      let text = message.systemKind?.rawValue ?? (message.deletedAt == nil ? message.text ?? "" : "gone")
      return "\(message.number) \(message.sender) \(text) \(reactions.joined())"
    }
    if shown != expected {
      if Simulation.isTraced {
        trace(conversation)
        print(shown.joined(separator: "\n"), "---", expected.joined(separator: "\n"), separator: "\n")
      }
      let first = zip(shown, expected).first { $0 != $1 }
      throw Violation(
        description:
          "\(machine.handle) sees \(shown.count), the hub has \(expected.count); first \(String(describing: first))")
    }
  }
}

extension ModelHub {
  /// The messages of a conversation as a member sees them, a line each.
  fileprivate func shown(_ conversation: Conversation, to member: Member) -> [String] {
    conversation.entries.filter { $0.kind.map { $0.rawValue < 16 } == true && member.sees.contains($0.rev) }.map {
      entry in
      var reactions: [Int64: String] = [:]
      for other in conversation.entries
      where other.kind == .reaction && other.seq == entry.seq && member.sees.contains(other.rev) {
        reactions[other.actor] = HubPayload.emoji(other.payload)
      }
      let isGone = entry.kind == .message && entry.payload == nil
      let text =
        switch entry.kind {
        case .created: "conversation_created"
        case .joined: "user_joined"
        case .left: "user_left"
        case .titled: "title_changed"
        default: isGone ? "gone" : HubPayload.text(entry.payload)?.text ?? ""
        }
      let told = isGone ? [] : reactions.map { "\(persons[$0.key]?.handle ?? "")\($0.value)" }.sorted()
      return "\(entry.seq ?? 0) \(persons[entry.actor]?.handle ?? "") \(text) \(told.joined())"
    }
  }
}
