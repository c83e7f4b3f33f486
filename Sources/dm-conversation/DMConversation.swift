internal import DMCLI
internal import DMKit

@main struct DMConversation: Program {
  static let command = Command(
    "dm-conversation", "create conversations and show them",
    synopsis: ["create USER", "create --title TITLE [USER]...", "show CONVERSATION"],
    subcommands: [
      Command.Subcommand(
        "create", operands: "[USER]...", "find or create a direct conversation, or create a group",
        options: [Option("title", value: "TITLE", "make it a group of that title")]),
      Command.Subcommand("show", operands: "CONVERSATION", "print a conversation"),
    ],
    examples: [
      ("dm-conversation create --title ops bob carol", "a group of oneself, bob and carol"),
      ("dm-conversation create bob | jq -r .id", "the id of the direct conversation with bob"),
      ("dm-conversation show +ops", "its participants, its last message, what is unread"),
    ], writes: ["conversation"])

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    let messenger = try call.messenger()
    let conversation: Conversation
    if arguments.subcommand == "show" {
      try arguments.atMost(1)
      conversation = try messenger.conversation(ConversationReference(try arguments.operand(0, "CONVERSATION")))
    } else {
      let users = arguments.operands.map { $0.without("@") }
      if let title = arguments.value("title") {
        // As in a reference: '+ops' is the group titled ops.
        conversation = try messenger.createGroup(
          titled: title.without("+"), with: users)
      } else if users.count > 1 {
        throw usage("a group has a title; add --title TITLE")
      } else {
        guard let user = users.first else { throw usage("USER or --title is missing; see --help") }
        conversation = try messenger.directConversation(with: user)
      }
    }
    try call.print(conversation) { TextFormat.details($0, for: messenger.identity.handle) }
  }
}
