package import DMCLI
internal import DMKit

package struct DMUser: Program {
  static let ifAbsent = Flag("if-absent", "print the user who has the handle, and change nothing")
  static let displayName = Option("display-name", value: "NAME", "the name that people see")
  static let bio = Option("bio", value: "TEXT", "a few words about the user")
  static let avatarURL = Option("avatar-url", value: "URL", "where a picture of the user is")
  static let showPresence = Flag("show-presence", "let others see when the user is online")
  static let hidePresence = Flag("hide-presence", "do not")
  static let sendReceipts = Flag("send-read-receipts", "let others see what the user has read")
  static let hideReceipts = Flag(
    "hide-read-receipts", "do not; what is read from then on is marked without receipts")
  static let follow = Flag("follow", short: "f", "go on with each who comes and goes")

  private static let profile: [any Declared] = [
    displayName, bio, avatarURL, showPresence, hidePresence, sendReceipts, hideReceipts,
  ]

  package static let command = Command(
    "dm-user", "add users, and show and change profiles",
    synopsis: [
      "add HANDLE [--if-absent] [OPTION]...", "list", "show [USER]", "set [OPTION]...", "presence [-f] [USER]...",
      "block USER...", "unblock USER...", "blocked",
    ],
    options: [wait],
    rules: [
      .excludes(showPresence, [hidePresence]), .excludes(sendReceipts, [hideReceipts]),
      .excludes(follow, [Common.quiet]),
    ],
    subcommands: [
      Command.Subcommand("add", operands: "HANDLE", "add a user", options: [ifAbsent] + profile, run: add),
      Command.Subcommand("list", "print all users", run: printAll),
      Command.Subcommand("show", operands: "[USER]", "print a user, or yourself", run: show),
      Command.Subcommand(
        "set", "change your profile; an empty value clears a field", options: profile, run: set),
      Command.Subcommand(
        "presence", operands: "[USER]...", "print which users who share a conversation with you are online",
        options: [follow], run: printPresence),
      Command.Subcommand("block", operands: "USER...", "hide what a user sends; they are not told") {
        try setBlocked(true, $0)
      },
      Command.Subcommand("unblock", operands: "USER...", "undo that") { try setBlocked(false, $0) },
      Command.Subcommand("blocked", "print the users you block", run: printBlocked),
    ],
    examples: [
      ("dm-user add erin --display-name 'Erin E.'", "add erin"),
      ("dm-user list | jq -r .handle", "all handles"),
      ("dm-user --as bob set --bio 'on holiday' --hide-presence", "change bob's profile"),
      ("dm-user presence | jq -r 'select(.is_online).user'", "who is there"),
    ], writes: ["user", "presence"])
}
