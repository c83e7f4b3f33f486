internal import CPQ
internal import DMKit
internal import DMSync
internal import DMSystem

/// A connection to PostgreSQL, through libpq (postgresql.org/docs/current/libpq.html).
///
/// A call waits for the server, and fails when the server has sent nothing for 15 seconds. Connecting to a host name
/// also waits for the resolver, as long as resolv.conf(5) allows: PQconnectStartParams resolves the name first, and the
/// resolver of the C library cannot be interrupted. The parameter `hostaddr` avoids this wait.
final class PQConnection {
  /// The parameters of a connection (postgresql.org/docs/current/libpq-connect.html, section 34.1.2).
  typealias Settings = [(name: String, value: String)]

  /// An SQL statement and its parameters; each statement runs in its own transaction.
  struct Statement {
    let sql: String
    var values: [String?] = []
    /// One more parameter, which follows `values` and has the type bytea.
    var bytes: [UInt8]?
    /// Called with each row of the result.
    var row: (PQRow) throws -> Void = { _ in }
    /// Whether `run` returns false, instead of throwing an error, if this statement fails.
    var mayFail = false

    init(_ sql: String, _ values: [String?] = [], row: @escaping (PQRow) throws -> Void = { _ in }) {
      self.sql = sql
      self.values = values
      self.row = row
    }
  }

  private let pq: PQFunctions
  private let connection: OpaquePointer
  /// Whether errors quote the server's messages, which may contain values that were sent.
  var quotesServer = false

  /// Microseconds to wait for the server.
  static let timeout: Int64 = 15_000_000

  /// - Parameters:
  ///   - settings: the parameters of the connection.
  ///   - expandsName: whether `dbname` may be a connection string or a URI.
  ///   - timeout: how long to wait for the server, in microseconds.
  /// - Throws: `HubFault`.
  init(_ settings: Settings, expandsName: Bool = false, timeout: Int64 = PQConnection.timeout) throws {
    let names = CStrings(settings.map(\.name))
    let values = CStrings(settings.map(\.value))
    let pq = try PQFunctions.loaded()
    guard let connection = pq.PQconnectStartParams(names.pointers, values.pointers, expandsName ? 1 : 0) else {
      throw HubFault.lost("libpq has no memory")
    }
    self.pq = pq
    self.connection = connection
    // Makes libpq's error messages contain the error code.
    _ = pq.PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
    _ = pq.PQsetNoticeProcessor(connection, { _, _ in }, nil)
    try waitForConnection(until: monotonicMicroseconds() + timeout)
    _ = pq.PQsetnonblocking(connection, 1)
  }

  deinit { pq.PQfinish(connection) }

  /// The version of the system's libpq, such as 160002.
  ///
  /// - Throws: `hub_unreachable` if libpq is not installed.
  static func libraryVersion() throws -> Int { Int(try PQFunctions.loaded().PQlibVersion()) }

  private func waitForConnection(until end: Int64) throws {
    var purpose = Awaited.Purpose.writing
    while true {
      guard pq.PQstatus(connection) != CONNECTION_BAD else { throw HubFault(connecting: messageLines) }
      var awaited = [Awaited(pq.PQsocket(connection), for: purpose)]
      guard waitForAny(of: &awaited, until: end) || monotonicMicroseconds() < end else {
        throw HubFault.lost("the hub does not answer")
      }
      switch pq.PQconnectPoll(connection) {
      case PGRES_POLLING_OK: return
      case PGRES_POLLING_READING: purpose = .reading
      case PGRES_POLLING_WRITING: purpose = .writing
      default: throw HubFault(connecting: messageLines)
      }
    }
  }

  /// libpq's message about the last failure, as one line.
  private var message: String { messageLines.split { $0.isWhitespace }.joined(separator: " ") }

  private var messageLines: String { pq.PQerrorMessage(connection).map { String(cString: $0) } ?? "" }

  /// The socket of the connection, which is readable when the server has sent something.
  var descriptor: Int32 { pq.PQsocket(connection) }

  /// The id of the server process of this connection; a pooler may report another number.
  var process: Int32 { pq.PQbackendPID(connection) }

