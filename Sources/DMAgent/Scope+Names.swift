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
      let candidates = try candidates(text.without("@+#").lowercased())
      guard candidates.count == 1 else { throw error }
      return candidates[0]
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

  /// The conversations and users of the agent that have a name, which is in lower case.
  private func candidates(_ name: String) throws -> [ConversationReference] {
    guard !name.isEmpty, name.utf8.count <= titleLimit else { return [] }
    var query = ListQuery()
    (query.archived, query.matching) = (.included, name)
    let me = messenger.identity.handle
    let found = try AgentTool.list(query, self).filter { conversation in
      let others = conversation.isGroup ? [] : conversation.participants.filter { $0 != me }.map(\.description)
      return ([conversation.name, conversation.title, conversation.ownName].compactMap(\.self) + others)
        .contains { $0.lowercased() == name }
    }
    if !found.isEmpty { return found.map { .id($0.id) } }
    // A direct conversation that does not exist yet.
    if let only { return only.filter { $0.description.lowercased() == name } }
    return try exists(Handle(typed: name)) ? [.direct(Handle(typed: name))] : []
  }
}
