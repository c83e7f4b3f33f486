package import DMCLI
internal import DMKit
internal import DMPostgres
internal import DMSync
internal import DMSystem

package struct DMSyncProgram: Program {
  static let follow = Flag("follow", short: "f", "keep synchronizing, and print the state each time it changes")
  static let linger = Flag(
    "linger", "synchronize without output, until nothing is queued and no program follows the store")
  static let files = Flag("files", "only upload and fetch files that wait")
  static let authority = Option(
    "ca", value: "FILE", "the certificate of the authority that signed the hub's certificate")
  static let force = Flag("force", "unlink the store even if the hub cannot be reached")

  package static let command = Command(
    "dm-sync", "link a store to a hub, and synchronize the two",
    synopsis: [
      "", "-f | --linger | --files", "join [TOKEN] [--messages N|TIME] [--contents SIZE]",
      "move HOST[:PORT] [--ca FILE]", "status",
      "pending", "retry [ID]...", "drop ID...", "machines", "revoke MACHINE",
      "keep [--messages N|TIME] [--contents SIZE]",
      "network [normal|poor|very-poor|offline]", "leave [--force]",
    ],
    options: [follow, linger, files], rules: [.atMostOne([follow, linger, files])],
    subcommands: [
      Command.Subcommand(
        "join", operands: "[TOKEN]", "link a new store to the hub of an invitation",
        options: Keeping.options, run: join),
      Command.Subcommand(
        "move", operands: "HOST[:PORT]", "use another address of the hub, with the same login", options: [authority],
        run: move),
      Command.Subcommand("status", "show the state of the connection, without asking the hub", run: printStatus),
      Command.Subcommand("pending", "print queued, refused and postponed operations", run: printPending),
      Command.Subcommand("retry", operands: "[ID]...", "queue refused or postponed operations again", run: retry),
      Command.Subcommand("drop", operands: "ID...", "discard refused or postponed operations", run: drop),
      Command.Subcommand(
        "keep", "limit the messages and attachments that this store keeps, or print the limits",
        options: Keeping.options, run: Keeping.run),
      Command.Subcommand("machines", "print the machines of the user", run: printMachines),
      Command.Subcommand("revoke", operands: "MACHINE", "lock out another machine of the user", run: revoke),
      Command.Subcommand(
        "network", operands: "[normal|poor|very-poor|offline]", "simulate a network, or print which one is simulated",
        run: network
      ),
      Command.Subcommand(
        "leave", "unlink the store from its hub; the store becomes read-only", options: [force], run: leave),
    ],
    main: sync,
    examples: [
      ("dm-sync join <invitation", "link this store to the hub of an invitation"),
      ("dm-sync", "push what is queued, and pull what is new"),
      ("dm-sync -f", "keep synchronizing, as a service"),
      ("dm-sync status --json | jq -r .color", "the state: green, yellow or red"),
      ("dm-sync revoke old-laptop", "lock out a lost machine"),
      ("dm-sync network poor", "try your bot on a poor network"),
    ], writes: ["hub", "outbox", "machine", "kept"])
}

extension DMSyncProgram {
  /// The link to the hub of the store.
  static func link(_ call: Invocation) throws -> PQHubLink {
    // The login must come from the store's file alone, not from environment variables of libpq.
    forgetVariables(beginningWith: "PG")
    return PQHubLink(try call.messenger().location)
  }

  static func sync(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    try call.arguments[files] ? carryFiles(call) : carry(call)
  }

  /// Uploads and fetches files, unless another process does so for this store.
  private static func carryFiles(_ call: Invocation) throws {
    do {
      try leadFiles(call) { try $0.carry() }
    } catch let fault as HubFault {
      throw fault.error
    }
  }

  /// Runs `work`, unless another process uploads and fetches the files of this store.
  static func leadFiles(_ call: Invocation, _ work: (FileCarrier) throws -> Void) throws {
    forgetVariables(beginningWith: "PG")
    let carrier = try FileCarrier(call.messenger(), PQFileLink(call.messenger().location))
    if try carrier.lead() { try work(carrier) }
  }

  /// Returns an object that starts another process to upload and fetch files when files wait.
  private static func fileWork(_ call: Invocation) throws -> FileWork {
    let messenger = try call.messenger()
    return FileWork(messenger) { try Carrier.startFiles(for: messenger) }
  }

  /// Synchronizes once, unless another process synchronizes the store.
  ///
  /// - Returns: whether this process has synchronized.
  static func syncOnce(_ call: Invocation) throws -> Bool {
    let loop = try SyncLoop(call.messenger(), link(call), files: fileWork(call))
    guard try loop.lead() else { return false }
    try loop.once()
    return true
  }

