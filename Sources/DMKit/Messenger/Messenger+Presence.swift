public import DMModel
internal import DMStore
internal import DMSystem

extension Messenger {
  /// Shows that the user is online to those who may see it.
  func beatPresence() throws {
    let isShown = try reading(false) { try $0.store.users.user(identity.handle)?.showsPresence == true }
    if isShown { LiveFolder(path: location.live).give(.present(identity.handle)) }
  }

  /// The presence of these users, or of all users who share a conversation with the user.
  ///
  /// Leaves out users who do not show their presence. In a linked store, leaves out all other users if their presence is
  /// unknown, because the hub was not asked lately: see `watchPresence()`.
  ///
  /// - Throws: `unknown_user`, and `not_allowed` for a user who shares no conversation with the user.
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

  /// Has the sync process of a linked store ask the hub for some seconds who is online.
  public func watchPresence() { LiveFolder(path: location.live).give(.presenceWatched) }

  /// Waits until the hub of a linked store has said who is online, or until a time of `monotonicMicroseconds`.
  package func awaitPresence(until end: Int64) {
    let watch = Watch(location.live)
    while !knowsPresence, monotonicMicroseconds() < end {
      var awaited = [Awaited(watch.descriptor, for: .reading)]
      if waitForAny(of: &awaited, until: min(end, monotonicMicroseconds() + 50_000)) { watch.drain() }
    }
  }

  /// Whether the hub of a linked store has said lately who is online.
  package var knowsPresence: Bool {
    guard hasCarrier, let asked = FileStatus(location.livePresence)?.modified else { return false }
    return abs(Timestamp.now.microseconds - asked.microseconds) < 40_000_000
  }

  /// Whether the user sees the presence of another.
  func seesPresence(of other: Handle, among keys: [ConversationKey]?) throws -> Bool {
    guard other != identity.handle else { return false }
    return try reading(false) { session in
      try session.store.users.user(other)?.showsPresence == true
        && session.store.members.sharesConversation(session.me, other, among: keys)
    }
  }
}

extension Session {
  /// A user who shares a conversation with the acting user, or the acting user.
  fileprivate func contact(_ other: Handle) throws -> User {
    guard let user = try store.users.user(other) else { throw try unknownUser(other) }
    guard try store.members.sharesConversation(me, other, among: nil) || other == handle else {
      throw try DMError(
        .notAllowed, "'\(handle)' shares no conversation with '\(other)', or blocks them", subject: other.description)
    }
    return user
  }
}
