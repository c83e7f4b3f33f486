import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// A hub on a real server, and stores that are linked to it, each as on its own machine.
final class HubFixture: Sendable {
  let server: PostgresServer
  let database: String
  private let tools: ToolFixture
  private let isCopy: Bool

  init(_ server: PostgresServer? = nil, _ options: [String] = [], in database: String? = nil) throws {
    self.server = try server ?? PostgresServer.shared.get()
    self.database = try database ?? self.server.database()
    tools = try ToolFixture()
    isCopy = false
    try hub(["install"] + options)
  }

  /// A copy of another hub, to which nobody may be connected.
  init(copyOf other: HubFixture) throws {
    (server, tools) = (other.server, other.tools)
    database = try server.database(copyOf: other.database)
    isCopy = true
  }

  deinit {
    if isCopy { server.drop(database) }
  }

  /// Links a copied store to this hub, which must be a copy of the store's hub.
  func takeOver(_ machine: ToolFixture) throws {
    machine.set("DM_SYNC", "off")
    try machine.changeCredentials { $0 == "dbname" ? String(PostgresServer.name(of: database)) : $1 }
  }

  /// Tries to install a hub in a database.
  static func install(in database: String) throws -> Outcome {
    try ToolFixture().run("dm-hub", ["--db", database, "install"])
  }

  /// Calls dm-hub.
  func run(_ arguments: [String]) throws -> Outcome { try tools.run("dm-hub", ["--db", database] + arguments) }

  /// Calls dm-hub, which must succeed.
  @discardableResult
  func hub(_ arguments: [String], at location: SourceLocation = #_sourceLocation) throws -> Outcome {
    try tools.done("dm-hub", ["--db", database] + arguments, at: location)
  }

  /// Invites a person, and returns the token for a machine.
  func invite(_ handle: String) throws -> String {
    try #require(hub(["invite", handle]).record["token"]?.string)
  }

  /// A new machine of a person, on which no program starts dm-sync.
  func machine(_ handle: String, at location: SourceLocation = #_sourceLocation) throws -> ToolFixture {
    let machine = try ToolFixture()
    machine.set("DM_SYNC", "off")
    try machine.done("dm-sync", ["join"], stdin: .bytes(Array((invite(handle) + "\n").utf8)), at: location)
    return machine
  }

  /// Ends the connections of all members.
  func endConnections() throws {
    try sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename ~ '^u_'")
  }

  /// The ids of the server's processes for a login, which cannot be found by name after the role is dropped.
  func processes(of login: String) throws -> String {
    try sql("SELECT string_agg(pid::text, ',') FROM pg_stat_activity WHERE usename = '\(login)'")
  }

  /// How many of some server processes are still running.
  func running(_ processes: String) throws -> Int? {
    let count = try sql("SELECT count(*) FROM pg_stat_activity WHERE pid IN (\(processes))")
    return Int(count.trimmingCharacters(in: .newlines))
  }

  /// Drops the database, and restores it from a dump.
  func restore(from file: String, with tools: ToolFixture) throws {
    let name = PostgresServer.name(of: database)
    try server.psql("postgres", "DROP DATABASE \(name) WITH (FORCE)")
    try server.psql("postgres", "CREATE DATABASE \(name)")
    try tools.done("pg_restore", ["-d", database, file])
    try hub(["install"])
  }

  /// Runs SQL as the administrator, and returns the rows as lines.
  @discardableResult
  func sql(_ statement: String) throws -> String { try server.psql(database, statement) }
}

extension ToolFixture {
  /// A value from the credentials file of a linked store.
  func credentials(_ name: String) throws -> String {
    let lines = try String(contentsOfFile: "\(store)/hub", encoding: .utf8).split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("\(name)=") })
    return String(line.dropFirst(name.count + 1))
  }

  /// The connection string of a linked store's login.
  func connection() throws -> String {
    try ["host", "port", "dbname", "user", "password"].map { "\($0)=\(try credentials($0))" }.joined(separator: " ")
  }

  /// Runs SQL with the login of a linked store, on a connection that stays open.
  func hold(_ statements: String) throws -> LiveProcess {
    let free = "SET idle_in_transaction_session_timeout = 0; SET statement_timeout = 0;"
    let words = ["-qAtX", "-v", "ON_ERROR_STOP=1", "-d", try connection()]
    let process = try LiveProcess(self, "psql", words)
    try process.send("\(free) \(statements)\n\\echo held")
    try #require(process.line() == "held")
    return process
  }

  /// Changes the values in the credentials file of a linked store.
  ///
  /// - Parameter value: returns the new value, given the name and the old value of a line.
  func changeCredentials(_ value: (_ name: Substring, _ value: String) -> String) throws {
    let file = "\(store)/hub"
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { line in
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return "\(parts[0])=\(value(parts[0], String(parts[1])))"
    }
    // The same file is written, so its permissions stay.
    let handle = try #require(FileHandle(forWritingAtPath: file))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: Data((lines.joined(separator: "\n") + "\n").utf8))
    try handle.close()
  }

  /// Synchronizes once.
  @discardableResult
  func sync(at location: SourceLocation = #_sourceLocation) throws -> Outcome {
    try done("dm-sync", at: location)
  }

  /// The texts of a conversation's messages, each with the message's number before it.
  func texts(_ conversation: String, at location: SourceLocation = #_sourceLocation) throws -> [String] {
    try done("dm-tail", ["--peek", "-n", "all", conversation], at: location).records.map { record in
      "\(record["seq"]?.int.map(String.init) ?? "-") \(record["text"]?.string ?? record["system_kind"]?.string ?? "")"
    }
  }
}
