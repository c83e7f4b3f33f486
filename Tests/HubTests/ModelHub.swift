@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import TestSupport

/// A hub in memory that follows the protocol: PostgreSQL is compared with it, and simulations run on it.
///
/// It is a value, so a copy of it is a backup.
struct ModelHub {
  struct Person {
    let id: Int64
    let handle: String
    var profile: [UInt8]?
    var showsPresence = true
    let createdAt: Timestamp
    var rev: Int64
    var isDisabled = false
    /// The last rev of the person's own states.
    var ownRev: Int64 = 0
    var ownStates: [Identifier: HubOwnState] = [:]
    var ownEpochs: [Identifier: Identifier] = [:]
  }

  struct Member {
    var sees: VisibleRevs
    var since: Int64
    var isOwner = false
    var read: [SeqRange] = []
    var deliveredSeq = 0

    /// The last rev that the member sees, if `rev` is the last rev of the conversation.
    func last(of rev: Int64) -> Int64 { sees.isOpen ? rev : (sees.ranges.last?.upperBound ?? 1) - 1 }
  }

  struct Conversation {
    let id: Identifier
    let isGroup: Bool
    var entries: [HubEntry] = []
    var seq = 0
    var members: [Int64: Member] = [:]
    var expireAfter: Int64?
    /// The numbers of the pinned messages.
    var pinned: Set<Int> = []
    /// The values of `moves` at the last change of the conversation and, in `ended`, at the last entry of each former
    /// member.
    var touched: Int64
    var ended: [Int64: Int64] = [:]
    /// The revs of entries that a damaged hub has lost.
    var lost: Set<Int64> = []

    var rev: Int64 { Int64(entries.count) }
    func entry(_ rev: Int64) -> HubEntry? {
      entries.isEmpty || !(1...self.rev).contains(rev) || lost.contains(rev) ? nil : entries[Int(rev - 1)]
    }
  }

  /// An operation that was carried out; recognizes the operation if it is pushed again.
  struct Done {
    let act: Outbox.Act
    let conversation: Identifier
    let rev: Int64
    /// Nil after the payload was erased.
    var digest: Int?
  }

  struct DoneKey: Hashable {
    let person: Int64
    let nonce: Identifier
  }

  let id = Identifier(high: 1, low: 1)
  var epoch = Identifier(high: 2, low: 1)
  var startedAt = Timestamp(microseconds: 1)
  /// The messages that each person has reported.
  var reports: [Int64: Set<Identifier>] = [:]
  var isStandby = false
  /// The time until which every push is over the quota; nil if none is.
  var retryAt: Timestamp?
  var persons: [Int64: Person] = [:]
  var machines: [Identifier: Int64] = [:]
  var peopleRev: Int64 = 0
  var conversations: [Identifier: Conversation] = [:]
  var done: [DoneKey: Done] = [:]
  var messageIDs: Set<Identifier> = []
  /// The number of changes, which is also the horizon of a comparison.
  var moves: Int64 = 1
  /// The clock, in microseconds; each entry advances it.
  var clock: Int64 = 1_700_000_000_000_000
  var random: SplitMix64
  /// The stamp of each machine's store.
  private var stamps: [Identifier: Identifier] = [:]
  var signals = ModelSignals()
  var files = ModelFiles()

  init(seed: UInt64 = 1) { random = SplitMix64(seed: seed) }

  mutating func randomID() -> Identifier { Identifier(high: random.next(), low: random.next()) }

  /// Adds a machine of the person with a handle; adds the person first if there is none.
  mutating func invite(_ handle: String) -> Identifier {
    let machine = randomID()
    if let person = persons.values.first(where: { $0.handle == handle }) {
      machines[machine] = person.id
      return machine
    }
    let id = Int64(random.next() >> 11) + 1
    peopleRev += 1
    persons[id] = Person(
      id: id, handle: handle, createdAt: Timestamp(microseconds: clock), rev: peopleRev)
    machines[machine] = id
    return machine
  }

  func person(named handle: Handle) -> Person? {
    persons.values.first { $0.handle == handle.description && !$0.isDisabled }
  }

  // MARK: Reading

  func hello(_ machine: Identifier) throws -> HubHello {
    guard let id = machines[machine], let person = persons[id], !person.isDisabled else {
      throw HubFault.refused("not a member")
    }
    var hello = HubHello(
      hub: self.id, epoch: epoch, startedAt: startedAt, isStandby: isStandby, person: id, handle: person.handle,
      machine: machine, now: Timestamp(microseconds: clock), peopleRev: peopleRev)
    (hello.hasFiles, hello.hasOwnStates, hello.hasStamps, hello.hasPages) = (true, true, true, true)
    return hello
  }

  mutating func restamp(_ machine: Identifier, held: [Identifier], next: Identifier) -> Bool {
    let had = stamps.updateValue(next, forKey: machine)
    return had.map { $0 == next || held.contains($0) } ?? true
  }

