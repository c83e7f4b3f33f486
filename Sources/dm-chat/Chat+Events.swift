internal import DMCLI
internal import DMKit

/// What happens in the conversation.
extension Chat {
  func take(_ event: MessagingEvent) throws {
    switch event {
    case .message(let message, _):
      if conversation == nil { try begin() }
      stretch.take(message)
      if isBlocked { try lookForBlock() }
      if !message.isMine, call.arguments[DMChat.bell] { ringBell() }
    case .messageUpdated(let message, _):
      stretch.take(message)
      changed += stretch.replies(to: message.id)
    case .messageDeleted(let deletion, _):
      if let seq = deletion.seq { changed.append(seq...seq) } else { try stretch.readNewest() }
      changed += stretch.replies(to: deletion.messageID)
    case .reaction(let reaction, _): changed.append(reaction.seq...reaction.seq)
    case .messageStatus(let status, _): changed += status.ranges
    case .readReceipt(let receipt, _), .deliveryReceipt(let receipt, _):
      if receipt.user != me { changed += receipt.ranges }
    case .conversationUpdated(let changed, _):
      conversation = changed
      try lookForBlock()
    case .typing(let typing): self.typing = typing.users
    case .presence(let presence): if presence.user == other { isOnline = presence.isOnline }
    case .caughtUp, .heartbeat: break
    case .gap: try stretch.readNewest()
    }
  }

  /// The messages of a blocked user are not shown, so the state says why.
  func lookForBlock() throws {
    let wasBlocked = isBlocked
    isBlocked = try conversation.flatMap(messenger.blockedUser) != nil
    if isBlocked != wasBlocked { try stretch.readNewest() }
  }

  func readChanged() throws {
    try stretch.refresh(coalesced(changed.sorted { $0.lowerBound < $1.lowerBound }))
    changed = []
  }

  /// The first message of a direct conversation has come.
  private func begin() throws {
    conversation = try acts.existing()
    shownTyping = try acts.shownTyping()
  }
}
