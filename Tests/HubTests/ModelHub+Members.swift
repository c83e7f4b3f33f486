@testable import DMKit
@testable import DMStore
@testable import DMSync
@testable import TestSupport

/// Operations that add and remove members, or change settings.
extension ModelHub {
  func persons(_ operation: HubOperation) throws -> [Int64] {
    let found = operation.arguments.handles.map { person(named: $0)?.id }
    guard !found.isEmpty, !found.contains(nil) else { throw Refusal("unknown_user") }
    var unique: [Int64] = []
    for person in found.compactMap(\.self) where !unique.contains(person) { unique.append(person) }
    return unique
  }

  private static let mostRanges = 512

  /// The revs from a person's absence that the person sees after the return.
  private func doneMeanwhile(_ sees: VisibleRevs, in conversation: Conversation) -> [Int64] {
    guard let end = sees.ranges.last?.upperBound else { return [] }
    let seen = Set(
      conversation.entries.filter { $0.kind.map { $0.rawValue < 16 } == true && sees.contains($0.rev) }.compactMap(
        \.seq))
    let away = conversation.entries.filter { $0.rev >= end }.reversed()
    let acts = away.filter { entry in
      [.edited, .deleted, .reaction].contains(entry.kind) && entry.seq.map(seen.contains) == true
    }
    let receipts = away.filter { [.read, .delivered].contains($0.kind) }
    return (acts + receipts).map(\.rev).prefix(max(0, Self.mostRanges - 64 - sees.ranges.count)).map(\.self)
  }

  mutating func add(
    _ operation: HubOperation, _ me: Int64, _ machine: Identifier, to conversation: inout Conversation
  ) throws -> Bool {
    guard conversation.isGroup else { throw Refusal("not_allowed") }
    let joining = try persons(operation).filter { conversation.members[$0]?.sees.isOpen != true }
    let hasHistory = operation.arguments.hasHistory
    if !hasHistory,
      joining.contains(where: { (conversation.members[$0]?.sees.ranges.count ?? 0) >= Self.mostRanges })
    {
      throw Refusal("not_allowed")
    }
    for person in joining {
      let rev = conversation.rev + 1
      var member = conversation.members[person] ?? Member(sees: VisibleRevs(), since: rev)
      if hasHistory {
        member.sees = VisibleRevs(from: 1)
      } else {
        let done = doneMeanwhile(member.sees, in: conversation)
        member.sees.open(from: rev)
        member.sees.add(done)
      }
      (member.since, member.isOwner) = (rev, false)
      conversation.members[person] = member
      conversation.ended[person] = nil
      var meta = HubEntry.Meta()
      (meta.person, meta.hasHistory) = (person, hasHistory)
      append(operation, .joined, me, machine, to: &conversation, meta: meta)
    }
    return !joining.isEmpty
  }

  mutating func end(
    _ person: Int64, _ operation: HubOperation, _ me: Int64, _ machine: Identifier, in conversation: inout Conversation
  ) {
    let rev = conversation.rev + 1
    conversation.members[person]?.sees.close(after: rev)
    conversation.members[person]?.isOwner = false
    var meta = HubEntry.Meta()
    meta.person = person
    if !conversation.members.values.contains(where: \.isOwner) {
      let heir = conversation.members.filter { $0.value.sees.isOpen }
        .min { ($0.value.since, handle($0.key)) < ($1.value.since, handle($1.key)) }?.key
      if let heir { conversation.members[heir]?.isOwner = true }
      meta.owner = heir
    }
    append(operation, .left, me, machine, to: &conversation, meta: meta)
    conversation.ended[person] = moves
  }

  mutating func expire(
    _ operation: HubOperation, _ me: Int64, _ machine: Identifier, _ member: Member,
    in conversation: inout Conversation
  ) throws {
    if conversation.isGroup, !member.isOwner { throw Refusal("not_allowed") }
    guard let after = operation.arguments.expireAfter,
      after.map({ 1_000_000...366 * 86_400_000_000 ~= $0 }) ?? true
    else { throw Refusal("bad_request") }
    conversation.expireAfter = after
    var meta = HubEntry.Meta()
    (meta.changesExpiry, meta.expireAfter) = (true, after)
    append(operation, .settings, me, machine, to: &conversation, meta: meta)
  }
}
