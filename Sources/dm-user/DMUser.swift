internal import DMCLI
internal import DMKit

@main struct DMUser: Program {
  static let profile = [
    Option("display-name", value: "NAME", "the name that people see"),
    Option("bio", value: "TEXT", "a few words about the user"),
    Option("avatar-url", value: "URL", "where a picture of the user is"),
    Option("show-presence", "let others see when the user is online"),
    Option("hide-presence", "do not"),
  ]

  static let command = Command(
    "dm-user", "add users, and show and change profiles",
    synopsis: ["add HANDLE [OPTION]...", "list", "show [USER]", "set [OPTION]...", "presence [-f] [USER]..."],
    subcommands: [
      Command.Subcommand("add", operands: "HANDLE", "add a user", options: profile),
      Command.Subcommand("list", "print all users"),
      Command.Subcommand("show", operands: "[USER]", "print a user, or oneself"),
      Command.Subcommand("set", "change one's own profile; an empty value clears a field", options: profile),
      Command.Subcommand(
        "presence", operands: "[USER]...", "who is there, of those with whom one shares a conversation",
        options: [Option("follow", short: "f", "go on with each who comes and goes")]),
    ],
    examples: [
      ("dm-user add dave --display-name 'Dave D.'", "add dave"),
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
      try call.print(try messenger.addUser(handle, try change(arguments)), text: TextFormat.line)
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
    default:
      try arguments.atMost(0)
      var after = ""
      while case let page = try messenger.users(after: after, limit: 500), let last = page.last {
        for user in page { try call.print(user, text: TextFormat.line) }
        after = last.handle.description
      }
    }
  }

  static func printPresence(_ call: Invocation, _ messenger: Messenger) throws {
    try call.arguments.exclude("follow", "quiet")
    let handles = try call.arguments.operands.map { try Handle($0.without("@")) }
    var known: [Handle: Bool] = [:]
    func printNews(_ presence: Presence) throws {
      guard handles.isEmpty || handles.contains(presence.user), known[presence.user] != presence.isOnline else {
        return
      }
      known[presence.user] = presence.isOnline
      try call.print(presence, text: TextFormat.line)
    }
    let presence = try messenger.presence(of: handles.map(\.description))
    for presence in presence { try printNews(presence) }
    guard call.arguments.has("follow") else { return }
    try call.output.flush()
    var query = EventQuery()
    query.kinds = [.presence]
    query.beatsPresence = false
    try call.follow(query) { events in
      for case .presence(let presence) in events { try printNews(presence) }
      return nil
    }
  }

  static func change(_ arguments: Arguments) throws -> ProfileChange {
    try arguments.exclude("show-presence", "hide-presence")
    let shows = arguments.has("show-presence") ? true : arguments.has("hide-presence") ? false : nil
    return ProfileChange(
      displayName: arguments.value("display-name"), bio: arguments.value("bio"),
      avatarURL: arguments.value("avatar-url"), showsPresence: shows)
  }
}
