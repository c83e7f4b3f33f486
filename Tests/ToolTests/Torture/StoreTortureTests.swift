import Foundation
import Glibc
import Testing

/// Stores that are replaced, removed or get a newer version while programs follow them.
@Suite struct StoreTortureTests {
  static let followers: [(program: String, arguments: [String])] = [
    ("dm-tail", ["-f", "-n", "0", "--peek"]), ("dm-list", ["-f"]),
    ("dm-tail", ["-f", "--consumer", "c", "--cursor", "start"]),
  ]

  private func expectEnd(
    _ call: (program: String, arguments: [String]), _ status: Int32, saying words: String...,
    after act: (ToolFixture) throws -> Void
  ) throws -> ToolFixture {
    let f = try ToolFixture.filled()
    let follower = try LiveProcess(f, call.program, call.arguments, as: "alice", stdin: .null)
    _ = try follower.record()
    try act(f)
    let (seconds, outcome) = Torture.time { follower.finish(seconds: 20) }
    #expect(outcome.status == .exit(status), "\(outcome.stderr)")
    #expect(outcome.stderr.hasPrefix("\(call.program): "))
    #expect(words.contains(where: outcome.stderr.contains), "\(outcome.stderr)")
    #expect(outcome.stderr.split(separator: "\n").count == 1)
    #expect(seconds < Torture.bound(3))
    return f
  }

  @Test(arguments: followers)
  func `a follower whose store is replaced reports this and ends`(program: String, arguments: [String]) throws {
    let other = try ToolFixture()
    try other.addUsers("alice", "eve")
    try other.done("dm-send", ["alice", "of another store"], as: "eve")
    // On a busy machine, the follower may look between the two commands.
    _ = try expectEnd((program, arguments), 66, saying: "another store", "was removed") { f in
      try f.done("mv", [f.store, f.store + ".old"])
      try f.done("mv", [other.store, f.store])
    }
  }

  @Test(arguments: followers)
  func `a follower ends even if only the database file of its store is replaced`(program: String, arguments: [String])
    throws
  {
    _ = try expectEnd((program, arguments), 66, saying: "another store") { f in
      try f.done("sqlite3", [f.store + "/dm.sqlite", "VACUUM INTO '\(f.directory)/copy'"])
      try f.done("mv", [f.directory + "/copy", f.store + "/dm.sqlite"])
    }
  }

  @Test(arguments: followers)
  func `a follower whose store is removed ends and creates no new store`(program: String, arguments: [String]) throws {
    let f = try expectEnd((program, arguments), 66, saying: "removed") { f in try f.done("rm", ["-r", f.store]) }
    #expect(!FileManager.default.fileExists(atPath: f.store))
  }

  @Test(arguments: followers)
  func `a follower ends when its store gets a newer version`(program: String, arguments: [String]) throws {
    _ = try expectEnd((program, arguments), 78, saying: "update dm") { f in _ = try f.sql("PRAGMA user_version = 99") }
  }
}
