@testable import DMKit
@testable import DMStore
@testable import DMSync

extension ModelHub {
  mutating func append(
    _ operation: HubOperation, _ kind: HubEntry.Kind, _ me: Int64, _ machine: Identifier,
    to conversation: inout Conversation, meta: HubEntry.Meta = HubEntry.Meta(), seq: Int? = nil, id: Identifier? = nil,
    keepsPayload: Bool = true
  ) {
    let isNumbered = kind.rawValue < 16
    if isNumbered { conversation.seq += 1 }
    clock += 1
    moves += 1
    let rev = conversation.rev + 1
    let key = DoneKey(person: me, nonce: operation.nonce)
    let isFirst = done[key] == nil
    conversation.entries.append(
      HubEntry(
        conversation: conversation.id, rev: rev, seq: isNumbered ? conversation.seq : seq,
        at: Timestamp(microseconds: clock), actor: me, machine: machine, kind: kind,
        id: id ?? (isNumbered ? randomID() : nil), nonce: isFirst ? operation.nonce : nil, mark: randomID(),
        expiresAt: nil, meta: meta, payload: keepsPayload ? operation.payload : nil))
    conversation.touched = moves
    if isFirst {
      done[key] = Done(act: operation.act, conversation: conversation.id, rev: rev, digest: operation.digest)
    }
    conversations[conversation.id] = conversation
  }

  mutating func answer(_ operation: HubOperation, _ me: Int64, in conversation: Conversation) -> HubAnswer {
    conversations[conversation.id] = conversation
    let done = done[DoneKey(person: me, nonce: operation.nonce)]
    let entry = done.flatMap { conversation.entry($0.rev) }
    return HubAnswer(conversation: conversation.id, id: entry?.id, rev: done?.rev)
  }
}

extension ModelHub {
  /// The messages of a conversation as a member sees them, each as a line.
  func shown(_ conversation: Conversation, to member: Member, without deleted: Set<Identifier>) -> [String] {
    let entries = conversation.entries.filter {
      $0.kind.map { $0.rawValue < 16 } == true && member.sees.contains($0.rev)
        && !($0.id.map(deleted.contains) ?? false)
    }
    return entries.map { entry in
      var reactions: [Int64: String] = [:]
      for other in conversation.entries
      where other.kind == .reaction && other.seq == entry.seq && member.sees.contains(other.rev) {
        reactions[other.actor] = HubPayload.emoji(other.payload)
      }
      let pin = conversation.entries.last {
        $0.kind == .pinned && $0.seq == entry.seq && member.sees.contains($0.rev)
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
      let shown = isGone ? [] : reactions.map { "\(persons[$0.key]?.handle ?? "")\($0.value)" }.sorted()
      let user = isGone ? nil : pin.flatMap { $0.meta.isPinned ? persons[$0.actor]?.handle : nil }
      let pinned = user.map { " pinned by \($0)" } ?? ""
      return "\(entry.seq ?? 0) \(persons[entry.actor]?.handle ?? "") \(text) \(shown.joined())\(pinned)"
    }
  }
}
