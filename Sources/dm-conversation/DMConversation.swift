package import DMCLI
internal import DMKit

package struct DMConversation: Program {
  static let title = Option("title", value: "TITLE", "make it a group of that title")
  static let ifAbsent = Flag(
    "if-absent", "print the group where there is one of that title, or of exactly these users")
  static let withHistory = Flag("with-history", "let them see what was said before, too")
  static let length = Option("for", value: "TIME", "only for that long", as: duration)
  static let clear = Flag("clear", "throw it away")

  package static let command = Command(
    "dm-conversation", "create conversations, show and change them",
    synopsis: [
      "create USER... [--if-absent]", "create --title TITLE [USER]... [--if-absent]", "show CONVERSATION",
      "add CONVERSATION USER... [--with-history]", "remove CONVERSATION USER...", "leave CONVERSATION",
      "title CONVERSATION TITLE", "name CONVERSATION NAME", "avatar CONVERSATION URL", "expire CONVERSATION TIME|off",
      "pin|unpin|archive|unarchive|unmute|delete CONVERSATION...", "mute CONVERSATION... [--for TIME]",
      "draft CONVERSATION [TEXT]... [--clear]",
    ],
    options: [wait],
    subcommands: [
      Command.Subcommand(
        "create", operands: "[USER]...", "find or create a direct conversation, or create a group",
        options: [title, ifAbsent], run: create),
      Command.Subcommand("show", operands: "CONVERSATION", "print a conversation", run: show),
      Command.Subcommand(
        "add", operands: "CONVERSATION USER...", "add users to a group", options: [withHistory], run: add),
      Command.Subcommand(
        "remove", operands: "CONVERSATION USER...", "remove users from a group that you own", run: remove),
      Command.Subcommand(
        "leave", operands: "CONVERSATION", "leave a group; its last owner passes it on", run: leave),
      Command.Subcommand("title", operands: "CONVERSATION TITLE", "give a group another title", run: setTitle),
      Command.Subcommand(
        "name", operands: "CONVERSATION NAME", "give it a name that only you see; '' for none", run: setName),
      Command.Subcommand(
        "avatar", operands: "CONVERSATION URL", "say where a picture of a group is; '' for nowhere", run: setAvatar),
      Command.Subcommand(
        "expire", operands: "CONVERSATION TIME|off", "have what is said from now on expire", run: setExpiry),
      Command.Subcommand("pin", operands: "CONVERSATION...", "list it first") { try change(.pinned(true), $0) },
      Command.Subcommand("unpin", operands: "CONVERSATION...", "list it by its activity again") {
        try change(.pinned(false), $0)
      },
      Command.Subcommand(
        "mute", operands: "CONVERSATION...", "mark it as not to notify", options: [length], run: mute),
      Command.Subcommand("unmute", operands: "CONVERSATION...", "undo that") { try change(.unmuted, $0) },
      Command.Subcommand(
        "archive", operands: "CONVERSATION...", "put it away until something new is said, or for good if it is muted"
      ) { try change(.archived(true), $0) },
      Command.Subcommand("unarchive", operands: "CONVERSATION...", "bring it back") {
        try change(.archived(false), $0)
      },
      Command.Subcommand(
        "delete", operands: "CONVERSATION...",
        "delete its messages for yourself, and list it again only after a new one"
      ) { try change(.deleted, $0) },
      Command.Subcommand(
        "draft", operands: "CONVERSATION [TEXT]...", "keep a text for later, or show it", options: [clear],
        operandsWith: [(clear, "CONVERSATION")], run: draft),
    ],
    examples: [
      ("dm-conversation create --title ops bob carol", "a group of you, bob and carol"),
      ("dm-conversation create --title ops bob --if-absent", "the same in a script that may run twice"),
      ("dm-conversation name +ops work", "call that group +work, whatever its title becomes"),
      ("dm-conversation create bob | jq -r .id", "the id of the direct conversation with bob"),
      ("dm-conversation show +ops", "its participants, its last message, what is unread"),
      ("dm-conversation add +ops dave --with-history", "dave sees all that was said"),
      ("dm-conversation mute +ops --for 8h", "silence for a night"),
      ("dm-conversation expire bob 1d", "what is said from now on is gone after a day"),
    ], writes: ["conversation"])
}
