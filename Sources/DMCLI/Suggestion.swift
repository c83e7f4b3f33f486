package import DMKit

extension Invocation {
  /// Suggests a command on standard error, if the user is at a terminal and is new.
  ///
  /// New users have no conversation, or only one conversation with a single message.
  ///
  /// - Parameter added: the user who was just added.
  /// - Throws: an error of the store.
  package func suggestNext(added: Handle? = nil) throws {
    guard isSeen else { return }
    var query = ListQuery()
    query.archived = .included
    query.limit = 2
    let messenger = try messenger()
    let me = messenger.identity.handle
    let conversations: [Conversation]
    do {
      conversations = try messenger.conversations(query)
    } catch let error as DMError where error.code == .unknownUser {
      // The user who was just added is the first user in the store. The acting user does not exist yet.
      return try suggest("dm-user add \(me)", to: "add yourself")
    }
    let actor = arguments.isGiven(Common.user) ? " --as \(me)" : ""
    guard let only = conversations.first else {
      if let added, added == me { return }
      let user = added.map(\.description) ?? "USER"
      return try suggest("dm-send\(actor) \(user) 'lunch?'", to: "begin a conversation")
    }
    guard conversations.count == 1, let message = only.lastMessage, message.seq == 1,
      let other = only.participants.first(where: { $0 != me }), try !messenger.isLinked
    else { return }
    if message.sender == me {
      try suggest("dm-list --as \(other)", to: "see it as \(other)")
    } else {
      try suggest("dm-send\(actor) \(other) 'with pleasure'", to: "answer")
    }
  }

  /// Whether both standard output (as text) and standard error go to a terminal.
  package var isSeen: Bool { !isJSON && !isQuiet && isTerminal(.output) && isTerminal(.error) }

  /// If `isSeen`, prints a hint on standard error, for example why nothing was printed.
  package func note(_ text: @autoclosure () throws -> String) throws {
    guard isSeen else { return }
    try output.flush()
    printError(command.name, try text())
  }

  /// If the program will read from a terminal, prints on standard error what to type.
  package func announceTyping(_ text: String) {
    if isTerminal(.input), isTerminal(.error), !isQuiet { printError(command.name, text) }
  }

  private func suggest(_ words: String, to purpose: String) throws {
    try note("to \(purpose), type: \(words)")
  }
}
