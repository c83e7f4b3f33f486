internal import DMCLI
internal import DMHub
internal import DMKit
internal import DMSystem

extension DMSync {
  /// The link to the hub of the store.
  static func link(_ call: Invocation) throws -> PQHubLink {
    // Who this is stands in the file of the store alone.
    forgetVariables(beginningWith: "PG")
    return PQHubLink(try call.messenger().location)
  }

  static func sync(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let (follows, lingers) = (call.arguments[follow], call.arguments[linger])
    let messenger = try call.messenger()
    var last: HubStatus?
    let loop = try SyncLoop(messenger, link(call)) {
      guard follows else { return }
      let status = try messenger.hubStatus()
      if last?.isSimilar(to: status) != true {
        try call.print(status, text: TextFormat.line)
        try call.output.flush()
      }
      last = status
    }
    guard try loop.lead() else {
      if lingers { return }
      if follows {
        throw DMError(.busy, "another dm-sync carries for this store", subject: messenger.location.directory)
      }
      return try SyncLoop.ask(messenger.location)
    }
    if follows || lingers { return try loop.follow(lingers: lingers) }
    try loop.once()
    try call.print(messenger.hubStatus(), text: TextFormat.line)
  }

  static func printStatus(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    try call.print(call.messenger().hubStatus(), text: TextFormat.line)
  }

  static func printPending(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    for item in try call.messenger().outbox() { try call.print(item, text: TextFormat.line) }
  }

  static func retry(_ call: Invocation) throws {
    for item in try call.messenger().retry(call.arguments.operands) { try call.print(item, text: TextFormat.line) }
  }

  static func drop(_ call: Invocation) throws {
    _ = try call.arguments.operand(0, "ID")
    for item in try call.messenger().drop(call.arguments.operands) { try call.print(item, text: TextFormat.line) }
  }

  static func network(_ call: Invocation) throws {
    try call.arguments.atMost(1)
    if let word = call.arguments.operands.first {
      guard let network = HubStatus.Network(word: word) else {
        let known = HubStatus.Network.allCases.map(\.word).joined(separator: ", ")
        throw usage("'\(word)' is no network; name one of \(known)")
      }
      try call.messenger().play(network)
    }
    try call.print(call.messenger().hubStatus(), text: TextFormat.line)
  }
}
