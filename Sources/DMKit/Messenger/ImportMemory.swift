internal import DMStore

/// The state of an import, kept through all transactions of the import.
struct ImportMemory {
  /// The conversations of which a line failed, each with the error code.
  ///
  /// Such a conversation accepts no more messages, because after a later message the failed message could no longer be
  /// imported.
  var refused: [ImportedMessage.Group: DMError.Code] = [:]
  /// The users that this import has created.
  var made: Set<Handle> = []
  /// Imported users whose handles were in the store before.
  ///
  /// A user is removed from this set when a stored message shows that an earlier run of this import created them.
  var unconfirmed: Set<Handle> = []
}

extension ImportBatch {
  /// Throws the error of a line that imports a conversation.
  ///
  /// If the conversation does not exist, refuses its later messages, too, because they would create a new group.
  func refuse(_ id: Identifier, _ error: DMError) throws -> Imported.Outcome {
    if try group(.id(id)) == nil { session.messenger.imports.refused[.id(id)] = error.code }
    throw error
  }

  /// - Throws: for a message of a refused conversation, the error code with which the conversation was refused.
  func refuseRefused(_ group: ImportedMessage.Group) throws {
    guard let code = session.messenger.imports.refused[group] else { return }
    let name =
      switch group {
      case .id(let id): id.description
      case .title(let title): "+\(title)"
      }
    throw DMError(code, "a line of the conversation '\(name)' failed, so those after it do, too", subject: name)
  }

  /// Records an imported user whose handle is in the store already.
  ///
  /// The handle may belong to another person.
  func noteExisting(_ user: ImportedUser) {
    if user.isKnown || session.messenger.imports.made.contains(user.handle) { return }
    session.messenger.imports.unconfirmed.insert(user.handle)
  }

  /// - Throws: `handle_taken` if the handle of the sender is in the store, and may belong to another person there.
  func refuseUnconfirmed(_ sender: Handle, in group: ImportedMessage.Group) throws {
    guard session.messenger.imports.unconfirmed.contains(sender) else { return }
    session.messenger.imports.refused[group] = .handleTaken
    throw unconfirmed(sender)
  }

  /// - Throws: `handle_taken` if the handle of a participant of a new conversation is in the store, and may belong to
  ///   another person there.
  func refuseUnconfirmed(_ participants: [Handle]) throws {
    if let user = participants.first(where: session.messenger.imports.unconfirmed.contains) { throw unconfirmed(user) }
  }

  private func unconfirmed(_ sender: Handle) -> DMError {
    DMError(
      .handleTaken, "the store has a user '\(sender)', who may be somebody else", subject: sender.description,
      remedy: .confirmUser)
  }

  func add(_ user: ImportedUser) throws -> User {
    if try existingKey(of: user.handle) == nil {
      let key = try key(of: user.handle)
      if user.profile != ProfileChange() { try store.users.update(key, user.profile, at: .now) }
    } else {
      noteExisting(user)
    }
    guard let added = try store.users.user(user.handle) else {
      throw DMError(.internal, "the user '\(user.handle)' was not found again", subject: user.handle.description)
    }
    return added
  }
}