  var host: String { pq.PQhost(connection).map { String(cString: $0) } ?? "" }
  var port: String { pq.PQport(connection).map { String(cString: $0) } ?? "" }

  /// Whether the connection is encrypted.
  var isEncrypted: Bool { pq.PQsslInUse(connection) == 1 }

  // MARK: Statements

  /// A statement that overrides settings of the server, the database or the role that could keep a hub from working
  /// (postgresql.org/docs/current/runtime-config-client.html).
  ///
  /// - Parameter others: further settings; they take precedence over the usual ones.
  static func settings(and others: [String: String] = [:]) -> Statement {
    let usual = [
      "array_nulls": "on", "client_encoding": "UTF8", "default_transaction_isolation": "read committed",
      "default_transaction_read_only": "off", "idle_in_transaction_session_timeout": "10s", "idle_session_timeout": "0",
      "row_security": "on", "standard_conforming_strings": "on", "statement_timeout": "30s",
      // The hub must not answer an operation before its entry is durable.
      "synchronous_commit": "on",
      // If a machine disappears, for example by changing its network, the server ends the connection within two
      // minutes.
      "tcp_keepalives_idle": "60", "tcp_keepalives_interval": "10", "tcp_keepalives_count": "6",
    ]
    let all = usual.merging(others) { $1 }.sorted { $0.key < $1.key }
    return Statement("SELECT " + all.map { "set_config('\($0)', '\($1)', false)" }.joined(separator: ", "))
  }

  /// Runs statements in one round trip, each in its own transaction; if one fails, the later ones still run.
  ///
  /// - Returns: false if a statement with `mayFail` failed.
  /// - Throws: the error of the first failed statement without `mayFail`, after all results were read; or an error of
  ///   `row`, after which the connection cannot be used.
  @discardableResult func run(_ statements: [Statement]) throws -> Bool {
    guard pq.PQenterPipelineMode(connection) == 1 else { throw HubFault.lost("the connection is busy") }
    for statement in statements {
      guard send(statement) == 1, pq.PQpipelineSync(connection) == 1 else { throw HubFault.lost(message) }
    }
    var first: HubFault?
    var isWhole = true
    for statement in statements {
      guard let fault = try results(of: statement) else { continue }
      if statement.mayFail { isWhole = false } else { first = first ?? fault }
    }
    _ = pq.PQexitPipelineMode(connection)
    if let first { throw first }
    return isWhole
  }

