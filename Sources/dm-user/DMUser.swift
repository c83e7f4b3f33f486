internal import DMCLI
internal import DMKit

@main struct DMUser: Program {
  static let profile = [
    Declaration("display-name", value: "NAME", "the name that people see"),
    Declaration("bio", value: "TEXT", "a few words about the user"),
    Declaration("avatar-url", value: "URL", "where a picture of the user is"),
    Declaration("show-presence", "let others see when the user is online"),
    Declaration("hide-presence", "do not"),
    Declaration("send-read-receipts", "let others see what the user has read"),
    Declaration("hide-read-receipts", "do not; what is read from then on is marked without receipts"),
  ]

  static let command = Command(
    "dm-user", "add users, and show and change profiles",
    synopsis: [
      "add HANDLE [--if-absent] [OPTION]...", "list", "show [USER]", "set [OPTION]...", "presence [-f] [USER]...",
      "block USER...", "unblock USER...", "blocked",
    ],
    subcommands: [
      Command.Subcommand(
        "add", operands: "HANDLE", "add a user",
        options: [Declaration("if-absent", "print the user who has the handle, and change nothing")] + profile),
      Command.Subcommand("list", "print all users"),
      Command.Subcommand("show", operands: "[USER]", "print a user, or oneself"),
      Command.Subcommand("set", "change one's own profile; an empty value clears a field", options: profile),
      Command.Subcommand(
        "presence", operands: "[USER]...", "who is there, of those with whom one shares a conversation",
        options: [Declaration("follow", short: "f", "go on with each who comes and goes")]),
      Command.Subcommand(
        "block", operands: "USER...", "let nothing of a user reach oneself; he is not told"),
      Command.Subcommand("unblock", operands: "USER...", "undo that"),
      Command.Subcommand("blocked", "print whom one blocks"),
    ],
    examples: [
      ("dm-user add erin --display-name 'Erin E.'", "add erin"),
      ("dm-user list | jq -r .handle", "all handles"),
      ("dm-user --as bob set --bio 'on holiday' --hide-presence", "change bob's profile"),
      ("dm-user presence | jq -r 'select(.is_online).user'", "who is there"),
    ], writes: ["user", "presence"])

  static func run(_ call: Invocation) throws {
    let arguments = call.arguments
    let messenger = try call.messenger()
    switch arguments.subcommand {
    case "add":
      try arguments.atMost(1)
      let handle = try Handle(arguments.operand(0, "HANDLE"))
      try call.print(
        try messenger.addUser(handle, try change(arguments), ifAbsent: arguments.has("if-absent")),
        text: TextFormat.line)
    case "set":
      try arguments.atMost(0)
      let change = try change(arguments)
      if change == ProfileChange() { throw usage("nothing to set; see --help") }
      try call.print(try messenger.setProfile(change), text: TextFormat.line)
    case "show":
      try arguments.atMost(1)
      let handle = arguments.operands.first?.without("@")
      try call.print(try messenger.user(handle), text: TextFormat.line)
    case "presence":
      try printPresence(call, messenger)
    case "block", "unblock":
      _ = try arguments.operand(0, "USER")
      let changed = try messenger.setBlocked(
        arguments.subcommand == "block", arguments.operands.map { $0.without("@") })
      for user in changed { try call.print(user, text: TextFormat.line) }
    case "blocked":
      try arguments.atMost(0)
      for user in try messenger.blockedUsers() { try call.print(user, text: TextFormat.line) }
    default:
      try arguments.atMost(0)
      var after = ""
      while case let page = try messenger.users(after: after, limit: 500), let last = page.last {
        for user in page { try call.print(user, text: TextFormat.line) }
        after = last.handle.description
      }
    }
  }

  static func change(_ arguments: Arguments) throws -> ProfileChange {
    try arguments.exclude("show-presence", "hide-presence")
    try arguments.exclude("send-read-receipts", "hide-read-receipts")
    let sends = arguments.has("send-read-receipts") ? true : arguments.has("hide-read-receipts") ? false : nil
    let shows = arguments.has("show-presence") ? true : arguments.has("hide-presence") ? false : nil
    return ProfileChange(
      displayName: arguments.value("display-name"), bio: arguments.value("bio"),
      avatarURL: arguments.value("avatar-url"), showsPresence: shows, sendsReadReceipts: sends)
  }
}
