import FoundationEssentials
import Synchronization
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Guarantees that must hold whatever the network, the hub and the machines do.
struct SimulationTests {
  /// In `make test`, a hundred seeds that are always the same and a hundred that change daily; in `make torture`,
  /// thousands.
  ///
  /// `DM_SEED` sets the first seed, and `DM_SEEDS` the number of seeds.
  static let seeds: [UInt64] = {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["DM_SEEDS"].flatMap { UInt64($0) } ?? (SplitMix64.isTorture ? 10_000 : 100)
    let isChosen = environment["DM_SEED"] != nil || SplitMix64.isTorture
    let starts = [SplitMix64.seed] + (isChosen ? [] : [SplitMix64.seedOfTheDay])
    print("the seeds are \(count) from \(starts)")
    return starts.flatMap { start in (0..<count).map { start &+ $0 } }
  }()

  /// The maximum number of connections of each machine, after the last fault, until there was nothing to do.
  private static let mostRounds = Mutex(0)
  /// How many messages all machines together had not kept at the end.
  private static let absent = Mutex(0)

  /// The seeds are divided among four tests, which run at the same time.
  @Test(arguments: 0..<4) func `stores and hub agree after random faults`(part: Int) throws {
    for index in stride(from: part, to: Self.seeds.count, by: 4) {
      guard try holds(Self.seeds[index]) else { return }
    }
    print("\(Self.absent.withLock { $0 }) messages were on the hub alone")
    print("after the last fault, all agreed within \(Self.mostRounds.withLock { $0 }) connections of each machine")
  }

  @Test(
    arguments: [
      705_273, 80_002_235, 80_007_038, 90_006_065, 860_798_809, 1_518_044_689, 1_518_043_987, 31_197, 31_319, 2_001_619,
      2_007_732, 3_005_813, 8_000_998, 8_001_036, 8_001_746, 9_005_763,
      15_006_151,
    ] as [UInt64])
  func `seeds that once found a bug pass`(seed: UInt64) throws { _ = try holds(seed) }

  /// Runs the simulation of a seed, and records a violation; false if there was one.
  private func holds(_ seed: UInt64) throws -> Bool {
    let simulation = try Simulation(seed: seed, faults: .all, isSetBack: seed % 2 == 1)
    do {
      try simulation.run(steps: 120)
      let rounds = try simulation.settle()
      Self.mostRounds.withLock { $0 = max($0, rounds) }
      if seed % 4 < 2 { try simulation.keepFewer() }
      let absent = try simulation.checkFloors()
      Self.absent.withLock { $0 += absent }
      try simulation.fillFloors()
      try simulation.check()
      try simulation.checkSignals(.all)
      return true
    } catch {
      Issue.record("\(error), seed \(seed), \(simulation.restores) restores")
      return false
    }
  }
}

/// A violation of a guarantee.
struct Violation: Error, CustomStringConvertible {
  let description: String
}

extension Simulation {
  static let isTraced = ProcessInfo.processInfo.environment["DM_TRACE"] == "1"

  /// Checks that each store is right before it fetches the messages that it has not kept.
  ///
  /// - Returns: how many messages the stores have not kept.
  func checkFloors() throws -> Int {
    var absent = 0
    for machine in machines {
      let store = try machine.messenger.linkedStore().0
      for conversation in try store.hubFloors.all() {
        let floor = try store.hubFloors.row(conversation)?.seq ?? 1
        absent += try store.hubFloors.absent(1...floor, in: conversation).reduce(0) { $0 + $1.count }
      }
      let findings = try machine.store.upkeep.check(deep: true).findings
      if !findings.isEmpty { throw Violation(description: "\(machine.handle), with floors: \(findings)") }
    }
    return absent
  }

  /// Compares each store with what the hub has for its person.
  func check() throws {
    for machine in machines {
      let store = try #require(try machine.messenger.existingStore())
      // Operations that are pushed again after a restore may wait until the hub has their conversation or person again.
      // Later operations of the same conversation wait with them.
      let all = try store.outbox.pending().filter { $0.state != .refused }
      let excused = try restores == 0 ? [] : all.filter { try $0.isRepeated || isGone($0, store) }
      let pending = all.filter { operation in
        !excused.contains {
          $0.key == operation.key || $0.target != nil && $0.target == operation.target
            || $0.key < operation.key && $0.conversation == operation.conversation
              && ![.read, .delivered].contains(operation.act)
        }
      }
      if Self.isTraced, !pending.isEmpty {
        for conversation in hub.model.conversations.values { trace(conversation) }
        try traceStore(machine)
      }
      if !pending.isEmpty { throw Violation(description: "\(machine.handle): \(pending) wait for ever") }
      for conversation in hub.model.conversations.values {
        try check(machine, conversation)
      }
      if try restores == 0 && store.hub.row()?.copiedAt != nil {
        throw Violation(description: "\(machine.handle): the store counts as copied")
      }
      try checkSent(machine, store)
      try checkOwnStates(machine, store)
      try checkFiles(machine, store)
      let findings = try machine.store.upkeep.check(deep: true).findings
      if Self.isTraced, !findings.isEmpty { hub.model.conversations.values.forEach(trace) }
      if !findings.isEmpty { throw Violation(description: "\(machine.handle): \(findings)") }
    }
  }

