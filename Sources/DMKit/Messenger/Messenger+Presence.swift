public import DMModel
internal import DMStore
internal import DMSystem

extension Messenger {
  /// Shows the user as online, to the users who may see their presence.
  func beatPresence() throws {
    let isShown = try reading(false) { try $0.store.users.user(identity.handle)?.showsPresence == true }
    if isShown { LiveFolder(path: location.live).give(.present(identity.handle)) }
  }

  /// The presence of these users; without handles, of all users who share a conversation with the user.
  ///
  /// Users who hide their presence are left out. In a linked store, all other users are left out if the hub has not
  /// reported presence lately: see `watchPresence()`.
  ///
  /// - Throws: `unknown_user`; `not_allowed` for a user who shares no conversation with the user.
  public func presence(of handles: [Handle] = []) throws -> [Presence] {
    let users = try reading([] as [Handle]) { session in
      let users =
        try handles.isEmpty
        ? session.store.users.contacts(of: session.me)
        : handles.map(session.contact).filter(\.showsPresence).map(\.handle)
      return session.store.isLinked && !knowsPresence ? users.filter { $0 == identity.handle } : users
    }
    let signals = LiveFolder(path: location.live).signals()
    var freshness = Freshness()
    let fresh = Set(freshness.look(at: signals).fresh)
    return users.map {
      Presence(user: $0, isOnline: fresh.contains(.present($0)), lastSeenAt: signals[.present($0)])
    }
  }

  /// Makes the sync process of a linked store ask the hub who is online, for the next 12 seconds.
  public func watchPresence() { LiveFolder(path: location.live).give(.presenceWatched) }

  /// Waits until the hub of a linked store has reported who is online, at most until a time of `monotonicMicroseconds`.
  package func awaitPresence(until end: Int64) {
    let watch = Watch(location.live)
    while !knowsPresence, monotonicMicroseconds() < end {
      var awaited = [Awaited(watch.descriptor, for: .reading)]
      if waitForAny(of: &awaited, until: min(end, monotonicMicroseconds() + 50_000)) { watch.drain() }
    }
  }

  /// Whether the sync process of a linked store is running, and the hub has reported in the last 40 seconds who is
  /// online.
  package var knowsPresence: Bool {
    guard hasCarrier, let asked = FileStatus(location.livePresence)?.modified else { return false }
    return abs(Timestamp.now.microseconds - asked.microseconds) < 40_000_000
  }

  /// Whether the user sees the presence of another user.
  func seesPresence(of other: Handle, among keys: [ConversationKey]?) throws -> Bool {
    guard other != identity.handle else { return false }
    return try reading(false) { session in
      try session.store.users.user(other)?.showsPresence == true
        && session.store.members.sharesConversation(session.me, other, among: keys)
    }
  }
}

extension Session {
  /// The user with a handle, who must be the acting user, or share a conversation with the acting user.
  fileprivate func contact(_ other: Handle) throws -> User {
    guard let user = try store.users.user(other) else { throw try unknownUser(other) }
    guard try store.members.sharesConversation(me, other, among: nil) || other == handle else {
      throw try DMError(
        .notAllowed, "'\(handle)' shares no conversation with '\(other)', or blocks them", subject: other.description)
    }
    return user
  }
}
