internal import DMKit
internal import DMStore

// The persons of a hub, and the members of conversations.

extension SyncEngine {
  /// Reads the persons that have changed, before entries that refer to them are applied.
  ///
  /// - Parameter again: whether to read all persons again, because the hub may have lost changes of persons.
  func readPeople(upTo rev: Int64, again: Bool = false) throws {
    let before = try hub().peopleRev
    var read = again ? 0 : before
    while rev > read {
      let people = try link.people(after: read)
      guard let last = people.last, last.rev > read else { break }
      read = last.rev
      try store.write {
        for person in people { try record(person, before: before) }
        if read > before { try store.hub.set(peopleRev: read) }
      }
    }
    // Only now is the last rev reduced, because an interrupted reading begins again, and needs the former rev. A standby
    // may only lag.
    if read < before, hello?.isStandby == false { try store.write { try store.hub.set(peopleRev: read) } }
  }

  /// - Parameter before: the last rev of persons that the store had read before this person.
  private func record(_ person: HubPerson, before: Int64) throws {
    // A person whose handle is not valid is skipped. A working hub has no such person, because it checks handles by the
    // same rules.
    guard case .success(let handle) = Result(catching: { try Handle(person.handle) }) else { return }
    let user = try store.users.key(handle) ?? store.users.insert(handle, at: person.createdAt)
    try store.hub.set(person.id, of: user)
    // A standby may lag.
    if hello?.isStandby == true, person.rev <= before { return }
    let profile = HubPayload.profile(person.profile)
    let change = ProfileChange(
      displayName: profile.displayName ?? "", bio: profile.bio ?? "", avatarURL: profile.avatarURL ?? "",
      showsPresence: person.showsPresence)
    let isMe = try hub().user == user
    if isMe {
      if try store.outbox.pending().contains(where: { $0.act == .profile }) { return }
      if try isLost(change, of: person, before: before, handle) { return try pushProfileAgain(user) }
      try store.outbox.note(profileRev: person.rev)
    }
    if let picture = profile.picture { try store.pictures.insert(picture) }
    try store.users.update(user, change, at: .now)
    // Another machine of the user, which did not have the picture, has changed the profile.
    if isMe, profile.picture == nil, try store.pictures.picture(profile.avatarURL) != nil { try pushProfileAgain(user) }
  }

  /// Whether the hub has no profile of the user, or has one that is older than the last change that this store made to it.
  private func isLost(_ profile: ProfileChange, of me: HubPerson, before: Int64, _ handle: Handle) throws -> Bool {
    guard let last = try store.outbox.profileRev(or: before), let user = try store.users.user(handle) else {
      return false
    }
    return (me.profile == nil || me.rev <= last) && profile.changes(user)
  }

  private func pushProfileAgain(_ user: UserKey) throws {
    if hello?.isStandby == false { try Session(messenger, store, user).queueProfile() }
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
