internal import DMStore

/// The state of an import, which lasts for several transactions.
struct ImportMemory {
  /// The conversations that accept no more messages because a line failed, with its error code: after a later message,
  /// the missing one could not be imported any more.
  var refused: [ImportedMessage.Group: DMError.Code] = [:]
  /// The users that this import has made.
  var made: Set<Handle> = []
  /// The imported users that the store already had, until a message shows that an earlier run of this import made them.
  var unconfirmed: Set<Handle> = []
}

extension ImportBatch {
  /// Refuses a conversation, and from now on its messages, which would otherwise create a new group.
  func refuse(_ id: Identifier, _ error: DMError) throws -> Imported.Outcome {
    if try group(.id(id)) == nil { session.messenger.imports.refused[.id(id)] = error.code }
    throw error
  }

  /// - Throws: for a message of a refused conversation, with the error code of that refusal.
  func refuseRefused(_ group: ImportedMessage.Group) throws {
    guard let code = session.messenger.imports.refused[group] else { return }
    let name =
      switch group {
      case .id(let id): id.description
      case .title(let title): "+\(title)"
      }
    throw DMError(code, "a line of the conversation '\(name)' failed, so those after it do, too", subject: name)
  }

  /// Notes an imported user whose handle the store already has, perhaps for another person.
  func noteExisting(_ user: ImportedUser) {
    if user.isKnown || session.messenger.imports.made.contains(user.handle) { return }
    session.messenger.imports.unconfirmed.insert(user.handle)
  }

  /// - Throws: `handle_taken` for a message whose sender may be another person than the user in the store.
  func refuseUnconfirmed(_ sender: Handle, in group: ImportedMessage.Group) throws {
    guard session.messenger.imports.unconfirmed.contains(sender) else { return }
    session.messenger.imports.refused[group] = .handleTaken
    throw unconfirmed(sender)
  }

  /// - Throws: `handle_taken` for a new conversation with a participant who may be another person than the user in the
  ///   store.
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
