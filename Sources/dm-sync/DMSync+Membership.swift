internal import DMCLI
internal import DMHub
internal import DMKit
internal import DMSystem

extension DMSync {
  static func join(_ call: Invocation) throws {
    try call.arguments.atMost(1)
    forgetVariables(beginningWith: "PG")
    let messenger = try call.messenger()
    let joining = try Joining(messenger)
    let word = call.arguments.operands.first ?? "-"
    let token = try word == "-" ? readToken(isOptional: joining.hasBegun) : word
    do {
      try joining.join(token.map { try Invitation(token: $0) })
      let loop = try SyncLoop(messenger, link(call))
      if try loop.lead() { try loop.once() }
    } catch let fault as HubFault {
      throw fault.error
    }
    try call.print(messenger.hubStatus(), text: TextFormat.line)
  }

  /// The first line of standard input.
  private static func readToken(isOptional: Bool) throws -> String? {
    if isOptional, isTerminal(.input) { return nil }
    if isTerminal(.input) { printError("dm-sync", "paste the token of your invitation, and press Enter") }
    guard let line = readLine(), !line.isEmpty else {
      if isOptional { return nil }
      throw usage("a token is missing; give the one of your invitation")
    }
    return line
  }

  static func leave(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let messenger = try call.messenger()
    _ = try messenger.hubStatus()
    do {
      try sayGoodbye(link(call), messenger.location)
    } catch let fault as HubFault where !call.arguments[force] {
      throw fault.error
    } catch is HubFault {
      removeFile(messenger.location.hub)
    }
    try messenger.leaveHub()
  }
}