  func changed(_ machine: Identifier, since horizon: String?) throws -> HubComparison {
    let me = try hello(machine).person
    let since = horizon.flatMap { Int64($0) }.flatMap { $0 > moves ? nil : $0 }
    let moved = conversations.values.filter { conversation in
      guard conversation.members[me] != nil else { return false }
      return since.map { (conversation.ended[me] ?? conversation.touched) >= $0 } ?? true
    }
    return HubComparison(
      horizon: String(moves), peopleRev: peopleRev, ownRev: persons[me]?.ownRev ?? 0,
      conversations: moved.sorted { $0.id < $1.id }.compactMap { conversation in
        conversation.members[me].map { member in
          let last = member.last(of: conversation.rev)
          return HubComparison.Conversation(
            id: conversation.id, rev: last, mark: conversation.entry(last)?.mark, sees: member.sees)
        }
      })
  }

  func pull(_ machine: Identifier, _ pull: HubPull, limit: Int) throws -> HubBatch? {
    let me = try hello(machine).person
    guard let conversation = conversations[pull.conversation], let member = conversation.members[me] else { return nil }
    if let mark = pull.mark, conversation.entry(pull.rev)?.mark != mark {
      return isStandby ? nil : .fork(conversation.id)
    }
    let entries = conversation.entries.filter {
      $0.rev > pull.rev && member.sees.contains($0.rev) && !conversation.lost.contains($0.rev)
    }.prefix(limit)
    return entries.isEmpty ? nil : .entries(entries.map { seen($0, of: conversation, by: member) })
  }

  func page(_ machine: Identifier, of id: Identifier, _ seqs: SeqRange) throws -> [HubEntry] {
    let me = try hello(machine).person
    guard let conversation = conversations[id], let member = conversation.members[me] else { return [] }
    let asked = conversation.entries.filter { $0.seq.map(seqs.contains) == true && member.sees.contains($0.rev) }
      .map { seen($0, of: conversation, by: member) }
    let said = asked.filter { $0.kind.map { $0.rawValue < 16 } == true }
    let there = Set(said.filter { $0.payload != nil }.compactMap(\.seq))
    return asked.filter { entry in
      switch entry.kind {
      case .edited: there.contains(entry.seq ?? 0) && entry.payload != nil
      case .reaction:
        there.contains(entry.seq ?? 0)
          && !asked.contains {
            ($0.kind, $0.seq, $0.actor) == (.reaction, entry.seq, entry.actor) && $0.rev > entry.rev
          }
      default: entry.kind.map { $0.rawValue < 16 } == true
      }
    }
  }

  /// An entry as a member gets it.
  private func seen(_ entry: HubEntry, of conversation: Conversation, by member: Member) -> HubEntry {
    var entry = entry
    let now = Timestamp(microseconds: clock)
    if entry.kind == .edited || entry.kind == .reaction {
      let target = conversation.entries.first { $0.seq == entry.seq && $0.kind.map { $0.rawValue < 16 } == true }
      let isSeen = target.map { member.sees.contains($0.rev) && !$0.hasExpired(now) } ?? false
      if entry.kind == .edited { entry.payload = isSeen ? target?.payload : nil }
      let isSaidLater = conversation.entries.contains {
        $0.kind == .edited && $0.seq == entry.seq && $0.rev > entry.rev && member.sees.contains($0.rev)
      }
      if !isSeen || entry.kind == .edited && isSaidLater { entry.payload = nil }
    } else if entry.hasExpired(now) {
      entry.payload = nil
    }
    return entry
  }

  func people(_ machine: Identifier, after rev: Int64) throws -> [HubPerson] {
    _ = try hello(machine)
    return persons.values.filter { $0.rev > rev }.sorted { $0.rev < $1.rev }.map {
      HubPerson(
        id: $0.id, handle: $0.handle, profile: $0.profile, showsPresence: $0.showsPresence, createdAt: $0.createdAt,
        rev: $0.rev, isDisabled: $0.isDisabled)
    }
  }

  func members(_ machine: Identifier, of id: Identifier) throws -> [HubMember] {
    let me = try hello(machine).person
    guard let conversation = conversations[id], conversation.members[me]?.sees.isOpen == true else { return [] }
    return conversation.members.filter { $0.value.sees.isOpen }.map { person, member in
      HubMember(person: person, isOwner: member.isOwner, since: member.since)
    }.sorted { ($0.since, $0.person) < ($1.since, $1.person) }
  }

  func member(_ handle: String, of id: Identifier) -> Member? {
    persons.values.first { $0.handle == handle }.flatMap { conversations[id]?.members[$0.id] }
  }

  // MARK: Restoring

  /// Returns to an earlier state, as after a restore; machines keep what they have pulled.
  mutating func restore(_ backup: ModelHub) {
    let (random, clock, moves) = (random, clock, moves)
    self = backup
    (self.random, self.clock, self.moves) = (random, clock, moves + 1)
    epoch = randomID()
    // A backup has no signals.
    signals = ModelSignals()
  }
}

extension HubEntry {
  func hasExpired(_ now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
}
