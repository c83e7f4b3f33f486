internal import DMStore

/// What the lines of an import have said so far; an import is several transactions.
struct ImportMemory {
  /// The conversations that take no more messages because a line failed, and why: what follows could not be followed by
  /// what is missing.
  var refused: [ImportedMessage.Group: DMError.Code] = [:]
  /// The users that this import has made.
  var made: Set<Handle> = []
  /// The imported users that the store already had, until a message shows that an earlier run of this import made them.
  var unconfirmed: Set<Handle> = []
}

extension ImportBatch {
  /// Refuses a conversation, and from now on the messages that name it: without it they would make a group of their own.
  func refuse(_ id: Identifier, _ error: DMError) throws -> Imported.Outcome {
    if try group(.id(id)) == nil { session.messenger.imports.refused[.id(id)] = error.code }
    throw error
  }

  /// - Throws: for a message of a conversation that takes no more, what that was refused for.
  func refuseRefused(_ group: ImportedMessage.Group) throws {
    guard let code = session.messenger.imports.refused[group] else { return }
    let name =
      switch group {
      case .id(let id): id.description
      case .title(let title): "+\(title)"
      }
    throw DMError(code, "a line of the conversation '\(name)' failed, so those after it do, too", subject: name)
  }

  /// Notes a user of a line that the store has already: somebody else may have that name there.
  func noteExisting(_ user: ImportedUser) {
    if user.isKnown || session.messenger.imports.made.contains(user.handle) { return }
    session.messenger.imports.unconfirmed.insert(user.handle)
  }

  /// - Throws: `handle_taken` for a message that would be put into the mouth of a user who may be somebody else.
  func refuseUnconfirmed(_ sender: Handle, in group: ImportedMessage.Group) throws {
    guard session.messenger.imports.unconfirmed.contains(sender) else { return }
    session.messenger.imports.refused[group] = .handleTaken
    throw unconfirmed(sender)
  }

  /// - Throws: `handle_taken` for a new conversation with a participant who may be somebody else.
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
