public import DMModel
internal import DMStore

/// The signal that the user is typing in a conversation; it ends unless it is refreshed.
public struct TypingSignal: Sendable {
  private let folder: String
  private let conversation: Identifier
  private let user: Handle

  /// The time after which the signal must be shown again.
  public static let refresh = Duration.seconds(3)

  init(folder: String, conversation: Identifier, user: Handle) {
    self.folder = folder
    self.conversation = conversation
    self.user = user
  }

  /// The path of the file whose modification time is the signal.
  var path: String { "\(folder)/\(LiveFolder.Signal.typing(conversation, user).name)" }

  /// Shows the signal for the next 5 s.
  ///
  /// - Returns: the time of this signal, for `hide(unlessShownSince:)`; nil if it could not be shown.
  @discardableResult
  public func show() -> Timestamp? {
    let live = LiveFolder(path: folder)
    live.give(.typing(conversation, user))
    return live.time(of: .typing(conversation, user))
  }

  /// Ends the signal.
  ///
  /// - Parameter shown: the result of `show()`; if another program has shown the signal since then, it continues.
  public func hide(unlessShownSince shown: Timestamp? = nil) {
    let live = LiveFolder(path: folder)
    if let shown, live.time(of: .typing(conversation, user)) != shown { return }
    live.takeBack(.typing(conversation, user))
  }
}

extension Messenger {
  /// The user's typing signal in a conversation; nil for a direct conversation that does not exist yet.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  public func typing(in reference: ConversationReference) throws -> TypingSignal? {
    try reading(nil) { session in
      guard let row = try session.findIfPresent(reference) else { return nil }
      try session.check(.type, in: row)
      return TypingSignal(folder: location.live, conversation: row.id, user: identity.handle)
    }
  }

  /// Ends the typing signals of the user in some conversations.
  ///
  /// A failure is ignored: the signals end by themselves.
  func endTyping(in conversations: Set<Identifier>) {
    LiveFolder(path: location.live).takeBackTyping(of: identity.handle, in: conversations)
  }

  /// Shows that the user is online to those who may see it.
  func beatPresence() throws {
    let isShown = try reading(false) { try $0.store.users.user(identity.handle)?.showsPresence == true }
    if isShown { LiveFolder(path: location.live).give(.present(identity.handle)) }
  }

  /// The presence of the users who share a conversation with the user, or of some users.
  ///
  /// Leaves out users who do not show their presence.
  ///
  /// - Throws: `unknown_user`, and `not_allowed` for a user who shares no conversation with the user.
  public func presence(of handles: [Handle] = []) throws -> [Presence] {
    let users = try reading([] as [Handle]) { session in
      if handles.isEmpty { return try session.store.users.contacts(of: session.me) }
      return try handles.map(session.contact).filter(\.showsPresence).map(\.handle)
    }
    let signals = LiveFolder(path: location.live).signals()
    var freshness = Freshness()
    let fresh = Set(freshness.look(at: signals).fresh)
    return users.map {
      Presence(user: $0, isOnline: fresh.contains(.present($0)), lastSeenAt: signals[.present($0)])
    }
  }

  /// Whether the user sees that another is typing: both are in the conversation, and it is one of `keys`, if given.
  func sees(_ other: Handle, typingIn conversation: Identifier, among keys: [ConversationKey]?) throws -> Bool {
    guard other != identity.handle else { return false }
    return try reading(false) { session in
      let (store, me) = (session.store, session.me)
      guard let row = try store.conversations.row(conversation), keys?.contains(row.key) != false,
        let user = try store.users.key(other)
      else { return false }
      return try store.members.isParticipant(me, of: row.key) && store.members.isParticipant(user, of: row.key)
        && !store.blocks.hasBlocked(user, by: me)
    }
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
