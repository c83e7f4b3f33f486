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
}
