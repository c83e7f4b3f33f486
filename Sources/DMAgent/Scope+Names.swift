internal import DMKit
internal import DMSystem

// What the agent means by a name.

extension Scope {
  /// The conversation that a text names exactly, or else the only one with this name if case and signs do not count.
  ///
  /// - Throws: `bad_reference`, `unknown_user`, `unknown_conversation`, `ambiguous_title`.
  func conversation(named text: String) throws -> ConversationReference {
    do {
      let reference = try conversation(ConversationReference(text))
      switch reference {
      case .direct(let handle) where only == nil: _ = try messenger.user(handle)
      case .title: _ = try messenger.conversation(reference)
      default: break
      }
      return reference
    } catch let error as DMError where [.unknownUser, .unknownConversation, .hubUnreachable].contains(error.code) {
      let candidates = try candidates(text)
      if candidates.count > 1 {
        let names = candidates.prefix(5).map { "'\($0)'" }.sorted().joined(separator: ", ")
        throw DMError(
          .ambiguousTitle, "'\(text)' could be one of \(candidates.count), such as \(names); name one of them exactly",
          subject: text)
      }
      guard let found = candidates.first else { throw error }
      return found
    }
  }

  /// The message that a text names, in the conversation that `conversation(named:)` finds.
  ///
  /// - Throws: `bad_reference`, `unknown_message`, `unknown_user`, `unknown_conversation`, `ambiguous_title`.
  func message(named text: String) throws -> MessageReference {
    let reference = try MessageReference(text)
    guard case .number(let number, in: let named?) = reference else { return try message(reference) }
    return .number(number, in: try conversation(named: named.description))
  }

  /// The user that a text names exactly, or else the user whose handle is this text in lower case.
  func user(named text: String) throws -> Handle {
    let (typed, folded) = (text.without("@"), text.without("@").lowercased())
    guard only == nil, try !exists(Handle(typed: typed)), try exists(Handle(typed: folded)) else {
      return Handle(typed: typed)
    }
    return Handle(typed: folded)
  }

  private func exists(_ handle: Handle) throws -> Bool {
    do { return try messenger.user(handle).handle == handle } catch let error as DMError
      where [.unknownUser, .hubUnreachable].contains(error.code)
    { return false }
  }

  /// The conversations and users of the agent that a text may mean if case does not count.
  ///
  /// With `@` these are only users, and with `+` or `#` only conversations with a title or a name of the user's own. A user
  /// with this handle is always one of them, so that nobody else gets the user's messages because of a display name.
  private func candidates(_ text: String) throws -> [ConversationReference] {
    let (isUser, isTitle) = (text.hasPrefix("@"), text.without("+#").utf8.count < text.utf8.count)
    let name = text.without("@+#").lowercased()
    guard !name.isEmpty, name.utf8.count <= titleLimit else { return [] }
    func isSame(_ other: String?) -> Bool { other?.lowercased() == name }
    var query = ListQuery()
    (query.archived, query.matching, query.limit) = (.included, name, nil)
    let me = messenger.identity.handle
    var found: Set<ConversationReference> = []
    for conversation in try AgentTool.list(query, self) {
      let hasTitle = isSame(conversation.title) || isSame(conversation.ownName)
      if conversation.isGroup {
        if hasTitle, !isUser { found.insert(.id(conversation.id)) }
      } else {
        let other = conversation.participants.first { $0 != me } ?? me
        let isOther = isSame(conversation.name) || isSame(other.description)
        if hasTitle && !isUser || isOther && !isTitle { found.insert(.direct(other)) }
      }
    }
    if isTitle { return Array(found) }
    if let only {
      for case .direct(let handle) in only where isSame(handle.description) { found.insert(.direct(handle)) }
    } else {
      try eachUser(of: nil) { user in
        if isSame(user.handle.description) { found.insert(.direct(user.handle)) }
        return true
      }
    }
    return Array(found)
  }
}
