import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Runs the documented examples of hubs on a real server.
struct HubExamplesTests {
  /// The commands of a section of the README, line by line, with their comments.
  private func commands(of heading: String) throws -> [String] {
    let readme = try String(contentsOfFile: repository + "/README.md", encoding: .utf8)
    let start = try #require(readme.range(of: "## \(heading)\n"))
    let section = readme[start.upperBound...].components(separatedBy: "\n## ")[0]
    return section.components(separatedBy: "```sh\n").dropFirst().flatMap { block in
      block.components(separatedBy: "```")[0].split(separator: "\n").map(String.init)
    }
  }

  @Test func `the commands of the README link two machines`() throws {
    let server = try PostgresServer.shared.get()
    let f = try ToolFixture()
    for (name, value) in [("PGHOST", server.folder), ("PGPORT", "\(server.port)"), ("PGUSER", "postgres")] {
      f.set(name, value)
    }
    f.set("DM_STORE", nil)
    // Another test may use the name of the README's database.
    let database = "messages_\(UInt32.random(in: 0 ... .max))"
    var outputs: [String] = []
    for command in try commands(of: "Two machines in five minutes") {
      let machine = command.contains("Alice's") ? "alice" : command.contains("Bob's") ? "bob" : ""
      if !machine.isEmpty { f.set("DM_STORE", "\(f.directory)/\(machine)") }
      let here = command.replacingOccurrences(of: "hub.example.org", with: "127.0.0.1:\(server.port)")
        .replacingOccurrences(of: "messages", with: database)
        .replacingOccurrences(of: "--events message ", with: "--events message ")
      let outcome = try f.shell("cd '\(f.directory)'; \(here)")
      #expect(outcome.status == .exit(0), "\(here): \(outcome.stderr)")
      outputs.append(outcome.stdout)
    }
    for machine in ["alice", "bob"] {
      _ = try f.shell("pkill -f -- '--store \(f.directory)/\(machine) --linger' || :")
    }
    #expect(outputs.contains("over there?\n") && outputs.contains("2 sent\n") || outputs.contains("2 delivered\n"))
    #expect(outputs.last?.hasPrefix("live (green)") == true, "\(outputs)")
  }

  @Test func `the example script creates a hub in a folder, and stops it`() throws {
    let f = try ToolFixture()
    f.set("DM_SYNC", "off")
    f.set("PORT", "\(try PostgresServer.freePort())")
    let script = "\(repository)/examples/hub"
    try f.done("sh", [script, f.directory + "/hub", "zoe"])
    defer { _ = Result { try f.run("sh", [script, f.directory + "/hub", "stop"]) } }
    let token = try #require(FileManager.default.contents(atPath: f.directory + "/hub/zoe.token"))
    try f.done("dm-sync", ["join"], stdin: .bytes(Array(token)))
    try f.done("dm-send", ["zoe", "a note"])
    #expect(try f.sync().record["queued_count"]?.int == 0)
    let server = try FileManager.default.destinationOfSymbolicLink(atPath: f.directory + "/hub/server")
    try f.done("sh", [script, f.directory + "/hub", "stop"])
    if server.hasPrefix("/") { try f.done("rm", ["-rf", server]) }
  }
}
