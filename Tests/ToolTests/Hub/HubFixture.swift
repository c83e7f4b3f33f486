import Foundation
import Testing

@testable import TestSupport

/// A hub on a real server, and stores that are linked to it by the programs, each as on a machine of its own.
final class HubFixture: Sendable {
  let server: PostgresServer
  let database: String
  private let tools: ToolFixture

  init(_ server: PostgresServer? = nil, _ options: [String] = []) throws {
    self.server = try server ?? PostgresServer.shared.get()
    database = try self.server.database()
    tools = try ToolFixture()
    try hub(["install"] + options)
  }

  /// Calls dm-hub, which has to succeed.
  @discardableResult
  func hub(_ arguments: [String], at location: SourceLocation = #_sourceLocation) throws -> Outcome {
    try tools.done("dm-hub", ["--db", database] + arguments, at: location)
  }

  /// A token for a machine of a person.
  func invite(_ handle: String) throws -> String {
    try #require(hub(["invite", handle]).record["token"]?.string)
  }

  /// A new machine of a person, on which nothing starts by itself.
  func machine(_ handle: String, at location: SourceLocation = #_sourceLocation) throws -> ToolFixture {
    let machine = try ToolFixture()
    machine.set("DM_SYNC", "off")
    try machine.done("dm-sync", ["join"], stdin: .bytes(Array((invite(handle) + "\n").utf8)), at: location)
    return machine
  }

  /// Runs SQL as the administrator, and returns the rows as lines.
  @discardableResult
  func sql(_ statement: String) throws -> String { try server.psql(database, statement) }
}

extension ToolFixture {
  /// Carries once.
  @discardableResult
  func sync(at location: SourceLocation = #_sourceLocation) throws -> Outcome {
    try done("dm-sync", at: location)
  }

  /// The texts of a conversation with their numbers.
  func texts(_ conversation: String, at location: SourceLocation = #_sourceLocation) throws -> [String] {
    try done("dm-tail", ["--peek", "-n", "all", conversation], at: location).records.map { record in
      "\(record["seq"]?.int.map(String.init) ?? "-") \(record["text"]?.string ?? record["system_kind"]?.string ?? "")"
    }
  }
}
