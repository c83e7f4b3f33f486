import Testing

@testable import DMKit
@testable import DMModel
@testable import DMPostgres
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Compares the model of the hub, on which the simulations run, with PostgreSQL: both get the same operations.
struct DifferentialTests {
  @Test(arguments: 1...20) func `the model of the hub answers as PostgreSQL does`(seed: UInt64) throws {
    var run = try DifferentialRun(seed: seed)
    for _ in 0..<20 { try run.sequence() }
  }
}

/// A random run of operations on both hubs.
struct DifferentialRun {
  private static let handles = ["alice", "bob", "carol", "dave", "erin"]

  private let postgres: PostgresHub
  private let model = SharedHub()
  private var links: [(handle: String, postgres: PQHubLink, model: ModelLink)] = []
  private var random: SplitMix64
  /// Common names for the ids that each hub chooses itself, by the ids of PostgreSQL and by the ids of the model.
  private var names = (postgres: [Identifier: String](), model: [Identifier: String]())
  /// The ids that the hubs chose instead of an id that was already used: the model's id by the id of PostgreSQL.
  private var others: [Identifier: Identifier] = [:]
  private var persons = (postgres: [Int64: String](), model: [Int64: String]())
  private var conversations: [Identifier] = []
  private var messages: [Target] = []
  private var pushed: [(machine: Int, operation: HubOperation)] = []

