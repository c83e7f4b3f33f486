public import DMModel
internal import DMStore

/// The signal that the user is typing in a conversation.
///
/// The signal ends if it is not refreshed.
public struct TypingSignal: Sendable {
  private let folder: String
  private let conversation: Identifier
  private let user: Handle

  /// The time after which a program must show the signal again, so that it does not end.
  public static let refresh = Duration.seconds(3)

  init(folder: String, conversation: Identifier, user: Handle) {
    self.folder = folder
    self.conversation = conversation
    self.user = user
  }

  /// The path of the file whose modification time is the signal.
  var path: String { "\(folder)/\(LiveFolder.Signal.typing(conversation, user).name)" }

  /// Shows the signal for the next 5 seconds.
  ///
  /// - Returns: the time of this signal, to be passed to `hide(unlessShownSince:)`; nil if the signal could not be
  ///   shown.
  @discardableResult
  public func show() -> Timestamp? {
    let live = LiveFolder(path: folder)
    live.give(.typing(conversation, user))
    return live.time(of: .typing(conversation, user))
  }

  /// Ends the signal.
  ///
  /// - Parameter shown: the result of `show()`. If another program has shown the signal after that time, the signal
  ///   continues.
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
  /// Errors are ignored, because a signal ends without this call, too.
  func endTyping(in conversations: [Identifier]) {
    LiveFolder(path: location.live).takeBackTyping(of: identity.handle, in: conversations)
  }

  /// Whether the user sees that another user is typing: both are in the conversation, and `keys` is nil or contains it.
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