  /// Synchronizes once, or continuously with --follow or --linger.
  private static func carry(_ call: Invocation) throws {
    let (follows, lingers) = (call.arguments[follow], call.arguments[linger])
    let messenger = try call.messenger()
    var last: HubStatus?
    let loop = try SyncLoop(messenger, link(call), files: fileWork(call)) {
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
        throw DMError(
          .busy, "another dm-sync is already synchronizing this store", subject: messenger.location.directory)
      }
      try SyncRequests.ask(messenger)
      return try printResult(call)
    }
    if follows || lingers { return try loop.follow(lingers: lingers) }
    try loop.once()
    try printResult(call)
  }

  /// Prints the state after a synchronization.
  ///
  /// - Throws: `over_quota` if the hub has postponed operations.
  private static func printResult(_ call: Invocation) throws {
    let status = try call.messenger().hubStatus()
    try call.print(status, text: TextFormat.line)
    if let until = status.retryAt { throw call.overQuota(until) }
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

  static func printMachines(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    for machine in try asking(call, { try $0.machines() }) { try call.print(machine, text: \.line) }
  }

  static func revoke(_ call: Invocation) throws {
    let word = try call.arguments.operand(0, "MACHINE")
    try call.arguments.atMost(1)
    let machine = try asking(call) { link in
      let machine = try named(word, of: link.machines())
      try link.revoke(machine.id)
      return machine
    }
    try call.print(machine, text: \.line)
  }

  /// Calls `question` with a new connection to the hub.
  private static func asking<T>(_ call: Invocation, _ question: (PQHubLink) throws -> T) throws -> T {
    do {
      if try call.messenger().hubStatus().network == .offline {
        throw HubFault.lost("the simulated network is offline")
      }
      let link = try link(call)
      guard try link.open().hasOwnStates else {
        throw HubFault.damaged("the hub is of an older version; ask its administrator")
      }
      return try question(link)
    } catch let fault as HubFault {
      throw fault.error
    }
  }

  /// The machine that a word names.
  ///
  /// - Throws: `bad_reference` unless the word names exactly one machine, `not_allowed` for this machine.
  private static func named(_ word: String, of all: [HubMachine]) throws -> HubMachine {
    let found = all.filter { word == $0.label || word.utf8.count >= 4 && $0.id.description.hasPrefix(word) }
    guard let machine = found.first, found.count == 1 else {
      let reason = found.isEmpty ? "you have no machine" : "\(found.count) of your machines are called"
      throw DMError(.badReference, "\(reason) '\(word)'", subject: word, remedy: .listMachines)
    }
    if machine.isThis {
      throw DMError(.notAllowed, "'\(word)' is this machine", subject: word, remedy: .leaveHub)
    }
    return machine
  }

  static func network(_ call: Invocation) throws {
    try call.arguments.atMost(1)
    if let word = call.arguments.operands.first {
      guard let network = HubNetwork(word: word) else {
        let names = HubNetwork.allCases.map(\.word).joined(separator: ", ")
        throw usage("'\(word)' is not a network; name one of \(names)")
      }
      try call.messenger().simulate(network)
    }
    try call.print(call.messenger().hubStatus(), text: TextFormat.line)
  }
}

extension DMSyncProgram {
  static func join(_ call: Invocation) throws {
    try call.arguments.atMost(1)
    forgetVariables(beginningWith: "PG")
    let messenger = try call.messenger()
    let joining = try Joining(messenger)
    let word = call.arguments.operands.first ?? "-"
    let token = try word == "-" ? readToken(isOptional: joining.hasBegun) : word
    do {
      try joining.join(token.map { try Invitation(token: $0) })
      try Keeping.setLimits(call)
      // A sync process that runs may be pausing after a fault of the former login.
      if try !syncOnce(call) { try SyncRequests.ask(messenger) }
    } catch let fault as HubFault {
      throw fault.error
    }
    try call.print(messenger.hubStatus()) { status in
      let (conversations, messages) = try messenger.counts()
      return
        "joined the hub as \(status.user); \(counted(conversations, "conversation")) and \(counted(messages, "message")) are here"
    }
  }

  static func move(_ call: Invocation) throws {
    let address = try HubAddress(call.arguments.operand(0, "HOST[:PORT]"))
    try call.arguments.atMost(1)
    let certificate = try call.arguments[authority].map(readCertificate)
    forgetVariables(beginningWith: "PG")
    let messenger = try call.messenger()
    _ = try messenger.hubStatus()
    let relocation = Relocation(messenger.location)
    try relocation.move(messenger, to: address, authority: certificate)
    // The process that synchronizes the store makes the connection, because two processes must not replace the
    // credentials at the same time.
    try carry(call)
    try relocation.check(isAt: address)
  }

  /// The token in the first line of standard input; nil if the token is optional and there is none.
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
      forgetCredentials(messenger.location)
    }
    try messenger.leaveHub()
  }
}

extension HubMachine {
  fileprivate var line: String {
    let name = label.map { visible($0) } ?? "-"
    let state =
      isThis ? "this machine" : isConnected ? "connected" : "seen \(seenAt.map(TextFormat.dateAndTime) ?? "never")"
    return "\(name)  \(id)  joined \(TextFormat.dateAndTime(joinedAt)), \(state)"
  }
}
