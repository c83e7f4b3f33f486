internal import DMKit
internal import DMSystem

// What the owner lets the agent change.

extension Scope {
  /// The id of a group, because another group may get its title; or the other user of a direct conversation, which need
  /// not exist yet.
  static func settled(
    _ reference: ConversationReference, _ messenger: Messenger
  ) throws -> ConversationReference {
    if case .direct(let handle) = reference { return .direct(try messenger.user(handle).handle) }
    let conversation = try messenger.conversation(reference)
    if conversation.isGroup { return .id(conversation.id) }
    let me = messenger.identity.handle
    return .direct(conversation.participants.first { $0 != me } ?? me)
  }

  /// A conversation to which the agent wants to write.
  ///
  /// - Returns: a reference that keeps leading to this conversation, even if another group gets its title.
  /// - Throws: `not_allowed` if the owner does not let the agent write there; the errors of a lookup.
  func writable(_ reference: ConversationReference) throws -> ConversationReference {
    guard let sendTo else { return reference }
    let settled = try Self.settled(reference, messenger)
    if sendTo.contains(settled) { return settled }
    throw DMError(
      .notAllowed, "the owner does not let you write to '\(reference)'; tell them if you have to",
      subject: reference.description)
  }

  /// A message that the agent wants to change.
  ///
  /// - Throws: the errors of `writable(_:)` for its conversation; `unknown_message`.
  func changeable(_ reference: MessageReference) throws -> MessageReference {
    guard sendTo != nil, let message = try messenger.messages([reference]).first else { return reference }
    _ = try writable(.id(message.conversationID))
    return .id(message.id)
  }

  /// Sends a message, unless the agent has made too many changes.
  ///
  /// A message that was sent before is not a change, so a repeated call gets the answer again.
  ///
  /// - Throws: `over_quota`, or the errors of a lookup or of sending.
  func send(_ nonce: String, to conversation: ConversationReference, _ send: () throws -> Message) throws -> Message {
    guard let rate, try messenger.message(nonce: nonce, in: conversation) == nil else { return try send() }
    return try rate.limited(send)
  }

  /// Prepares a file of the owner's folder to be sent.
  ///
  /// - Parameter name: the path of the file in the folder.
  /// - Throws: `unknown_file`, `unreadable_file`, `bad_attachment`, or an error of the store.
  func attach(_ name: String) throws -> Identifier {
    guard let files else { throw DMError(.notAllowed, "the owner does not let you send files") }
    // Before the file is opened: closing a database would release the locks of SQLite. The agent does not learn where the
    // folder is.
    do { try Messenger.refuse(insideStore: "\(files)/\(name)") } catch {
      throw DMError(.unknownFile, "the owner's folder has no file '\(name)' that can be sent", subject: name)
    }
    let file = try OpenFile(name, inside: files) {
      DMError(
        $0.isAbsence ? .unknownFile : .unreadableFile,
        "the owner's folder has no file '\(name)' that can be sent: \($0.text)", subject: name)
    }
    guard try file.status().kind == .regular else {
      throw DMError(.badAttachment, "'\(name)' is not a regular file", subject: name)
    }
    return try messenger.prepare(.descriptor(file.descriptor), name: fileName(of: name)).attachment.id
  }

  /// Changes a message, unless the agent has made too many changes.
  ///
  /// - Throws: `over_quota`, or the errors of the change.
  func change(_ reference: MessageReference, _ act: Edit.Act) throws -> Edit.Outcome {
    let edit = try Edit(changeable(reference), typedAs: reference, act)
    func make() throws -> Edit.Outcome { try messenger.edit([edit])[0].get() }
    guard let rate else { return try make() }
    let outcome = try rate.limited(make)
    rate.count()
    return outcome
  }
}
