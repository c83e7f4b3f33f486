internal import DMCLI
internal import DMKit

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
    let change = try change(call.arguments)
    if change == ProfileChange() { throw usage("nothing to set; see --help") }
    try call.print(try call.messenger().setProfile(change), text: TextFormat.line)
  }

  private static func change(_ arguments: Arguments) throws -> ProfileChange {
    ProfileChange(
      displayName: try arguments[displayName], bio: try arguments[bio], avatarURL: try arguments[avatarURL],
      showsPresence: arguments[showPresence] ? true : arguments[hidePresence] ? false : nil,
      sendsReadReceipts: arguments[sendReceipts] ? true : arguments[hideReceipts] ? false : nil)
  }

  static func show(_ call: Invocation) throws {
    try call.arguments.atMost(1)
    let handle = call.arguments.operands.first.map { Handle(typed: $0.without("@")) }
    try call.print(try call.messenger().user(handle), text: TextFormat.line)
  }

  static func printAll(_ call: Invocation) throws {
    try call.arguments.atMost(0)
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
    for user in users { try call.print(user, text: TextFormat.line) }
  }

  static func printBlocked(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    for user in try call.messenger().blockedUsers() { try call.print(user, text: TextFormat.line) }
  }
}
