internal import DMCLI
internal import DMKit

/// The conversations of an import that the user who imports is not in, and so does not see.
struct Unseen {
  /// For each conversation of the import, a message whose sender is in the conversation.
  private var messages: [Message] = []
  private var seen: Set<Identifier> = []

  mutating func add(_ message: Message) {
    if message.systemKind == nil, seen.insert(message.conversationID).inserted { messages.append(message) }
  }

  /// How the user can see these conversations; nil if the user is in all of them.
  ///
  /// - Parameter isExport: whether the messages come from an export of another program.
  func advice(_ messenger: Messenger, isExport: Bool) throws -> String? {
    let me = messenger.identity.handle
    let unseen = try messages.filter { try $0.sender != me && !isIn($0.conversationID, messenger) }
    guard let first = unseen.first else { return nil }
    // The user does not see the title, and the sender does.
    let sender = Messenger(messenger.location, as: Messenger.Identity(first.sender, isLoginName: false))
    let names = "'\(TextFormat.name(try sender.conversation(.id(first.conversationID)), for: first.sender))'"
    let place = unseen.count == 1 ? names : "\(unseen.count) of the conversations, such as \(names)"
    return "you are not in \(place); 'dm-list --as \(first.sender)' lists \(unseen.count == 1 ? "it" : "that one")"
      + (isExport ? "; to be in it, give your name there and '\(me)' to the importer's --map the first time" : "")
  }

  private func isIn(_ conversation: Identifier, _ messenger: Messenger) throws -> Bool {
    do {
      _ = try messenger.conversation(.id(conversation))
      return true
    } catch let error as DMError where error.code == .notAllowed {
      return false
    }
  }
}
