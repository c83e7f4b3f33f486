@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import TestSupport

extension ModelHub {
  /// A refusal of one operation.
  struct Refusal: Error {
    let code: String
    init(_ code: String) { self.code = code }
  }

  mutating func push(_ machine: Identifier, _ operations: [HubOperation]) throws -> [HubAnswer] {
    let me = try hello(machine).person
    if isStandby { throw HubFault.readOnly("a standby") }
    if let retryAt {
      return operations.map { HubAnswer(conversation: $0.conversation, fault: "over_quota", retryAt: retryAt) }
    }
    return operations.map { operation in
      do {
        return try push(operation, me, machine)
      } catch let refusal as Refusal {
        return HubAnswer(conversation: operation.conversation, fault: refusal.code)
      } catch {
        return HubAnswer(conversation: operation.conversation, fault: "bad_request")
      }
    }
  }

  private mutating func push(_ operation: HubOperation, _ me: Int64, _ machine: Identifier) throws -> HubAnswer {
    let key = DoneKey(person: me, nonce: operation.nonce)
    if let done = done[key] {
      guard done.act == operation.act, done.conversation == operation.conversation || operation.act == .begin,
        operation.arguments.isLax || done.digest == nil || done.digest == operation.digest
      else { throw Refusal("nonce_conflict") }
      // A former member must not learn of entries from after they left.
      guard conversations[done.conversation]?.members[me]?.sees.contains(done.rev) == true else {
        return HubAnswer(conversation: done.conversation, isDuplicate: true)
      }
      let entry = conversations[done.conversation]?.entry(done.rev)
      return HubAnswer(conversation: done.conversation, id: entry?.id, rev: done.rev, isDuplicate: true)
    }
    switch operation.act {
    case .profile: return profile(operation, me)
    case .begin: return try begin(operation, me, machine)
    case .group: return try group(operation, me, machine)
    default: return try act(operation, me, machine)
    }
  }

  private mutating func profile(_ operation: HubOperation, _ me: Int64) -> HubAnswer {
    peopleRev += 1
    persons[me]?.profile = operation.payload
    if let shows = operation.arguments.showsPresence { persons[me]?.showsPresence = shows }
    persons[me]?.rev = peopleRev
    return HubAnswer()
  }

  // MARK: New conversations

  private mutating func begin(_ operation: HubOperation, _ me: Int64, _ machine: Identifier) throws -> HubAnswer {
    guard let id = operation.conversation, let handle = operation.arguments.handles.first else {
      throw Refusal("bad_request")
    }
    guard let other = person(named: handle) else { throw Refusal("unknown_user") }
    guard id.isDirect(handle, Handle(stored: self.handle(me))) else { throw Refusal("bad_request") }
    let pair = Set([me, other.id])
    if let existing = conversations.values.first(where: { !$0.isGroup && Set($0.members.keys) == pair }) {
      return HubAnswer(conversation: existing.id, isDuplicate: true)
    }
    return try start(operation, id, isGroup: false, pair, me, machine)
  }

  private mutating func group(_ operation: HubOperation, _ me: Int64, _ machine: Identifier) throws -> HubAnswer {
    guard let id = operation.conversation else { throw Refusal("bad_request") }
    let others = operation.arguments.handles.map { person(named: $0)?.id }
    guard !others.contains(nil) else { throw Refusal("unknown_user") }
    guard id.isGroup(begunBy: Handle(stored: handle(me))) else { throw Refusal("bad_request") }
    return try start(operation, id, isGroup: true, Set(others.compactMap(\.self) + [me]), me, machine)
  }

  private mutating func start(
    _ operation: HubOperation, _ id: Identifier, isGroup: Bool, _ members: Set<Int64>, _ me: Int64,
    _ machine: Identifier
  ) throws -> HubAnswer {
    guard conversations[id] == nil else { throw Refusal("id_taken") }
    var conversation = Conversation(id: id, isGroup: isGroup, touched: moves)
    for person in members {
      conversation.members[person] = Member(sees: VisibleRevs(from: 1), since: 1, isOwner: isGroup && person == me)
    }
    var meta = HubEntry.Meta()
    meta.members = members.sorted { handle($0) < handle($1) }
    append(operation, isGroup ? .created : .begun, me, machine, to: &conversation, meta: meta)
    return answer(operation, me, in: conversation)
  }

