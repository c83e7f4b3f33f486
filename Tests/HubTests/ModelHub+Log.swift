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
