@testable import DMKit
@testable import TestSupport

/// The records that users must get.
extension ReferenceModel {
  /// A message as the user must see it, or its tombstone.
  func message(_ seq: Int, _ talk: Int, to user: User) throws -> Message {
    let said = talks[talk].said[seq - 1]
    guard let id = said.id, let conversation = talks[talk].id else { throw Mismatch("a message was not learned") }
    let isGone = isGone(seq, talk)
    var message = Message(
      id, conversationID: conversation, conversation: try label(talk, for: user), seq: seq,
      sender: handle(said.sender), text: isGone ? nil : said.text, createdAt: said.createdAt,
      status: status(seq, talk, to: user), nonce: said.nonce)
    message.isMine = said.sender == user
    message.isUnread = !isGone && !countsAsRead(seq, talk, by: user)
    message.readByCount =
      talks[talk].readers(seq, visibleTo: user).filter { reader in
        reader != said.sender && (reader == user || !hasBlocked(said.sender, reader)) && !hasBlocked(user, reader)
      }.count
    message.replyTo = said.replyTo.flatMap { reply($0, talk, to: user) }
    message.systemKind = said.kind
    message.subject = said.subject
    message.expiresAt = said.expiresAt
    message.deletedAt = said.deletedAt ?? (said.hasExpired ? said.expiresAt : nil)
    if isGone { return message }
    message.editedAt = said.editedAt
    message.pin = said.pin.flatMap { pin in pin.at.map { Message.Pin(user: handle(pin.user), at: $0) } }
    message.mentions = said.mentions.map(handle)
    for reaction in said.reactions where !hasBlocked(user, reaction.user) {
      if let index = message.reactions.firstIndex(where: { $0.emoji == reaction.emoji }) {
        message.reactions[index].users.append(handle(reaction.user))
      } else {
        message.reactions.append(Message.Reactions(emoji: reaction.emoji, users: [handle(reaction.user)]))
      }
    }
    return message
  }

  private func reply(_ seq: Int, _ talk: Int, to user: User) -> Message.Reply? {
    let said = talks[talk].said[seq - 1]
    guard let id = said.id else { return nil }
    if !sees(seq, talk, user) {
      var reply = Message.Reply(id: id)
      reply.isDeleted = reaches(seq, talk, user)
      return reply
    }
    return Message.Reply(id: id, seq: seq, sender: handle(said.sender), text: said.text.map { String($0.prefix(100)) })
  }

  /// The label of a conversation for a present or former participant.
  private func label(_ talk: Int, for user: User) throws -> ConversationLabel {
    guard let id = talks[talk].id else { throw Mismatch("a conversation was not learned") }
    if let name = talks[talk].parts[user]?.ownName {
      return ConversationLabel(title: name, isGroup: talks[talk].pair == nil, reference: "+\(name)")
    }
    if let pair = talks[talk].pair {
      let other = handle(pair.0 == user ? pair.1 : pair.0).description
      return ConversationLabel(title: other, isGroup: false, reference: other)
    }
    let title = talks[talk].title(for: user)
    let namesakes = talks.indices.filter {
      talks[$0].pair == nil && talks[$0].parts[user] != nil && talks[$0].title(for: user) == title
    }
    let isTaken = talks.contains { $0.parts[user]?.ownName == title }
    return ConversationLabel(
      title: title, isGroup: true,
      reference: namesakes.count == 1 && !isTaken ? "+\(title ?? "")" : id.description)
  }

  func messages(_ seqs: [Int], _ talk: Int, to user: User) throws -> [Message] {
    try seqs.map { try message($0, talk, to: user) }
  }

  /// The message numbers of a range.
  ///
  /// A negative number counts from the last message that the user sees.
  func numbers(_ range: RangeReference, in talk: Int, for user: User) -> Set<Int> {
    let (end, visible) = (talks[talk].end(for: user), visible(talk, user))
    func absolute(_ number: Int) -> Int { number < 0 ? visible.dropLast(-number - 1).last ?? 0 : number }
    let (from, to) = (range.from.map(absolute) ?? 1, range.to.map(absolute) ?? end)
    return Set((0..<end).map { $0 + 1 }.filter { from <= $0 && $0 <= to })
  }

  func lastActivity(_ talk: Int, _ user: User) -> Timestamp {
    talks[talk].said.prefix(talks[talk].end(for: user)).last { !hasBlocked(user, $0.sender) }?.createdAt
      ?? talks[talk].createdAt
  }