  private struct Target {
    let conversation: Identifier
    let seq: Int
    let id: Identifier
  }

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    postgres = try PostgresHub()
    // Alice has two machines.
    for handle in Self.handles + ["alice"] {
      let link = (handle, try postgres.link(handle), ModelLink(model, model.model.invite(handle)))
      let hellos = (try link.1.open(), try link.2.open())
      names.postgres[hellos.0.machine] = "machine \(links.count)"
      names.model[hellos.1.machine] = "machine \(links.count)"
      persons.postgres[hellos.0.person] = handle
      persons.model[hellos.1.person] = handle
      links.append((handle, link.1, link.2))
    }
  }

  private mutating func id() -> Identifier { Identifier(high: random.next(), low: random.next()) }

  /// Pushes some operations, and then compares what each machine sees of the conversations that they changed.
  mutating func sequence() throws {
    for _ in 0..<10 {
      let machine = Int.random(in: 0..<links.count, using: &random)
      let operations = (0..<Int.random(in: 1...4, using: &random)).map { _ in operation(machine) }
      let answers = (
        try links[machine].postgres.exchange(operations, pulling: [], limit: 1) { _ in },
        try links[machine].model.exchange(operations.map(inModel), pulling: [], limit: 1) { _ in }
      )
      for (operation, (postgres, model)) in zip(operations, zip(answers.0, answers.1)) {
        #expect(postgres.fault == model.fault, "\(operation)")
        #expect(postgres.rev == model.rev && postgres.isDuplicate == model.isDuplicate, "\(operation)")
        #expect(postgres.conversation == model.conversation, "\(operation)")
        #expect((postgres.id == nil) == (model.id == nil), "\(operation)")
        if operation.act == .say, let id = postgres.id, let other = model.id, id != other {
          others[id] = other
          names.postgres[id] = "other \(others.count)"
          names.model[other] = "other \(others.count)"
        }
        pushed.append((machine, operation))
        if [.begin, .group].contains(operation.act), let id = postgres.conversation, !conversations.contains(id) {
          conversations.append(id)
        }
      }
    }
    let touched = conversations.suffix(6)
    for machine in links.indices { try compare(machine, Array(touched)) }
    try exchangeOwnStates(Array(touched))
    if conversations.count > 12 { conversations.removeFirst(conversations.count - 12) }
    messages = Array(messages.suffix(60))
    pushed = Array(pushed.suffix(60))
  }

  private func inModel(_ operation: HubOperation) -> HubOperation {
    var operation = operation
    operation.id = operation.id.map { others[$0] ?? $0 }
    return operation
  }

  // MARK: Operations

  private mutating func operation(_ machine: Int) -> HubOperation {
    // Repeats an earlier operation, with or without a change.
    if Int.random(in: 0..<12, using: &random) == 0, var again = pushed.randomElement(using: &random)?.operation {
      if Bool.random(using: &random) { again.payload = again.payload.map { _ in payload() } }
      if [.say, .group, .edit, .delete, .react, .begin, .pin].contains(again.act) {
        again.arguments.isLax = Bool.random(using: &random)
      }
      return again
    }
    let acts: [Outbox.Act] =
      [.say, .say, .say, .say, .say, .edit, .delete, .react, .read, .read, .delivered]
      + Outbox.Act.allCases.filter { $0.rawValue >= Outbox.Act.begin.rawValue }
    var operation = HubOperation(acts.randomElement(using: &random) ?? .say, nonce: id())
    operation.conversation =
      [.begin, .group].contains(operation.act) || conversations.isEmpty
      ? id() : conversations.randomElement(using: &random)
    if Int.random(in: 0..<40, using: &random) == 0 {
      operation.conversation = conversations.randomElement(using: &random)
    }
    operation.payload = Int.random(in: 0..<15, using: &random) == 0 ? nil : payload()
    argue(&operation)
    bind(&operation, to: links[machine].handle)
    return operation
  }

  /// Gives a new conversation, in most cases, an id with which this person may begin it.
  private mutating func bind(_ operation: inout HubOperation, to handle: String) {
    guard let id = operation.conversation, !conversations.contains(id), random.below(15) > 0 else { return }
    let (time, me) = (Timestamp(microseconds: Int64(random.below(1 << 50))), Handle(stored: handle))
    switch operation.act {
    case .group: operation.conversation = .group(begunBy: me, at: time)
    case .begin: operation.conversation = operation.arguments.handles.first.map { .direct(me, $0, at: time) } ?? id
    default: break
    }
  }

  private mutating func payload() -> [UInt8] {
    HubPayload.text(HubPayload.Text(text: "text \(random.next() % 1000)")).bytes
  }

  private mutating func argue(_ operation: inout HubOperation) {
    if [.say, .edit].contains(operation.act), random.below(4) == 0 {
      operation.arguments.audience = Self.handles.filter { _ in random.below(5) > 0 }.map(Handle.init(stored:))
    }
    switch operation.act {
    case .say:
      operation.id = id()
      if Int.random(in: 0..<20, using: &random) == 0 { operation.id = messages.randomElement(using: &random)?.id }
      if Int.random(in: 0..<6, using: &random) == 0 {
        operation.arguments.lifetime = [0, -1, 999_999, 3_600_000_000, .max].randomElement(using: &random)
      }
    case .edit, .delete, .react, .report, .pin:
      if operation.act == .pin, random.below(15) > 0 { operation.arguments.isPinned = random.below(3) > 0 }
      guard let target = messages.randomElement(using: &random) else { return }
      operation.conversation = target.conversation
      operation.seq = target.seq + (Int.random(in: 0..<10, using: &random) == 0 ? 1 : 0)
      operation.id = target.id
    case .read:
      operation.arguments.ranges = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        let start = Int.random(in: 1...30, using: &random)
        return start...(start + Int.random(in: 0...8, using: &random))
      }
    case .delivered: operation.arguments.seq = Int.random(in: 0...40, using: &random)
    case .begin, .group, .add, .remove:
      let count = operation.act == .begin ? 1 : Int.random(in: 0...3, using: &random)
      operation.arguments.handles = (0..<count).map { _ in
        Handle(typed: (Self.handles + (random.next() % 12 == 0 ? ["nobody"] : [])).randomElement(using: &random) ?? "")
      }
      operation.arguments.hasHistory = operation.act == .add && Bool.random(using: &random)
    case .expire:
      operation.arguments.expireAfter = [nil, .some(nil), 3_600_000_000, 5, .max].randomElement(using: &random) ?? nil
    case .profile: operation.conversation = nil
    case .leave, .title, .avatar: break
    }
  }

  // MARK: Comparing

  private mutating func compare(_ machine: Int, _ ids: [Identifier]) throws {
    let link = links[machine]
    let comparisons = (try link.postgres.compare(since: nil), try link.model.compare(since: nil))
    func seen(_ comparison: HubComparison) -> [String] {
      comparison.conversations.filter { ids.contains($0.id) }.sorted { $0.id < $1.id }.map {
        "\($0.id) \($0.rev) \($0.sees)"
      }
    }
    #expect(seen(comparisons.0) == seen(comparisons.1))
    let since = Bool.random(using: &random) ? 0 : Int64.random(in: 0...10, using: &random)
    for id in ids {
      let pull = [HubPull(conversation: id, rev: since, mark: nil)]
      var pulled = (postgres: [HubEntry](), model: [HubEntry]())
      _ = try link.postgres.exchange([], pulling: pull, limit: 500) { pulled.postgres += entries($0) }
      _ = try link.model.exchange([], pulling: pull, limit: 500) { pulled.model += entries($0) }
      for entry in pulled.postgres {
        if entry.kind == .message, let seq = entry.seq, let message = entry.id {
          messages.append(Target(conversation: id, seq: seq, id: message))
        }
      }
      compare(pulled.postgres, pulled.model)
      let first = Int.random(in: 1...8, using: &random)
      compare(
        try link.postgres.page(of: id, first...(first + 6)), try link.model.page(of: id, first...(first + 6)))
      let kept = Bool.random(using: &random) ? KeptMessages.last(first) : .youngerThan(Int64(first) * 1_000_000)
      let starts = (try link.postgres.starts(of: [id], keeping: kept), try link.model.starts(of: [id], keeping: kept))
      if case .last = kept {
        #expect(starts.0.map(\.floor.seq) == starts.1.map(\.floor.seq) && starts.0.map(\.rev) == starts.1.map(\.rev))
        compare(starts.0.flatMap(\.entries), starts.1.flatMap(\.entries))
      }
      let members = (try link.postgres.members(of: id), try link.model.members(of: id))
      #expect(
        Set(members.0.map { "\(persons.postgres[$0.person] ?? "?") \($0.isOwner) \($0.since)" })
          == Set(members.1.map { "\(persons.model[$0.person] ?? "?") \($0.isOwner) \($0.since)" }))
    }
  }

  private mutating func compare(_ postgres: [HubEntry], _ model: [HubEntry]) {
    name(postgres, &names.postgres)
    name(model, &names.model)
    #expect(
      postgres.map { line($0, names.postgres, persons.postgres) } == model.map { line($0, names.model, persons.model) })
  }

  /// Sends own states, some for conversations of others or with wrong marks, and compares what each hub returns.
  private mutating func exchangeOwnStates(_ ids: [Identifier]) throws {
    let link = links[Int.random(in: 0..<links.count, using: &random)]
    let before = (
      try link.postgres.ownStates(after: 0, [], limit: 1000), try link.model.ownStates(after: 0, [], limit: 1000)
    )
    var given = (postgres: [HubOwnState](), model: [HubOwnState]())
    for id in ids + [HubOwnState.general] where Bool.random(using: &random) {
      let isRight = Int.random(in: 0..<4, using: &random) > 0
      let state = payload()
      func change(_ states: [HubOwnState]) -> HubOwnState {
        let mark = states.first { $0.conversation == id }?.mark
        return HubOwnState(conversation: id, mark: isRight ? mark : Identifier(high: 1, low: 2), state: state)
      }
      given.postgres.append(change(before.0))
      given.model.append(change(before.1))
    }
    let since = Int64.random(in: 0...(before.0.last?.rev ?? 0), using: &random)
    let limit = Int.random(in: 1...5, using: &random)
    func lines(_ states: [HubOwnState]) -> [String] { states.map { "\($0.conversation) \($0.rev) \($0.state)" } }
    let after = (
      try link.postgres.ownStates(after: since, given.postgres, limit: limit),
      try link.model.ownStates(after: since, given.model, limit: limit)
    )
    #expect(lines(before.0) == lines(before.1) && lines(after.0) == lines(after.1))
    #expect(try link.postgres.compare(since: nil).ownRev == link.model.compare(since: nil).ownRev)
  }

  private func entries(_ batch: HubBatch) -> [HubEntry] {
    if case .entries(let entries) = batch { entries } else { [] }
  }

  /// Gives names to the ids of announcements, which each hub chooses itself, by their conversations and revs.
  private func name(_ entries: [HubEntry], _ names: inout [Identifier: String]) {
    for entry in entries where entry.kind.map({ 1...4 ~= $0.rawValue }) == true {
      if let id = entry.id { names[id] = "\(entry.conversation) \(entry.rev)" }
    }
  }

  private func line(_ entry: HubEntry, _ names: [Identifier: String], _ persons: [Int64: String]) -> String {
    func person(_ number: Int64?) -> String { number.flatMap { persons[$0] } ?? "-" }
    let meta = entry.meta
    return [
      "\(entry.rev) \(entry.seq ?? 0) \(person(entry.actor)) \(names[entry.machine] ?? "?")",
      "\(entry.kind.map(String.init(describing:)) ?? "?") \(entry.id.map { names[$0] ?? $0.description } ?? "-")",
      "\(entry.nonce?.description ?? "-") \(entry.expiresAt != nil)",
      "\(meta.members.map(person)) \(person(meta.person)) \(person(meta.owner)) \(meta.ranges)",
      "\(meta.changesExpiry) \(meta.expireAfter ?? 0) \(meta.hasHistory) \(meta.isPinned)",
      entry.payload.map { String(decoding: $0, as: UTF8.self) } ?? "nil",
    ].joined(separator: "|")
  }
}
