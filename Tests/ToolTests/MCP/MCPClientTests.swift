import Foundation
import Testing

@testable import TestSupport

/// dm-mcp with the official client of the Model Context Protocol, which is not part of this project.
@Suite(.serialized) struct MCPClientTests {
  struct Scenario: Sendable, CustomTestStringConvertible {
    let name: String
    let testDescription: String

    init(_ name: String, _ description: String) { (self.name, testDescription) = (name, description) }
  }

  static let scenarios = [
    Scenario("greeting", "agrees on a revision, and says who the agent is"),
    Scenario("listing", "lists its tools with hints, and with the schemas of --schema"),
    Scenario("tools", "each tool returns the records that the other programs print"),
    Scenario("errors", "an error of the messenger is a result with a stable code"),
    Scenario("resources", "conversations are resources, listed in pages"),
    Scenario("read_only", "--read-only lists no tool that acts, refuses their calls, and shows nothing to others"),
    Scenario("only", "--only hides that there are other conversations, users and messages"),
    Scenario("only_a_user", "--only takes a user whose conversation begins later"),
    Scenario("waiting", "a call that waits returns what is sent meanwhile, and others are answered before it"),
    Scenario("hostile", "a hostile text comes back as it was, and does nothing"),
    Scenario("orders", "a model that obeys all that it reads sends only what the owner allows"),
  ]

  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "bot")
    try f.done("dm-send", ["--lines", "bot"], as: "alice", stdin: "the first one\nthe second one\nthe third one\n")
    try f.done("dm-conversation", ["create", "--title", "ops", "bob", "bot"], as: "alice")
    try f.done("dm-send", ["+ops", "see https://a.example/ops"], as: "alice")
    return f
  }

  @Test(arguments: scenarios)
  func `the official MCP client passes each scenario`(scenario: Scenario) throws {
    let f = try ToolFixture(copyOf: Self.template.get())
    // The first run installs the client.
    let outcome = try f.run(
      "sh", ["\(repository)/Tests/mcp/client", "2025-11-25", "scenarios.py", scenario.name], seconds: 600)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    try f.checkIntegrity()
  }

  /// A client, the revision on which it must agree, and the packages that it is from.
  struct Client: Sendable, CustomTestStringConvertible {
    let packages, revision, library, mode: String
    var testDescription: String { "\(library) of \(packages), mode \(mode)" }

    init(_ packages: String, agreesOn revision: String? = nil, _ library: String = "mcp", mode: String = "-") {
      (self.packages, self.revision, self.library, self.mode) = (packages, revision ?? packages, library, mode)
    }
  }

  static let clients =
    ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"].map { Client($0) }
    + ["mcp", "fastmcp"].flatMap { library in
      [
        Client("2026-07-28", library, mode: "2026-07-28"), Client("2026-07-28", library, mode: "auto"),
        Client("2026-07-28", agreesOn: "2025-11-25", library, mode: "legacy"),
      ]
    }

  @Test(arguments: clients)
  func `a client of each revision lists, reads, sends once and meets errors`(client: Client) throws {
    let f = try ToolFixture(copyOf: Self.template.get())
    let words = ["revisions.py", client.revision, client.library, client.mode]
    let outcome = try f.run("sh", ["\(repository)/Tests/mcp/client", client.packages] + words, seconds: 600)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    try f.checkIntegrity()
  }
}
