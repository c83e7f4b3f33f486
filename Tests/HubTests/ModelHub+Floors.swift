@testable import DMKit
@testable import DMStore
@testable import DMSync

// Machines that keep only the last messages.

extension ModelHub {
  /// The start of a conversation at its floor; nil if the conversation must be pulled from its beginning.
  func start(_ machine: Identifier, of id: Identifier, keeping kept: KeptMessages) throws -> HubStart? {
    let me = try hello(machine).person
    guard let conversation = conversations[id], let member = conversation.members[me], member.sees.isOpen,
      member.sees.ranges.count == 1, let from = member.sees.first
    else { return nil }
    let said = conversation.entries.filter { $0.kind.map { $0.rawValue < 16 } == true }
    let wanted =
      switch kept {
      case .last(let count): conversation.seq - count + 1
      case .youngerThan(let age): said.first { $0.at.microseconds >= clock - age }?.seq ?? conversation.seq
      }
    let seq = min(wanted, firstUnread(conversation, me, member, said))
    guard seq > 1, let first = said.first(where: { $0.seq == seq }), first.rev > from,
      let last = conversation.entry(first.rev - 1)
    else { return nil }
    let before = conversation.entries.filter { $0.rev < first.rev && member.sees.contains($0.rev) }
    let kinds: [HubEntry.Kind] = [.created, .joined, .left, .titled, .settings, .begun]
    let own = before.filter { $0.kind.map(kinds.contains) == true }
    return HubStart(
      conversation: id,
      entries: own + merged(before, .read, last) + merged(before, .delivered, last) + pins(before, of: conversation),
      rev: last.rev, mark: last.mark, floor: HubStart.Floor(seq: seq, at: first.at))
  }

  private func firstUnread(_ conversation: Conversation, _ me: Int64, _ member: Member, _ said: [HubEntry]) -> Int {
    let now = Timestamp(microseconds: clock)
    let read = conversation.entries.filter { $0.kind == .read && $0.actor == me }.flatMap(\.meta.ranges)
    return said.first { entry in
      let seq = entry.seq ?? 0
      return
        !(read.contains { $0.contains(seq) } || entry.actor == me || entry.kind != .message || entry.payload == nil
        || entry.hasExpired(now) || !member.sees.contains(entry.rev))
    }?.seq ?? conversation.seq + 1
  }

  /// One entry for each person, which merges all entries of that person and kind.
  private func merged(_ entries: [HubEntry], _ kind: HubEntry.Kind, _ last: HubEntry) -> [HubEntry] {
    let all = Dictionary(grouping: entries.filter { $0.kind == kind }, by: \.actor)
    return all.keys.sorted().map { person in
      let own = all[person] ?? []
      var meta = HubEntry.Meta()
      meta.ranges = coalesced(own.flatMap(\.meta.ranges).sorted { $0.lowerBound < $1.lowerBound })
      return HubEntry(
        conversation: last.conversation, rev: last.rev, seq: kind == .delivered ? own.compactMap(\.seq).max() : nil,
        at: own.map(\.at).max() ?? last.at, actor: person, machine: last.machine, kind: kind, id: nil, nonce: nil,
        mark: last.mark, expiresAt: nil, meta: meta, payload: nil)
    }
  }
}
