package import DMCLI
internal import DMKit
internal import DMPostgres
internal import DMSync
internal import DMSystem

package struct DMHub: Program {
  static let database = Option(
    "db", value: "DATABASE", "the database: a name, a connection string or a URI [$PGDATABASE]")
  static let address = Option("public", value: "HOST[:PORT]", "the hub's address, for invitations") {
    try HubAddress($0)
  }
  static let authority = Option(
    "ca", value: "FILE", "the certificate of the authority that signed the hub's, for invitations")
  static let days = Option("days", value: "N", "let the invitation expire after N days [7]") { text in
    guard let days = Int(text), 1...366 ~= days else { throw usage("'\(text)' is no number of days from 1 to 366") }
    return days
  }

  static let shared = Flag("shared", "for a database that others use, too: change only the hub's schemas")
  static let hour = Option("hour", value: "SIZE", "let each person send SIZE in an hour, such as 64M") { text in
    let size = try byteCount(text, of: "--hour")
    guard size >= 1 << 20 else { throw usage("'\(text)' is too little for --hour; name at least 1M") }
    return size
  }
  static let force = Flag("force", "remove the hub with all of its messages")

  package static let command = Command(
    "dm-hub", "set up a hub, and invite people",
    synopsis: [
      "install [--public HOST[:PORT]] [--ca FILE] [--shared]", "check", "invite HANDLE [--days N]", "people", "reports",
      "limit [--hour SIZE] [ACT=N|ACT=none]...", "revoke HANDLE|LOGIN", "status", "sweep", "unstick",
      "uninstall --force",
    ],
    options: [database],
    subcommands: [
      Command.Subcommand(
        "install", "install, update or repair the tables, functions and permissions",
        options: [address, authority, shared], run: install),
      Command.Subcommand("check", "print differences from a fresh installation", run: check),
      Command.Subcommand(
        "invite", operands: "HANDLE", "print a token for a person to join with, or for another machine of theirs",
        options: [days], run: invite),
      Command.Subcommand("people", "print the people on the hub, with their machines", run: printPeople),
      Command.Subcommand(
        "limit", operands: "[ACT=N|ACT=none]...",
        "set what a person may do in a minute and an hour, and print the limits",
        options: [hour], run: limit),
      Command.Subcommand("reports", "print the messages that members reported", run: printReports),
      Command.Subcommand(
        "revoke", operands: "HANDLE|LOGIN", "lock out a person, or one of their machines", run: revoke),
      Command.Subcommand("status", "print the size of the hub, and what blocks it", run: printStatus),
      Command.Subcommand("sweep", "erase the texts of expired messages now", run: sweep),
      Command.Subcommand("unstick", "end connections of members that block all others", run: unstick),
      Command.Subcommand("uninstall", "remove the hub, and its logins", options: [force], run: uninstall),
    ],
    examples: [
      ("dm-hub --db messages install --public hub.example.org --ca ca.crt", "in an empty database"),
      ("dm-hub --db messages invite zoe >invitation", "a token for one machine of Zoe's"),
      ("dm-hub --db messages people", "the people on the hub, and when they were seen"),
    ], writes: ["invitation", "login", "report", "hub_server", "hub_limit", "hub_finding"])

  /// Calls `body` with the hub, and throws its faults as errors for the administrator.
  static func asking<Value>(_ call: Invocation, _ body: (Administrator) throws -> Value) throws -> Value {
    do {
      return try body(Administrator(call.arguments[database] ?? ""))
    } catch let fault as HubFault {
      throw fault.administratorsError
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

  static func printReports(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    for report in try asking(call, { try $0.reports() }) { try call.print(report, text: TextFormat.lines) }
  }

  static func limit(_ call: Invocation) throws {
    let acts = try call.arguments.operands.map(limit)
    let bytes = try call.arguments[hour]
    for limit in try asking(
      call,
      { hub in
        try hub.limit(bytesPerHour: bytes, acts: acts)
        return try hub.limits()
      })
    {
      try call.print(limit, text: \.line)
    }
  }

  /// The limit of an act, such as `say=60`; nil for `say=none`.
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

  static func printStatus(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    try call.print(asking(call) { try $0.status() }, text: \.line)
  }

  static func sweep(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let count = try asking(call) { try $0.sweep() }
    if !call.isQuiet, !call.isJSON { try call.output.write("erased \(count) expired messages\n") }
  }

  static func unstick(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let count = try asking(call) { try $0.unstick() }
    if !call.isQuiet, !call.isJSON { try call.output.write("ended \(count) connections\n") }
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
      return try administrator.check()
    }
    // Reports the faults that installing cannot fix.
    for finding in findings { printError(command.name, finding.text) }
  }

  static func check(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    let findings = try asking(call) { try $0.check() }
    for finding in findings { try call.print(finding, text: \.line) }
    let count = findings.count { !$0.isNote }
    if count > 0 {
      try call.output.flush()
      throw DMError(.hubDamaged, "\(count == 1 ? "1 fault" : "\(count) faults") found; 'dm-hub install' mends most")
    }
  }

  static func uninstall(_ call: Invocation) throws {
    try call.arguments.atMost(0)
    guard call.arguments[force] else { throw usage("all that was said on the hub would be gone; if so, say --force") }
    try asking(call) { try $0.uninstall() }
  }
}

extension HubLogin {
  var line: String {
    var parts = [handle]
    if isDisabled { parts.append("revoked") }
    if let login { parts.append(login) }
    if let label { parts.append("on \(visible(label))") }
    if let seenAt { parts.append("seen \(TextFormat.dateAndTime(seenAt))") }
    if joinedAt == nil, let invitedUntil { parts.append("invited until \(TextFormat.dateAndTime(invitedUntil))") }
    return parts.joined(separator: "  ")
  }
}

extension HubLimit {
  var line: String {
    if let bytesPerHour { return "\(TextFormat.size(bytesPerHour)) in an hour" }
    return "\(act ?? "") at most \(perMinute ?? 0) times in a minute"
  }
}

extension HubServer {
  var line: String {
    var parts = [
      "version \(version) on PostgreSQL \(serverVersion / 10_000)", "\(persons) people with \(logins) machines",
      "\(connections) connected of \(connectionLimit)", "\(conversations) conversations", "\(entries) entries",
      TextFormat.size(bytes),
    ]
    if let oldestWriteSeconds, oldestWriteSeconds > 10 {
      parts.append("a transaction is open for \(oldestWriteSeconds) seconds; dm-hub unstick ends it")
    }
    if preparedTransactions > 0 {
      parts.append("\(preparedTransactions) prepared transactions hold up all members; end them with psql(1)")
    }
    return parts.joined(separator: "; ")
  }
}

extension HubFinding {
  var line: String { (isNote ? "note: " : "") + visible(text) }
}

extension HubVersions {
  var line: String {
    before == now ? "the hub is of version \(now)\n" : "the hub is of version \(now) now; it was of \(before)\n"
  }
}

/// The text of a file with a certificate.
func readCertificate(_ path: String) throws -> String {
  guard let bytes = readFile(path, limit: 262_144), !bytes.isEmpty else {
    throw DMError(.unknownFile, "cannot read '\(path)'", subject: path)
  }
  let text = String(decoding: bytes, as: UTF8.self)
  guard isCertificate(text) else {
    throw DMError(.badField, "'\(path)' holds no certificate in PEM; give that of the authority", subject: path)
  }
  return text
}
