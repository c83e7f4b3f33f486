internal import DMStore
internal import DMSystem

/// The messages that one transaction sends for one user.
final class SendBatch: Batch {
  private let session: Session
  private let store: Store
  /// A viewer that sees all messages, because a nonce identifies its message even after the message was deleted or
  /// hidden.
  private let unrestricted: Viewer
  /// A conversation to which messages are sent.
  private final class Target {
    var row: Conversations.Row
    /// The number of the first message that this transaction has added.
    ///
    /// Other processes cannot add messages meanwhile.
    var firstAdded: Int?

    init(_ row: Conversations.Row) { self.row = row }
  }

  /// The reference of the first message, and its conversation.
  ///
  /// A single message needs no dictionary, which takes long to make.
  private var first: (reference: ConversationReference, target: Target)?
  /// The conversations of other references.
  private var named: [ConversationReference: Target] = [:]
  /// The conversations by key, because two references may name the same conversation.
  private var targets = KeyTable<Target>()
  private let mentions: MentionFinders
  /// Whether a nonce may be sent again with another text, for programs that compose the text again for each attempt.
  private let allowsOtherText: Bool

  init(_ session: Session, allowsOtherText: Bool = false) {
    self.session = session
    self.allowsOtherText = allowsOtherText
    store = session.store
    mentions = MentionFinders(store)
    unrestricted = Viewer(store, session.me, extras: .everything)
  }

  func act(on outgoing: Outgoing) throws -> Message {
    let target = try target(of: outgoing)
    if let message = try duplicate(of: outgoing, in: target.row.key) { return message }
    try session.check(.say, in: target.row)
    try session.checkNotBlocked(target.row)
    return try insert(outgoing, into: target)
  }

  private func insert(_ outgoing: Outgoing, into target: Target) throws -> Message {
    var row = target.row
    let replyTo = try outgoing.replyTo.map { try session.replied($0, in: row) }
    let forwarded = try outgoing.forwards.map { try session.visibleMessage(.id($0)).message }
    let forwardedFrom = forwarded.map { $0.forwardedFrom ?? $0.sender }
    let mentioned = try mentions.users(in: outgoing.text, of: row.key)
    let attached = try outgoing.attachments.map(session.usableAttachment)
    let text = outgoing.text.isEmpty ? nil : outgoing.text
    let preview = Self.preview(of: outgoing, forwarded)
    let new = Messages.NewMessage(
      sender: session.me, text: text, nonce: outgoing.nonce, replyTo: replyTo,
      forwardedFrom: try forwardedFrom.map { try store.users.key($0) } ?? nil,
      lifetime: outgoing.lifetime?.microseconds, mentions: mentioned, attachments: attached,
      preview: preview)
    if session.destination == .hub {
      return try session.message(session.say(new, in: row, isLax: allowsOtherText), in: row)
    }
    let (id, expiresAt, attachments) = try store.messages.insert(new, into: &row)
    target.row = row
    if target.firstAdded == nil { target.firstAdded = row.lastSeq }
    let surroundings = session.viewer.surroundings
    var message = try surroundings.message(
      id, in: row, seq: row.lastSeq, from: (session.me, session.handle), text, at: row.lastActivity,
      nonce: outgoing.nonce)
    message.replyTo = try replyTo.map { try surroundings.reply($0, as: session.viewer) }
    message.forwardedFrom = forwardedFrom
    message.expiresAt = expiresAt
    message.attachments = attachments
    message.linkPreview = preview?.resolved(attachments)
    message.mentions = try mentioned.map(store.users.handle)
    return message
  }

  /// The preview of a new message: its own, or that of the message that it forwards.
  private static func preview(of outgoing: Outgoing, _ forwarded: Message?) -> LinkPreviews.Placed? {
    guard let preview = outgoing.linkPreview ?? forwarded?.linkPreview, outgoing.text.contains(text: preview.url) else {
      return nil
    }
    return LinkPreviews.Placed(preview, among: outgoing.attachments)
  }

