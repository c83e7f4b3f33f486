@testable import DMKit
@testable import DMStore
@testable import DMSync

extension ModelHub {
  /// Pins or unpins a message.
  ///
  /// - Returns: false if nothing has changed.
  mutating func pin(
    _ operation: HubOperation, _ me: Int64, _ machine: Identifier, _ member: Member,
    in conversation: inout Conversation
  ) throws -> Bool {
    let target = conversation.entries[try target(of: operation, member, in: conversation)]
    guard target.kind == .message, let seq = target.seq else { throw Refusal("not_allowed") }
    guard let isPinned = operation.arguments.isPinned else { throw Refusal("bad_request") }
    if isPinned == conversation.pinned.contains(seq) { return false }
    if isPinned, conversation.pinned.count >= MessagePin.limit { throw Refusal("too_many_pins") }
    if isPinned { conversation.pinned.insert(seq) } else { conversation.pinned.remove(seq) }
    var meta = HubEntry.Meta()
    meta.isPinned = isPinned
    append(
      operation, .pinned, me, machine, to: &conversation, meta: meta, seq: seq, id: target.id, keepsPayload: false)
    return true
  }

  /// For a machine that keeps only the last messages: the last change of the pin of each message that is pinned now.
  func pins(_ before: [HubEntry], of conversation: Conversation) -> [HubEntry] {
    conversation.pinned.sorted().compactMap { seq in before.last { $0.kind == .pinned && $0.seq == seq } }
  }
}
