package import DMCLI
internal import DMKit

package struct DMUser: Program {
  static let ifAbsent = Flag("if-absent", "if the user exists, print them and change nothing")
  static let displayName = Option("display-name", value: "NAME", "the name that people see")
  static let bio = Option("bio", value: "TEXT", "a few words about the user")
  static let avatarURL = Option("avatar-url", value: "URL", "the URL of the user's picture")
  static let picture = Option(
    "picture", value: "FILE", "make a small picture of this image for your profile; '' removes it")
  static let showPresence = Flag("show-presence", "let others see when the user is online")
  static let hidePresence = Flag("hide-presence", "do not let others see when the user is online")
  static let sendReceipts = Flag("send-read-receipts", "let others see what the user has read")
  static let hideReceipts = Flag(
    "hide-read-receipts", "hide from others what the user reads from now on")
  static let follow = Flag("follow", short: "f", "after the list, print each user who comes online or goes offline")

  private static let profile: [any Declared] = [
    displayName, bio, avatarURL, showPresence, hidePresence, sendReceipts, hideReceipts,
  ]

  package static let command = Command(
    "dm-user", "add users, show and change profiles, show who is online, and block users",
    synopsis: [
      "add HANDLE [--if-absent] [OPTION]...", "list", "show [USER]", "set [OPTION]...", "picture [USER]",
      "presence [-f] [USER]...", "block USER...", "unblock USER...", "blocked",
    ],
    options: [wait],
    rules: [
      .excludes(showPresence, [hidePresence]), .excludes(sendReceipts, [hideReceipts]),
      .excludes(follow, [Common.quiet]), .excludes(picture, [avatarURL]),
    ],
    subcommands: [
      Command.Subcommand("add", operands: "HANDLE", "add a user", options: [ifAbsent] + profile, run: add),
      Command.Subcommand("list", "print all users", options: [fresh], run: printAll),
      Command.Subcommand("show", operands: "[USER]", "print a user, or yourself", options: [fresh], run: show),
      Command.Subcommand(
        "set", "change your profile; an empty value clears a field", options: profile + [picture], run: set),
      Command.Subcommand(
        "picture", operands: "[USER]", "write the picture of a user, or yours, to standard output", run: writePicture),
      Command.Subcommand(
        "presence", operands: "[USER]...",
        "print whether users are online: each USER, or all who share a conversation with you",
        options: [follow], run: printPresence),
      Command.Subcommand("block", operands: "USER...", "hide all that a user sends, without notifying the user") {
        try setBlocked(true, $0)
      },
      Command.Subcommand("unblock", operands: "USER...", "stop hiding what a user sends") { try setBlocked(false, $0) },
      Command.Subcommand("blocked", "print the users that you block", run: printBlocked),
    ],
    examples: [
      ("dm-user add erin --display-name 'Erin E.'", "add erin"),
      ("dm-user list | jq -r .handle", "all handles"),
      ("dm-user --as bob set --bio 'on holiday' --hide-presence", "change bob's profile"),
      ("dm-user presence | jq -r 'select(.is_online).user'", "who is online"),
    ], writes: ["user", "presence"])
}

extension DMUser {
  static func add(_ call: Invocation) throws {
    let arguments = call.arguments
    try arguments.atMost(1)
    let handle = try Handle(arguments.operand(0, "HANDLE"))
    let user = try call.messenger().addUser(handle, change(arguments), ifAbsent: arguments[ifAbsent])
    try call.print(user, text: TextFormat.line)
    try call.suggestNext(added: handle)
  }

  static func set(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    var change = try change(call.arguments)
    let file = try call.arguments[picture]
    if file == "" { change.avatarURL = "" }
    if change == ProfileChange(), file == nil {
      throw usage("nothing to set; write --display-name NAME, or another option of --help")
    }
    let made = try file.flatMap { $0.isEmpty ? nil : try call.picture($0) }
    try call.print(try call.messenger().setProfile(change, picture: made), text: TextFormat.line)
  }

  static func writePicture(_ call: Invocation) throws {
    try call.arguments.atMost(1)
    let handle = call.arguments.operands.first.map { Handle(typed: $0.without("@")) }
    try call.write(call.messenger().picture(of: handle))
  }

  private static func change(_ arguments: Arguments) throws -> ProfileChange {
    ProfileChange(
      displayName: try arguments[displayName], bio: try arguments[bio], avatarURL: try arguments[avatarURL],
      showsPresence: arguments[showPresence] ? true : arguments[hidePresence] ? false : nil,
      sendsReadReceipts: arguments[sendReceipts] ? true : arguments[hideReceipts] ? false : nil)
  }

  static func show(_ call: Invocation) throws {
    try call.arguments.atMost(1)
    try call.refresh()
    let handle = call.arguments.operands.first.map { Handle(typed: $0.without("@")) }
    try call.print(try call.messenger().user(handle), text: TextFormat.line)
  }

  static func printAll(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    try call.refresh()
    let messenger = try call.messenger()
    var after: Handle?
    while case let page = try messenger.users(after: after, limit: 500), let last = page.last {
      for user in page { try call.print(user, text: TextFormat.line) }
      after = last.handle
    }
  }

  static func setBlocked(_ isBlocked: Bool, _ call: Invocation) throws {
    _ = try call.arguments.operand(0, "USER")
    let users = try call.messenger().setBlocked(
      isBlocked, call.arguments.operands.map { Handle(typed: $0.without("@")) })
    for user in users {
      try call.print(user) { "\(visible($0.handle.description)): \(isBlocked ? "blocked" : "no longer blocked")" }
    }
  }

  static func printBlocked(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    for user in try call.messenger().blockedUsers() { try call.print(user, text: TextFormat.line) }
  }
}

extension DMUser {
  static func printPresence(_ call: Invocation) throws {
    let messenger = try call.messenger()
    let handles = try call.arguments.operands.map { try Handle($0.without("@")) }
    var printed: [Handle: Bool] = [:]
    func printIfChanged(_ presence: Presence) throws {
      guard handles.isEmpty || handles.contains(presence.user), printed[presence.user] != presence.isOnline else {
        return
      }
      printed[presence.user] = presence.isOnline
      try call.print(presence) {
        TextFormat.line($0, displayName: try messenger.user($0.user).displayName)
      }
    }
    try call.refreshPresence()
    let presence = try messenger.presence(of: handles)
    for presence in presence { try printIfChanged(presence) }
    if presence.isEmpty, try messenger.isLinked { try call.note("the hub has not said who is online") }
    guard call.arguments[follow] else { return }
    try call.output.flush()
    var query = EventQuery()
    query.kinds = [.presence]
    query.signalsPresence = false
    try call.follow(query) { events in
      for case .presence(let presence) in events { try printIfChanged(presence) }
      return nil
    }
  }
}
