internal import DMCLI
internal import DMKit

@main struct DMConversation: Program {
  static let command = Command(
    "dm-conversation", "create conversations, show and change them",
    synopsis: [
      "create USER... [--if-absent]", "create --title TITLE [USER]... [--if-absent]", "show CONVERSATION",
      "add CONVERSATION USER... [--with-history]", "remove CONVERSATION USER...", "leave CONVERSATION",
      "title CONVERSATION TITLE", "name CONVERSATION NAME", "avatar CONVERSATION URL", "expire CONVERSATION TIME|off",
      "pin|unpin|archive|unarchive|unmute|delete CONVERSATION...", "mute CONVERSATION... [--for TIME]",
      "draft CONVERSATION [TEXT]... [--clear]",
    ],
    subcommands: [
      Command.Subcommand(
        "create", operands: "[USER]...", "find or create a direct conversation, or create a group",
        options: [
          Declaration("title", value: "TITLE", "make it a group of that title"),
          Declaration("if-absent", "print the group where there is one of that title, or of exactly these users"),
        ]),
      Command.Subcommand("show", operands: "CONVERSATION", "print a conversation"),
      Command.Subcommand(
        "add", operands: "CONVERSATION USER...", "add users to a group",
        options: [Declaration("with-history", "let them see what was said before, too")]),
      Command.Subcommand("remove", operands: "CONVERSATION USER...", "remove users from a group that one owns"),
      Command.Subcommand("leave", operands: "CONVERSATION", "leave a group; its last owner passes it on"),
      Command.Subcommand("title", operands: "CONVERSATION TITLE", "give a group another title"),
      Command.Subcommand(
        "name", operands: "CONVERSATION NAME", "give it a name that only you see; '' for none"),
      Command.Subcommand("avatar", operands: "CONVERSATION URL", "say where a picture of a group is; '' for nowhere"),
      Command.Subcommand("expire", operands: "CONVERSATION TIME|off", "have what is said from now on expire"),
      Command.Subcommand("pin", operands: "CONVERSATION...", "list it first"),
      Command.Subcommand("unpin", operands: "CONVERSATION...", "list it by its activity again"),
      Command.Subcommand(
        "mute", operands: "CONVERSATION...", "mark it as one that is not to disturb",
        options: [Declaration("for", value: "TIME", "only for that long")]),
      Command.Subcommand("unmute", operands: "CONVERSATION...", "undo that"),
      Command.Subcommand(
        "archive", operands: "CONVERSATION...", "put it away until something new is said, or for good if it is muted"),
      Command.Subcommand("unarchive", operands: "CONVERSATION...", "bring it back"),
      Command.Subcommand(
        "delete", operands: "CONVERSATION...",
        "delete what was said for oneself, and do not list it until something new is"),
      Command.Subcommand(
        "draft", operands: "CONVERSATION [TEXT]...", "keep a text for later, or show it",
        options: [Declaration("clear", "throw it away")]),
    ],
    examples: [
      ("dm-conversation create --title ops bob carol", "a group of oneself, bob and carol"),
      ("dm-conversation create --title ops bob --if-absent", "the same in a script that may run twice"),
      ("dm-conversation name +ops work", "call that group +work, whatever its title becomes"),
      ("dm-conversation create bob | jq -r .id", "the id of the direct conversation with bob"),
      ("dm-conversation show +ops", "its participants, its last message, what is unread"),
      ("dm-conversation add +ops dave --with-history", "dave sees all that was said"),
      ("dm-conversation mute +ops --for 8h", "silence for a night"),
      ("dm-conversation expire bob 1d", "what is said from now on is gone after a day"),
    ], writes: ["conversation"])

  static func run(_ call: Invocation) throws {
    let messenger = try call.messenger()
    let me = messenger.identity.handle
    for conversation in try act(call.arguments, messenger) {
      try call.print(conversation) { conversation in
        try TextFormat.details(conversation, for: me) {
          try messenger.user($0.description).displayName ?? $0.description
        }
      }
    }
  }
}
