internal import DMCLI
internal import DMKit

extension DMList {
  /// Prints the pinned messages of the conversations, or of all conversations.
  static func printPins(_ call: Invocation, _ messenger: Messenger) throws {
    let pinned = try messenger.pins(in: call.arguments.operands.map(ConversationReference.init))
    var page = MessagePage(messenger, [])
    try call.inPages {
      for message in pinned {
        try call.print(message) {
          TextFormat.line($0, nil, try page.people(of: $0), in: try page.name($0.conversationID))
        }
      }
    }
    if pinned.isEmpty { try call.note("no message is pinned; 'dm-edit pin MESSAGE' pins one") }
  }
}