  /// Whether the hub has lost the conversation of an operation.
  private func isGone(_ operation: Outbox.Row, _ store: Store) throws -> Bool {
    try operation.conversation.map { try store.hubConversations.row($0) == nil } ?? false
  }

  /// Checks that no message is lost: each one is on the hub, or waits, or was refused or deleted.
  private func checkSent(_ machine: SimulatedMachine, _ store: Store) throws {
    for (index, id) in sent where machines[index] === machine {
      let hubID = try store.waiting.alias(id) ?? id
      let isOnHub = hub.model.conversations.values.contains { $0.entries.contains { $0.id == hubID } }
      let operation = try store.outbox.pending().contains { $0.target == id || $0.target == hubID }
      if isOnHub || operation { continue }
      // The message may have been deleted, before the hub had it or later.
      let bytes = "x'\(id.description.replacing("-", with: ""))', x'\(hubID.description.replacing("-", with: ""))'"
      let deletions =
        "SELECT count(*) FROM outbox WHERE target IN (\(bytes)) AND (act = 3 OR act = 1 AND state = 4 AND rev IS NULL)"
      // Another machine of the person may have deleted it.
      let own = machines.filter { $0.handle == machine.handle }
      if try own.contains(where: { try $0.store.integers(deletions) != [[0]] }) { continue }
      if Self.isTraced {
        hub.model.conversations.values.forEach(trace)
        try traceStore(machine)
      }
      throw Violation(description: "\(machine.handle): \(id) is lost")
    }
  }

  /// The messages of others in a conversation that a user has read, without those that were deleted for everyone.
  private func read(_ conversation: ConversationKey, of user: UserKey, _ machine: SimulatedMachine) throws -> [SeqRange]
  {
    let seqs = try machine.store.integers(
      """
      SELECT m.seq FROM message m JOIN read_range r ON r.conversation = m.conversation
        AND m.seq BETWEEN r.from_seq AND r.to_seq
      WHERE m.conversation = \(conversation.number) AND r.user = \(user.number) AND m.sender <> \(user.number)
        AND m.deleted_at IS NULL ORDER BY m.seq
      """)
    return coalesced(seqs.compactMap { $0.first ?? nil }.map { Int($0)...Int($0) })
  }

  /// Checks that a person's own states are the same on all their machines.
  private func checkOwnStates(_ machine: SimulatedMachine, _ store: Store) throws {
    guard let first = machines.first(where: { $0.handle == machine.handle }), first !== machine,
      let other = try first.messenger.existingStore()
    else { return }
    func states(_ machine: SimulatedMachine, _ store: Store) throws -> [String] {
      guard let me = try store.users.key(Handle(machine.handle)) else { return [] }
      let session = Session(machine.messenger, store, me)
      return try hub.model.conversations.keys.sorted().compactMap { id -> String? in
        guard let row = try store.conversations.row(id), let log = try store.hubConversations.row(row.key) else {
          return nil
        }
        var state = try session.ownState(of: row.key)
        // A former member does not see their own receipts, so a machine cannot tell which messages another machine has
        // read with a receipt. Deleted messages are left out, too: one machine may have the text, and another a
        // tombstone, which counts as read by all; or one may show a message as deleted, and another hide it.
        let erased = hub.model.conversations[id]?.entries.filter { $0.kind == .message && $0.payload == nil } ?? []
        let gone = erased.compactMap { entry in entry.seq.map { $0...$0 } }
        if !log.sees.isOpen { state.read = difference(of: try read(row.key, of: me, machine), minus: gone) }
        state.hidden = difference(of: state.hidden, minus: gone)
        let name = try store.conversations.ownName(of: me, for: row.key)
        return "\(id) \(String(decoding: state.bytes, as: UTF8.self)) shown as \(name ?? "-")"
      } + [String(decoding: session.ownState(of: nil).bytes, as: UTF8.self)]
    }
    let (mine, others) = try (states(machine, store), states(first, other))
    if mine != others {
      let differences = zip(mine, others).filter { $0 != $1 }.map { "\($0)\n\($1)" }
      if Self.isTraced {
        hub.model.conversations.values.forEach(trace)
        for machine in [machine, first] {
          try traceStore(machine)
        }
      }
      throw Violation(description: "\(machine.handle)'s machines differ:\n\(differences.joined(separator: "\n"))")
    }
  }