  /// Sends a statement, with `values` in the text format and `bytes` in the binary format.
  private func send(_ statement: Statement) -> Int32 {
    let values = CStrings(statement.values)
    let count = Int32(statement.values.count)
    guard let bytes = statement.bytes else {
      return pq.PQsendQueryParams(connection, statement.sql, count, nil, values.pointers, nil, nil, 1)
    }
    return bytes.withUnsafeBytes { bytes in
      var pointers = (0..<Int(count)).map { values.pointers[$0] }
      pointers.append(bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
      let lengths = [Int32](repeating: 0, count: Int(count)) + [Int32(bytes.count)]
      let formats = [Int32](repeating: 0, count: Int(count)) + [1]
      return pq.PQsendQueryParams(connection, statement.sql, count + 1, nil, pointers, lengths, formats, 1)
    }
  }

  /// Runs one statement, and returns its rows, each converted by `make`.
  func rows<Value>(_ sql: String, _ values: [String?] = [], _ make: @escaping (PQRow) throws -> Value) throws -> [Value]
  {
    var rows: [Value] = []
    try run([Statement(sql, values) { rows.append(try make($0)) }])
    return rows
  }

  /// Runs a script of SQL, and ignores its results.
  ///
  /// - Throws: the fault of the first statement that failed; the statements after it do not run.
  func execute(_ script: String) throws {
    guard pq.PQsendQuery(connection, script) == 1 else { throw HubFault.lost(message) }
    var first: HubFault?
    while let result = try next() {
      defer { pq.PQclear(result) }
      guard first == nil, ![PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(pq.PQresultStatus(result)) else { continue }
      // The script is part of this program, so the message cannot contain texts of users.
      first = HubFault(pq, result, quotesServer: true)
    }
    if let first { throw first }
  }

  /// Reads the results of a statement, up to the end of its transaction; returns the fault of a statement that failed.
  private func results(of statement: Statement) throws -> HubFault? {
    _ = pq.PQsetSingleRowMode(connection)
    var fault: HubFault?
    while true {
      guard let result = try next() else { continue }
      defer { pq.PQclear(result) }
      switch pq.PQresultStatus(result) {
      case PGRES_SINGLE_TUPLE: try statement.row(PQRow(pq: pq, result: result))
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK: break
      case PGRES_PIPELINE_SYNC: return fault
      default: fault = fault ?? HubFault(pq, result, quotesServer: quotesServer)
      }
    }
  }

  /// The next result; nil after the last result of a statement.
  private func next() throws -> OpaquePointer? {
    while pq.PQisBusy(connection) == 1 {
      let isFlushed = pq.PQflush(connection) == 0
      let end = monotonicMicroseconds() + Self.timeout
      var awaited = [
        Awaited(descriptor, for: .reading), Awaited(isFlushed ? nil : descriptor, for: .writing),
      ]
      guard waitForAny(of: &awaited, until: end) || monotonicMicroseconds() < end else {
        throw HubFault.lost("the hub has not answered for 15 seconds")
      }
      guard pq.PQconsumeInput(connection) == 1 else { throw HubFault.lost(message) }
    }
    let result = pq.PQgetResult(connection)
    if result == nil, pq.PQstatus(connection) == CONNECTION_BAD { throw HubFault.lost(message) }
    return result
  }

  // MARK: Notifications

  /// The payloads of the notifications that have arrived (postgresql.org/docs/current/sql-notify.html).
  ///
  /// - Throws: `HubFault.lost` if the connection has ended.
  func notifications() throws -> [String] {
    guard pq.PQconsumeInput(connection) == 1 else { throw HubFault.lost(message) }
    var payloads: [String] = []
    while let notification = pq.PQnotifies(connection) {
      if let payload = notification.pointee.extra { payloads.append(String(cString: payload)) }
      pq.PQfreemem(notification)
    }
    return payloads
  }

  // MARK: Passwords

  /// The SCRAM-SHA-256 verifier of a password: the server stores it instead of the password (RFC 5803).
  ///
  /// - Throws: `HubFault`.
  func verifier(of password: String, for user: String) throws -> String {
    guard let verifier = pq.PQencryptPasswordConn(connection, password, user, "scram-sha-256") else {
      throw HubFault.lost(message)
    }
    defer { pq.PQfreemem(verifier) }
    return String(cString: verifier)
  }

  /// A name quoted for SQL, for statements that take no parameters.
  func identifier(_ name: String) throws -> String {
    guard let identifier = pq.PQescapeIdentifier(connection, name, name.utf8.count) else {
      throw HubFault.lost(message)
    }
    defer { pq.PQfreemem(identifier) }
    return String(cString: identifier)
  }

  /// A text as an SQL literal, for statements that take no parameters.
  func literal(_ text: String) throws -> String {
    guard let literal = pq.PQescapeLiteral(connection, text, text.utf8.count) else { throw HubFault.lost(message) }
    defer { pq.PQfreemem(literal) }
    return String(cString: literal)
  }
}

/// An array of C strings with a null pointer at its end; it is valid as long as this object exists.
private final class CStrings {
  let pointers: UnsafeMutablePointer<UnsafePointer<CChar>?>
  private let count: Int

  init(_ strings: [String?]) {
    count = strings.count
    pointers = .allocate(capacity: strings.count + 1)
    for (index, string) in strings.enumerated() { pointers[index] = string.map(Self.copy) }
    pointers[strings.count] = nil
  }

  private static func copy(_ string: String) -> UnsafePointer<CChar> {
    let bytes = string.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { copy[index] = byte }
    return UnsafePointer(copy)
  }

  deinit {
    for index in 0..<count { pointers[index]?.deallocate() }
    pointers.deallocate()
  }
}
