internal import DMKit
internal import DMStore

// The persons of a hub, and the members of conversations.

extension SyncEngine {
  /// Reads the persons that have changed, before entries that refer to them are applied.
  ///
  /// - Parameter isRestored: whether the hub may have lost changes of persons; all persons are then read again.
  func readPeople(upTo rev: Int64, isRestored: Bool = false) throws {
    let known = try hub().peopleRev
    var read = isRestored ? 0 : known
    while rev > read {
      let people = try link.people(after: read)
      guard let last = people.last, last.rev > read else { return }
      try store.write {
        for person in people { try record(person, isOld: isRestored && person.rev <= known) }
        try store.hub.set(peopleRev: last.rev)
      }
      read = last.rev
    }
  }

  /// - Parameter isOld: whether the store had already read the persons up to this one before the hub was restored.
  private func record(_ person: HubPerson, isOld: Bool) throws {
    // A person whose handle is not valid is skipped. A working hub has no such person, because it checks handles by the
    // same rules.
    guard case .success(let handle) = Result(catching: { try Handle(person.handle) }) else { return }
    let user = try store.users.key(handle) ?? store.users.insert(handle, at: person.createdAt)
    try store.hub.set(person.id, of: user)
    let isMe = try hub().user == user
    if isMe, try store.outbox.pending().contains(where: { $0.act == .profile }) { return }
    let profile = HubPayload.profile(person.profile)
    let change = ProfileChange(
      displayName: profile.displayName ?? "", bio: profile.bio ?? "", avatarURL: profile.avatarURL ?? "",
      showsPresence: person.showsPresence)
    if isMe, isOld, try store.users.user(handle).map(change.changes) == true {
      // A restored hub has lost the last change of the profile; a standby may only lag.
      if hello?.isStandby == false { try Session(messenger, store, user).queueProfile() }
      return
    }
    if let picture = profile.picture { try store.pictures.insert(picture) }
    try store.users.update(user, change, at: .now)
    // Another machine of the user, which did not have the picture, has changed the profile.
    if isMe, profile.picture == nil, try store.pictures.picture(profile.avatarURL) != nil {
      try Session(messenger, store, user).queueProfile()
    }
  }

  /// Reads the members of conversations of which this store has no messages, before the conversations are pulled.
  ///
  /// While the store is being filled for the first time, this reads only the members of conversations whose beginning
  /// the user cannot see, because other logs begin with a list of the members.
  func readMembers(of conversations: [Identifier]) throws {
    let isFilling = try hub().horizon == nil
    for id in conversations where connection.members[id] == nil {
      let sees = try store.read { () -> VisibleRevs? in
        guard let row = try store.conversations.row(id) else { return connection.named[id]?.sees }
        return row.lastSeq == 0 ? try connection.named[id]?.sees ?? store.hubConversations.row(row.key)?.sees : nil
      }
      guard let sees, sees.isOpen, !isFilling || sees.first != 1 else { continue }
      connection.members[id] = try link.members(of: id)
    }
  }
}