  func handle(_ person: Int64) -> String { persons[person]?.handle ?? "" }

  // MARK: Acts in a conversation

  private mutating func act(_ operation: HubOperation, _ me: Int64, _ machine: Identifier) throws -> HubAnswer {
    guard let id = operation.conversation, var conversation = conversations[id], var member = conversation.members[me]
    else { throw Refusal("unknown_conversation") }
    let isFormer = !member.sees.isOpen
    if isFormer, ![.read, .delivered, .report].contains(operation.act) { throw Refusal("not_allowed") }
    switch operation.act {
    case .say: try say(operation, me, machine, in: &conversation)
    case .edit, .delete, .react: try change(operation, me, machine, member, in: &conversation)
    case .pin:
      guard try pin(operation, me, machine, member, in: &conversation) else {
        return HubAnswer(conversation: id, isDuplicate: true)
      }
    case .read:
      let new = try unread(operation.arguments.ranges, member, in: conversation)
      if new.isEmpty { return HubAnswer(conversation: id, isDuplicate: true) }
      member.read = coalesced((member.read + new).sorted { $0.lowerBound < $1.lowerBound })
      conversation.members[me] = member
      var meta = HubEntry.Meta()
      meta.ranges = new
      append(operation, .read, me, machine, to: &conversation, meta: meta)
      if isFormer { return HubAnswer(conversation: id) }
    case .delivered:
      guard let wanted = operation.arguments.seq, wanted >= 1 else { throw Refusal("bad_request") }
      let seq = min(wanted, seen(by: member, in: conversation).max() ?? 0)
      if seq <= member.deliveredSeq { return HubAnswer(conversation: id, isDuplicate: true) }
      conversation.members[me]?.deliveredSeq = seq
      append(operation, .delivered, me, machine, to: &conversation, seq: seq)
      if isFormer { return HubAnswer(conversation: id) }
    case .add:
      guard try add(operation, me, machine, to: &conversation) else {
        return HubAnswer(conversation: id, isDuplicate: true)
      }
    case .remove:
      guard conversation.isGroup, member.isOwner else { throw Refusal("not_allowed") }
      let leaving = try persons(operation).filter { conversation.members[$0]?.sees.isOpen == true }
      if leaving.isEmpty { return HubAnswer(conversation: id, isDuplicate: true) }
      for person in leaving { end(person, operation, me, machine, in: &conversation) }
    case .leave:
      guard conversation.isGroup else { throw Refusal("not_allowed") }
      end(me, operation, me, machine, in: &conversation)
    case .title:
      guard conversation.isGroup else { throw Refusal("not_allowed") }
      guard operation.payload != nil else { throw Refusal("bad_request") }
      append(operation, .titled, me, machine, to: &conversation)
    case .avatar:
      guard conversation.isGroup else { throw Refusal("not_allowed") }
      append(operation, .settings, me, machine, to: &conversation)
    case .expire: try expire(operation, me, machine, member, in: &conversation)
    case .report:
      let reported = conversation.entries[try target(of: operation, member, in: conversation)]
      guard reported.kind == .message, reported.actor != me else { throw Refusal("not_allowed") }
      if let message = reported.id { reports[me, default: []].insert(message) }
      return HubAnswer(conversation: id, id: reported.id)
    case .begin, .group, .profile: throw Refusal("bad_request")
    }
    return answer(operation, me, in: conversation)
  }

  private mutating func say(
    _ operation: HubOperation, _ me: Int64, _ machine: Identifier, in conversation: inout Conversation
  ) throws {
    guard var id = operation.id, operation.payload != nil,
      operation.arguments.lifetime.map({ 1_000_000...366 * 86_400_000_000 ~= $0 }) ?? true
    else { throw Refusal("bad_request") }
    if messageIDs.contains(id) { id = randomID() }
    try refuseOthers(operation, in: conversation)
    guard mayAttach(operation.arguments.files, me) else { throw Refusal("unknown_attachment") }
    messageIDs.insert(id)
    append(operation, .message, me, machine, to: &conversation, id: id)
    for file in operation.arguments.files {
      files.attached[file, default: []].append((conversation.id, conversation.rev))
    }
    guard let lifetime = operation.arguments.lifetime ?? conversation.expireAfter else { return }
    let last = conversation.entries.count - 1
    let end = conversation.entries[last].at.microseconds + lifetime
    conversation.entries[last].expiresAt = Timestamp(microseconds: end)
  }