  /// The message that was sent earlier with the nonce of a new message; nil if there is none.
  ///
  /// - Throws: `nonce_conflict` if the earlier message had another text or other attachments.
  private func duplicate(of outgoing: Outgoing, in conversation: ConversationKey) throws -> Message? {
    guard let nonce = outgoing.nonce, let message = try sent(nonce, in: conversation) else { return nil }
    let isChanged = message.editedAt != nil || message.deletedAt != nil
    guard try allowsOtherText || isChanged || message.hasText(outgoing.text) && carries(message, outgoing)
    else {
      throw DMError(
        .nonceConflict,
        "the nonce '\(nonce)' named something else before; use a new one",
        subject: nonce, remedy: .getSentMessage)
    }
    return message
  }

  /// Whether a sent message has these attachments, or attachments with the same contents.
  ///
  /// If an attachment of the new message no longer exists, it counts as equal, so that a program that did not get the
  /// answer can send the message again.
  /// The images of previews are not compared, because a page may have another image, or none, when it is fetched again.
  private func carries(_ message: Message, _ outgoing: Outgoing) throws -> Bool {
    let carried = message.attachments.filter { $0.id != message.linkPreview?.attachment }
    let attachments = outgoing.attachments.filter { $0 != outgoing.linkPreview?.attachment }
    guard carried.count == attachments.count else { return false }
    return try zip(carried, attachments).allSatisfy { carried, id in
      if carried.id == id { return true }
      let named = try session.attachmentIfUsable(id)
      return named.map { $0.attachment.sha256 == carried.sha256 } ?? true
    }
  }

  /// The message that was sent earlier with the nonce of this line; its content is not compared with that of the line.
  func sentBefore(_ outgoing: Outgoing) throws -> Message? {
    guard let nonce = outgoing.nonce, let row = try session.findIfPresent(outgoing.conversation)
    else { return nil }
    return try sent(nonce, in: row.key)
  }

  func sent(_ nonce: String, in conversation: ConversationKey) throws -> Message? {
    guard let address = try store.messages.address(of: nonce, from: session.me, in: conversation) else {
      return try session.waitingMessage(nonce, in: conversation)
    }
    var message = try store.messages.seen(at: address, as: unrestricted)
    message?.isDuplicate = true
    return message
  }

  /// The key of the conversation to which a message is sent.
  ///
  /// A direct conversation that does not exist yet is created.
  func conversationKey(of outgoing: Outgoing) throws -> ConversationKey { try target(of: outgoing).row.key }

  private func target(of outgoing: Outgoing) throws -> Target {
    if let first, first.reference == outgoing.conversation { return first.target }
    if let target = named[outgoing.conversation] { return target }
    let target = try findTarget(of: outgoing)
    if first == nil { first = (outgoing.conversation, target) } else { named[outgoing.conversation] = target }
    return target
  }

  private func findTarget(of outgoing: Outgoing) throws -> Target {
    var found = try session.findIfPresent(outgoing.conversation)
    if found == nil, case .direct(let handle) = outgoing.conversation, let other = try store.users.key(handle) {
      // A conversation that does not exist yet has no message to reply to. The check comes before anything is written.
      guard outgoing.replyTo == nil else {
        throw DMError(
          .unknownMessage, "there is no conversation with '\(handle)' yet, so no message to reply to",
          subject: handle.description)
      }
      try session.checkMayStart(with: other)
      // Checks attachments and forwarded messages before anything is written, because an error after a write makes the
      // transaction start again.
      for id in outgoing.attachments { _ = try session.usableAttachment(id) }
      if let id = outgoing.forwards { _ = try session.visibleMessage(.id(id)) }
      found = try session.startDirect(with: other)
    }
    let row = if let found { found } else { try session.find(outgoing.conversation) }
    if let target = targets[row.key.number] { return target }
    let target = Target(row)
    targets[row.key.number] = target
    return target
  }

  /// Updates the row and the counts of each conversation, and marks the user's new messages as read for the user.
  func finish() throws {
    try session.endSending(
      targets.all.sorted { $0.row.key < $1.row.key }.compactMap { target in
        target.firstAdded.map { (target.row, [$0...target.row.lastSeq]) }
      })
  }

  /// Ends the typing signals of the user in the conversations to which a message was sent.
  func committed() {
    session.messenger.endTyping(in: targets.all.filter { $0.firstAdded != nil }.map(\.row.id))
  }
}