  /// A conversation as a present or former participant must see it.
  func conversation(_ talk: Int, to user: User) throws -> Conversation {
    let this = talks[talk]
    guard let part = this.parts[user], let id = this.id else { throw Mismatch("a conversation was not learned") }
    let visible = visible(talk, user)
    let unread = visible.filter { !countsAsRead($0, talk, by: user) }
    let activity = lastActivity(talk, user)
    let face = this.face(for: user)
    var seen = Conversation(
      id: id, isGroup: this.pair == nil, title: face.title, creator: handle(this.creator),
      participants: face.members.map(handle),
      lastMessage: try visible.last.map { try message($0, talk, to: user) }?.preview, lastActivityAt: activity,
      unreadCount: unread.count,
      lastReadSeq: (0..<this.end(for: user)).last { countsAsRead($0 + 1, talk, by: user) }.map { $0 + 1 },
      isPinned: part.isPinned, isArchived: part.isArchived,
      pageCursor: PageCursor(
        store: store, isPinned: part.isPinned, lastActivity: activity,
        conversation: ConversationKey(number: Int64(talk + 1))))
    let others = seen.participants.filter { $0 != handle(user) }
    let names = (others.isEmpty ? [handle(user)] : others).map(\.description)
    seen.ownName = part.ownName
    seen.name = part.ownName ?? face.title ?? names.joined(separator: ", ")
    seen.myRole = !part.isIn ? .former : part.isOwner ? .owner : .member
    if this.pair == nil, part.isIn {
      seen.owners = this.parts.filter { $0.value.isIn && $0.value.isOwner }.keys.sorted().map(handle)
    }
    seen.unreadMentionsCount = unread.count { this.said[$0 - 1].mentions.contains(user) }
    seen.firstUnreadSeq = unread.first
    seen.mutedUntil = part.mutedUntil
    seen.draftText = part.draft
    seen.avatarURL = face.avatar
    seen.expireAfter = face.lifetime
    seen.isListed = isListed(talk, user)
    return seen
  }

  /// The user's list: the archived conversations, the others, or all.
  func list(_ archived: ListQuery.Archived, _ user: User) throws -> [Conversation] {
    try talks.indices.filter { talk in
      guard let part = talks[talk].parts[user], isListed(talk, user) else { return false }
      return archived == .included || part.isArchived == (archived == .only)
    }
    .map { (talk: $0, seen: try conversation($0, to: user)) }
    .sorted {
      let (a, b) = ($0.seen, $1.seen)
      if a.isPinned != b.isPinned { return a.isPinned }
      return a.lastActivityAt != b.lastActivityAt ? a.lastActivityAt > b.lastActivityAt : $0.talk > $1.talk
    }
    .map(\.seen)
  }

  /// The title of a conversation for a user: their own name for it, the handle of the other user, or the title of the group.
  func title(_ talk: Int, to user: User) -> String? {
    talks[talk].parts[user]?.ownName ?? talks[talk].partner(of: user).map { handle($0).description }
      ?? talks[talk].face(for: user).title
  }

  /// The receipts of a message that a user sees, oldest first.
  func receipts(_ seq: Int, _ talk: Int, to user: User) throws -> [Receipt] {
    let this = talks[talk]
    let sender = this.said[seq - 1].sender
    guard let id = this.id else { throw Mismatch("a conversation was not learned") }
    let read = this.receipts(visibleTo: user).filter { $0.range.contains(seq) }.map {
      (Receipt.Kind.read, $0.user, $0.at)
    }
    let got = this.delivered(visibleTo: user).filter {
      $0.value >= seq && this.parts[$0.key]?.includes(seq) == true
    }.map { (Receipt.Kind.delivery, $0.key, delivery(of: seq, talk, to: $0.key)) }
    return (read + got).filter { (_, other, _) in
      other != sender && !hasBlocked(user, other) && (other == user || !hasBlocked(sender, other))
    }
    .sorted {
      ($0.2?.microseconds ?? 0, $0.0 == .read ? 1 : 0, $0.1) < ($1.2?.microseconds ?? 0, $1.0 == .read ? 1 : 0, $1.1)
    }
    .map { (kind, other, at) in
      Receipt(
        kind: kind, conversationID: id, conversationTitle: title(talk, to: user), user: handle(other),
        ranges: [seq...seq], at: at)
    }
  }

  /// The time when a message was delivered to a user.
  private func delivery(of seq: Int, _ talk: Int, to user: User) -> Timestamp? {
    for entry in entries where entry.talk == talk {
      if case .got(let range, user) = entry.kind, range.contains(seq) { return entry.at }
    }
    return nil
  }
}

/// The store and the model differ.
struct Mismatch: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