  /// The index of the entry that an operation names.
  func target(of operation: HubOperation, _ member: Member, in conversation: Conversation) throws -> Int {
    guard
      let index = conversation.entries.firstIndex(where: {
        $0.id == operation.id && $0.seq == operation.seq && $0.kind.map { $0.rawValue < 16 } == true
      }), case let target = conversation.entries[index], member.sees.contains(target.rev),
      target.kind != .message || target.payload != nil && !target.hasExpired(Timestamp(microseconds: clock))
    else { throw Refusal("unknown_message") }
    return index
  }

  private mutating func change(
    _ operation: HubOperation, _ me: Int64, _ machine: Identifier, _ member: Member,
    in conversation: inout Conversation
  ) throws {
    let index = try target(of: operation, member, in: conversation)
    let target = conversation.entries[index]
    guard target.kind == .message, operation.act == .react || target.actor == me else { throw Refusal("not_allowed") }
    switch operation.act {
    case .edit:
      guard operation.payload != nil else { throw Refusal("bad_request") }
      try refuseOthers(operation, in: conversation)
      conversation.entries[index].payload = operation.payload
      forgetDigests(of: target.seq, [.message, .edited], in: conversation)
      append(operation, .edited, me, machine, to: &conversation, seq: target.seq, id: target.id, keepsPayload: false)
    case .delete:
      for other in conversation.entries.indices
      where other == index
        || conversation.entries[other].kind == .reaction && conversation.entries[other].seq == target.seq
      {
        conversation.entries[other].payload = nil
      }
      forgetDigests(of: target.seq, [.message, .edited, .reaction], in: conversation)
      if let seq = target.seq { conversation.pinned.remove(seq) }
      append(operation, .deleted, me, machine, to: &conversation, seq: target.seq, id: target.id, keepsPayload: false)
    default: append(operation, .reaction, me, machine, to: &conversation, seq: target.seq, id: target.id)
    }
  }

  /// Refuses an operation if the conversation has a member who is not in the operation's audience.
  private func refuseOthers(_ operation: HubOperation, in conversation: Conversation) throws {
    guard let audience = operation.arguments.audience else { return }
    let members = conversation.members.filter { $0.value.sees.isOpen }.keys
    if members.contains(where: { person in !audience.contains { $0.description == handle(person) } }) {
      throw Refusal("other_members")
    }
  }

  /// Erases the digests of the operations on a message, because the text could be guessed from them.
  private mutating func forgetDigests(of seq: Int?, _ kinds: [HubEntry.Kind], in conversation: Conversation) {
    for entry in conversation.entries where entry.seq == seq && entry.kind.map(kinds.contains) == true {
      if let nonce = entry.nonce { done[DoneKey(person: entry.actor, nonce: nonce)]?.digest = nil }
    }
  }

  /// The numbers of the messages that a member sees.
  private func seen(by member: Member, in conversation: Conversation) -> [Int] {
    conversation.entries.filter { $0.kind.map { $0.rawValue < 16 } == true && member.sees.contains($0.rev) }
      .compactMap(\.seq).filter { $0 <= 1 << 40 }.sorted()
  }

  /// The parts of `ranges` that a member sees and has not marked as read.
  private func unread(_ ranges: [SeqRange], _ member: Member, in conversation: Conversation) throws -> [SeqRange] {
    guard 1...1000 ~= ranges.count, ranges.allSatisfy({ $0.lowerBound >= 1 && $0.upperBound <= 1 << 40 }) else {
      throw Refusal("bad_request")
    }
    let asked = coalesced(ranges.sorted { $0.lowerBound < $1.lowerBound })
    let seen = coalesced(seen(by: member, in: conversation).map { $0...$0 })
    let visible = asked.flatMap { range in
      seen.filter(range.overlaps).map { $0.clamped(to: range) }
    }
    return visible.flatMap { difference(of: $0, minus: member.read) }
  }
}

extension HubOperation {
  /// A digest that the hub compares if a nonce is used again; it does not depend on the conversation.
  var digest: Int {
    var arguments = arguments
    arguments.isLax = false
    var hasher = Hasher()
    hasher.combine(act)
    hasher.combine(seq)
    hasher.combine(payload)
    hasher.combine(arguments.json)
    return hasher.finalize()
  }
}
