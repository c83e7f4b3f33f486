package import DMCLI
internal import DMKit
internal import DMPostgres
internal import DMSync
internal import DMSystem

package struct DMHub: Program {
  static let database = Option(
    "db", value: "DATABASE", "the database: a name, a connection string or a URI [$PGDATABASE]")
  static let address = Option("public", value: "HOST[:PORT]", "the address at which members reach the hub") {
    try HubAddress($0)
  }
  static let authority = Option(
    "ca", value: "FILE", "the certificate of the authority that signed the hub's certificate")
  static let days = Option("days", value: "N", "let the invitation expire after N days [7]") { text in
    guard let days = Int(text), 1...366 ~= days else { throw usage("'\(text)' is not a number of days from 1 to 366") }
    return days
  }

  static let shared = Flag(
    "shared", "install into a database that other programs use, too; change only the hub's schemas")
  static let hour = Option("hour", value: "SIZE", "limit what each person sends in an hour, such as 64M") { text in
    try megabytes(text, of: "--hour")
  }
  static let files = Option("files", value: "SIZE", "limit the files that each person uploads in an hour, such as 4G") {
    text in
    try megabytes(text, of: "--files")
  }
  static let disk = Option("disk", value: "SIZE", "limit what the hub keeps of each person: 1G, or none for no limit") {
    text in
    text == "none" ? DiskLimit.none : .bytes(try megabytes(text, of: "--disk"))
  }
  static let force = Flag("force", "confirm the action, which cannot be undone")
  static let close = Option(
    "close", value: "MESSAGE", "close the reports of the message with this id; 'all' closes all reports"
  ) { text in
    text == "all" ? ClosedReports.all : .of(try messageID(text))
  }
  static let cancel = Flag("cancel", "cancel the move: members return to this server")

  /// A value of --close.
  enum ClosedReports { case all, of(Identifier) }

  private static func messageID(_ text: String) throws -> Identifier {
    guard let id = Identifier(text) else {
      throw usage("'\(text)' is not the id of a message; 'dm-hub reports' prints it")
    }
    return id
  }

  /// A value of --disk.
  enum DiskLimit { case none, bytes(Int) }

  /// Parses a size of at least 1 MiB.
  private static func megabytes(_ text: String, of option: String) throws -> Int {
    let size = try byteCount(text, of: option)
    guard size >= 1 << 20 else { throw usage("'\(text)' is too little for \(option); name at least 1M") }
    return size
  }

  package static let command = Command(
    "dm-hub", "set up a hub, and invite people",
    synopsis: [
      "install [--public HOST[:PORT]] [--ca FILE] [--shared]", "check", "invite HANDLE [--days N]", "people",
      "reports [--close MESSAGE|all]", "limit [--hour SIZE] [--files SIZE] [--disk SIZE] [ACT=N|ACT=none]...",
      "revoke HANDLE|LOGIN",
      "forget HANDLE --force",
      "move HOST[:PORT] [--ca FILE] | --cancel", "status", "sweep", "unstick", "uninstall --force",
    ],
    options: [database],
    subcommands: [
      Command.Subcommand(
        "install", "install, update or repair the tables, functions and permissions",
        options: [address, authority, shared], run: install),
      Command.Subcommand("check", "print differences from a correct installation", run: check),
      Command.Subcommand(
        "invite", operands: "HANDLE", "print a token with which a person, or another machine of theirs, joins",
        options: [days], run: invite),
      Command.Subcommand("people", "print the people on the hub, with their machines", run: printPeople),
      Command.Subcommand(
        "limit", operands: "[ACT=N|ACT=none]...",
        "limit how often each person does each ACT, and the bytes that they send and store; print the limits",
        options: [hour, files, disk], run: limit),
      Command.Subcommand(
        "reports", "print the messages that members reported, or close reports", options: [close], run: reports),
      Command.Subcommand(
        "revoke", operands: "HANDLE|LOGIN", "lock out a person, or one of their machines", run: revoke),
      Command.Subcommand(
        "forget", operands: "HANDLE", "erase all messages of a person, and lock the person out", options: [force],
        run: forget),
      Command.Subcommand(
        "move", operands: "[HOST[:PORT]]", "make members use another server, and accept no changes on this server",
        options: [authority, cancel], run: move),
      Command.Subcommand("status", "print the size of the hub, and its problems", run: printStatus),
      Command.Subcommand("sweep", "erase the texts of expired messages now", run: sweep),
      Command.Subcommand("unstick", "end members' connections that may hold up others", run: unstick),
      Command.Subcommand(
        "uninstall", "remove the hub, all its messages and its logins", options: [force], run: uninstall),
    ],
    examples: [
      ("dm-hub --db messages install --public hub.example.org --ca ca.crt", "set up a hub in an empty database"),
      ("dm-hub --db messages invite zoe >invitation", "a token for one machine of Zoe's"),
      ("dm-hub --db messages people", "the people on the hub, and when they were last seen"),
    ], writes: ["invitation", "login", "report", "hub_server", "hub_limit", "hub_erasure", "hub_finding"])

  /// Calls `body` with the administrator's commands for the hub that --db names.
  ///
  /// A fault is thrown as an error whose text is for the administrator.
  static func asking<Value>(_ call: Invocation, _ body: (Administrator) throws -> Value) throws -> Value {
    do {
      return try body(Administrator(call.arguments[database] ?? ""))
    } catch let fault as HubFault {
      guard case .lost = fault, try call.arguments[database] == nil else { throw fault.administratorsError }
      throw fault.administratorsError.adding("; --db DATABASE names the database of the hub")
    }
  }

  static func invite(_ call: Invocation) throws {
    let handle = try Handle(call.arguments.operand(0, "HANDLE").without("@"))
    try call.arguments.atMost(1)
    let days = try call.arguments[days] ?? 7
    let invitation = try asking(call) { try $0.invite(handle, days: days) }
    let record = HubInvitation(handle: handle, login: invitation.user, token: invitation.token)
    try call.print(record, text: \.token)
  }

  static func printPeople(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    for login in try asking(call, { try $0.people() }) { try call.print(login, text: \.line) }
  }

  static func reports(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    if let closed = try call.arguments[close] { return try closeReports(closed, call) }
    for report in try asking(call, { try $0.reports() }) { try call.print(report, text: TextFormat.lines) }
  }

  private static func closeReports(_ closed: ClosedReports, _ call: Invocation) throws {
    var message: Identifier?
    if case .of(let id) = closed { message = id }
    let count = try asking(call) { try $0.closeReports(of: message) }
    if count == 0, let message {
      throw DMError(
        .unknownMessage, "no open report is about the message '\(message)'; 'dm-hub reports' prints the open reports",
        subject: message.description)
    }
    if !call.isQuiet, !call.isJSON { try call.output.write("closed \(counted(count, "report"))\n") }
  }

  static func limit(_ call: Invocation) throws {
    let acts = try call.arguments.operands.map(limit)
    var limits = acts.compactMap { act, perMinute in perMinute.map { HubLimit.act(act, perMinute: $0) } }
    if let bytes = try call.arguments[hour] { limits.append(.bytesPerHour(bytes)) }
    if let bytes = try call.arguments[files] { limits.append(.fileBytesPerHour(bytes)) }
    var keepsAll = false
    switch try call.arguments[disk] {
    case .bytes(let bytes)?: limits.append(.bytesPerPerson(bytes))
    case .some(.none): keepsAll = true
    case nil: break
    }
    let unlimited = acts.filter { $0.perMinute == nil }.map(\.act)
    let result = try asking(call) { hub in
      try hub.limit(limits, unlimited: unlimited, keepsAll: keepsAll)
      return try hub.limits()
    }
    for limit in result { try call.print(limit, text: \.line) }
  }

  /// Parses the limit of an act, such as `say=60`; `perMinute` is nil for `say=none`.
  private static func limit(_ text: String) throws -> (act: String, perMinute: Int?) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, HubLimit.acts.contains(parts[0]) else {
      throw usage("'\(text)' is not ACT=N; name one of \(HubLimit.acts.joined(separator: ", "))")
    }
    if parts[1] == "none" { return (parts[0], nil) }
    guard let count = Int(parts[1]), 1...1_000_000 ~= count else {
      throw usage("'\(text)' is not ACT=N; N is a number from 1 to 1000000, or 'none'")
    }
    return (parts[0], count)
  }

  static func revoke(_ call: Invocation) throws {
    let name = try call.arguments.operand(0, "HANDLE|LOGIN").without("@")
    try call.arguments.atMost(1)
    try asking(call) { try $0.revoke(name) }
  }

  static func forget(_ call: Invocation) throws {
    let handle = try call.arguments.operand(0, "HANDLE").without("@")
    try call.arguments.atMost(1)
    guard call.arguments[force] else {
      throw usage("this erases all messages of '\(handle)' on the hub; to do it, add --force")
    }
    try call.print(asking(call) { try $0.forget(handle) }, text: \.line)
  }

  static func move(_ call: Invocation) throws {
    try call.arguments.atMost(1)
    let isCancelled = call.arguments[cancel]
    guard call.arguments.operands.isEmpty == isCancelled else {
      throw usage("name the new address, or say --cancel")
    }
    let address = try call.arguments.operands.first.map(HubAddress.init)
    let certificate = try call.arguments[authority].map(readCertificate)
    try asking(call) { try $0.move(to: address, authority: certificate) }
    try printStatus(of: call)
  }

  static func printStatus(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let problems = try printStatus(of: call)
    if problems > 0 {
      try call.output.flush()
      throw DMError(
        .hubDamaged, "the hub needs its administrator: \(counted(problems, "problem"))")
    }
  }

  /// Prints the state of the hub.
  ///
  /// - Returns: the number of its problems.
  @discardableResult private static func printStatus(of call: Invocation) throws -> Int {
    let status = try asking(call) { try $0.status() }
    try call.print(status, text: \.line)
    return status.problems.count
  }

  static func sweep(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let count = try asking(call) { try $0.sweep() }
    if !call.isQuiet, !call.isJSON { try call.output.write("erased \(counted(count, "expired message"))\n") }
  }

  static func unstick(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let count = try asking(call) { try $0.unstick() }
    if !call.isQuiet, !call.isJSON { try call.output.write("ended \(counted(count, "connection"))\n") }
  }
}

extension DMHub {
  static func install(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let certificate = try call.arguments[authority].map(readCertificate)
    let findings = try asking(call) { administrator in
      let versions = try administrator.install(
        address: call.arguments[address], authority: certificate, isShared: call.arguments[shared])
      if !call.isQuiet, !call.isJSON { try call.output.write(versions.line) }
      if let place = versions.endedMove {
        printError(command.name, "the move to '\(place)' has ended: members can write to this server")
      }
      return try administrator.check()
    }
    // Prints the faults that an installation cannot repair.
    for finding in findings { printError(command.name, finding.text) }
  }

  static func check(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let findings = try asking(call) { try $0.check() }
    for finding in findings { try call.print(finding, text: \.line) }
    let count = findings.count { !$0.isNote }
    if count > 0 {
      try call.output.flush()
      throw DMError(.hubDamaged, "\(counted(count, "fault")) found; 'dm-hub install' mends most")
    }
  }

  static func uninstall(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    guard call.arguments[force] else { throw usage("this erases all messages on the hub; to do it, add --force") }
    try asking(call) { try $0.uninstall() }
  }
}