  /// Checks that each attachment of a message that a person sees can be fetched.
  ///
  /// A deep check compares the content of the attachment with the hash.
  private func checkFiles(_ machine: SimulatedMachine, _ store: Store) throws {
    for conversation in try machine.messenger.conversations() {
      guard let member = hub.model.member(machine.handle, of: conversation.id), member.sees.isOpen else { continue }
      for sent in try machine.messenger.attachments(in: .id(conversation.id)) where sent.message.seq != nil {
        guard let key = try store.attachments.row(sent.attachment.id)?.key,
          let file = try store.hubAttachments.files(of: key)?.file
        else { throw Violation(description: "\(machine.handle): the attachment \(sent.attachment.id) has no file") }
        if machine.messenger.location.contents.size(of: sent.attachment.sha256) != nil { continue }
        try store.write {
          try store.hubFiles.set(
            isWanted: true, of: HubFiles.Key(id: file, hash: sent.attachment.sha256, size: sent.attachment.sizeBytes))
        }
        try machine.carryFiles()
        if machine.messenger.location.contents.size(of: sent.attachment.sha256) == nil {
          throw Violation(description: "\(machine.handle): the file \(file) of \(sent.message.id) does not come")
        }
      }
    }
  }

  private func traceStore(_ machine: SimulatedMachine) throws {
    let operations = """
      SELECT id || ' act ' || act || ' state ' || state || ' in ' || coalesce(conversation, '-') || ' about '
        || coalesce(hex(target), '-') || ' ' || coalesce(fault, '-') || ' rev ' || coalesce(rev, '-') || ' ' || arguments
      FROM outbox
      """
    for line in try machine.store.texts(operations) { print(line) }
    print(
      try machine.store.integers(
        "SELECT conversation, user, from_seq, to_seq, is_deleted, is_unseen FROM hidden_range"))
    print(
      try machine.store.texts("SELECT conversation || ' ' || rev || ' ' || known || ' ' || sees FROM hub_conversation"))
    let ownStates = """
      SELECT coalesce(conversation, 0) || ' ' || rev || ' changed ' || is_changed || ' '
        || coalesce(CAST(state AS TEXT), '-') FROM hub_own_state
      """
    for line in try machine.store.texts(ownStates) { print(line) }
    let files =
      "SELECT hex(uuid) || ' ' || size_bytes || ' uploaded ' || is_uploaded || ' wanted ' || is_wanted || ' ' || coalesce(fault, '-') FROM hub_file"
    for line in try machine.store.texts(files) { print(line) }
  }

  private func trace(_ conversation: ModelHub.Conversation) {
    print(conversation.id, conversation.members.map { (persons($0.key), $0.value.sees, $0.value.isOwner) })
    for entry in conversation.entries {
      print(
        entry.rev, entry.seq ?? 0, entry.meta.person.map(persons) ?? "", entry.meta.owner.map(persons) ?? "",
        entry.kind.map { "\($0)" } ?? "-", persons(entry.actor),
        entry.nonce.map(\.description) ?? "", String(decoding: entry.payload ?? [], as: UTF8.self),
        entry.meta)
    }
  }

  private func persons(_ id: Int64) -> String { hub.model.persons[id]?.handle ?? "" }

  private func check(_ machine: SimulatedMachine, _ conversation: ModelHub.Conversation) throws {
    guard let me = hub.model.persons.values.first(where: { $0.handle == machine.handle }),
      let member = conversation.members[me.id]
    else { return }
    // A person does not get all edits and deletions from a time when they were away.
    guard member.sees.isOpen, member.sees.ranges.count == 1 else { return }
    let expected = hub.model.shown(conversation, to: member, without: deletedForSelf[machine.handle] ?? [])
    var query = HistoryQuery(.id(conversation.id))
    (query.includesDeleted, query.limit) = (true, nil)
    let deleted = deletedForSelf[machine.handle] ?? []
    let unseen = restores == 0 ? [] : deletedUnseen[machine.handle] ?? []
    let shown = try machine.messenger.history(query).rest().filter { message in
      // A message that its sender deleted may be shown as deleted although the person had hidden it.
      message.seq != nil && !unseen.contains(message.id) && (message.deletedAt == nil || !deleted.contains(message.id))
    }.map { message in
      let reactions = message.reactions.flatMap { reaction in reaction.users.map { "\($0)\(reaction.emoji)" } }.sorted()
      let text = message.systemKind?.rawValue ?? (message.deletedAt == nil ? message.text ?? "" : "gone")
      let pinned = message.pin.map { " pinned by \($0.user)" } ?? ""
      return "\(message.number) \(message.sender) \(text) \(reactions.joined())\(pinned)"
    }
    if shown != expected {
      if Simulation.isTraced {
        trace(conversation)
        for same in machines where same.handle == machine.handle { try traceStore(same) }
        print(shown.joined(separator: "\n"), "---", expected.joined(separator: "\n"), separator: "\n")
      }
      let first = zip(shown, expected).first { $0 != $1 }
      throw Violation(
        description:
          "\(machine.handle) sees \(shown.count), the hub has \(expected.count); first \(String(describing: first))")
    }
  }
}
