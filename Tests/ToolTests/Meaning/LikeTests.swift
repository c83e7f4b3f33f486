import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// dm-search --like with a real model: that of the package wordllama.
@Suite(.serialized) struct LikeTests {
  private static let program = "sh \(repository)/Tests/meaning/vectors"

  private static let texts = [
    "shall we have lunch at noon?", "ok, 40 euros for the lot then, deal",
    "the server is down again, nobody can log in",
    "my daughter starts school on monday", "the cost was settled at forty", "reboot fixed the login machine",
    "my kernel panics when I start the computer", "we will meet in Berlin next week", "I like cats",
  ]

  @Test(arguments: [
    ("the day we agreed on the price", ["the cost was settled at forty", "ok, 40 euros for the lot then, deal"]),
    ("users cannot sign in", ["the server is down again, nobody can log in", "reboot fixed the login machine"]),
    ("a meal at midday", ["shall we have lunch at noon?"]), ("pets", ["I like cats"]),
    ("children and education", ["my daughter starts school on monday"]),
    ("the trip to Germany", ["we will meet in Berlin next week"]),
    ("the PC crashes at boot", ["my kernel panics when I start the computer"]),
  ])
  func `a sentence finds the messages that mean the same in other words`(query: String, expected: [String]) throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    try f.done("dm-send", ["--lines", "bob"], as: "alice", stdin: Input(lines: Self.texts))
    // The first run installs the package.
    let outcome = try f.run(
      "dm-search", ["--embed", Self.program, "--like", query, "-n", "\(expected.count)"], as: "alice", seconds: 600)
    #expect(outcome.status == .exit(0) && outcome.stderr.isEmpty, "\(outcome.stderr)")
    let found = try Contract.lines(of: outcome.output).map { try JSON($0.bytes)["text"]?.string }
    #expect(Set(found) == Set(expected), "\(found)")
  }
}
