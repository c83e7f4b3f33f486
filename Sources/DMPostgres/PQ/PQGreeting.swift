internal import DMModel
internal import DMSync

/// A connection on which the hub has identified itself and the caller.
struct PQGreeting {
  let connection: PQConnection
  var hello: HubHello
  /// The channel on which the hub sends hints to this machine.
  let channel: String
  /// Whether the connection has a server process of its own; false if the connection goes through a pooler.
  let isDirect: Bool
  /// The new address of the hub; nil if it was not moved.
  let move: HubMove?

  /// - Parameter label: the name of this machine, which its user and the administrator see.
  /// - Throws: `HubFault`.
  init(_ connection: PQConnection, label: String) throws {
    var hello: HubHello?
    var channel = ""
    var (isDirect, isMoved) = (false, false)
    try Self.run(
      connection,
      [
        PQConnection.settings(),
        PQConnection.Statement(
          "SELECT hub, epoch, started_at, is_standby, person, handle, machine, now, poll_seconds, people_rev, channel, "
            + "'signals' = ANY (features), 'moved' = ANY (features), 'files' = ANY (features), "
            + "'own_states' = ANY (features), 'stamps' = ANY (features), 'pages' = ANY (features) "
            + "FROM dm1.hello(1, $1)", [label]
        ) { row in
          hello = HubHello(
            hub: try row.identifier(0), epoch: try row.identifier(1), startedAt: try row.timestamp(2),
            isStandby: try row.flag(3), person: try row.integer(4), handle: try row.text(5),
            machine: try row.identifier(6), now: try row.timestamp(7),
            pollSeconds: row.optionalInteger(8).map { Int(clamping: $0) }, peopleRev: try row.integer(9))
          channel = try row.text(10)
          hello?.hasSignals = try row.flag(11)
          isMoved = try row.flag(12)
          hello?.hasFiles = try row.flag(13)
          hello?.hasOwnStates = try row.flag(14)
          hello?.hasStamps = try row.flag(15)
          hello?.hasPages = try row.flag(16)
        },
        PQConnection.Statement("SELECT pg_backend_pid() = $1::integer", [String(connection.process)]) {
          isDirect = try $0.flag(0)
        },
      ])
    guard let hello else { throw HubFault.damaged("the hub does not say who the caller is") }
    self.connection = connection
    self.hello = hello
    self.channel = channel
    self.isDirect = isDirect
    move = isMoved ? try HubMove(of: hello.hub, connection) : nil
  }

  /// Connects to the first host that accepts changes; if none does, to the first host that answers.
  ///
  /// - Throws: `HubFault`.
  static func first(of settings: PQConnection.Settings, label: String) throws -> PQGreeting {
    try PQHosts(settings).first({ try PQGreeting($0, label: label) }, isSuitable: { !$0.hello.isStandby })
  }

  /// Runs the statements of a greeting.
  ///
  /// - Throws: `HubFault`, which is `lost` if tables or functions are missing, because the hub may be in the middle of
  ///   a restore.
  private static func run(_ connection: PQConnection, _ statements: [PQConnection.Statement]) throws {
    do {
      try connection.run(statements)
    } catch HubFault.mismatch(let text) where !text.contains(text: "DM001") {
      throw HubFault.lost("no hub is there yet: \(text)")
    } catch HubFault.poison(let text) {
      throw HubFault.lost("the hub is not complete yet: \(text)")
    }
  }
}
