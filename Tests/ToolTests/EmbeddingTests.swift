import Foundation
import Testing

/// A program of somebody else's, which has DMKit in it.
@Suite struct EmbeddingTests {
  private static let example = ExamplesTests.root + "/examples/watch"

  @Test func `the example that embeds DMKit is built, follows, and ends`() throws {
    let scratch = ExamplesTests.root + "/.build-examples"
    let f = try ToolFixture()
    let build = try f.run(
      "swift", ["build", "--package-path", Self.example, "--scratch-path", scratch], seconds: 600)
    try #require(build.status == .exit(0), "\(build.stdout)\(build.stderr)")
    try f.addUsers("alice", "bob")
    try f.done("dm-send", ["bob", "one"], as: "alice")
    let watch = try LiveProcess(f, scratch + "/debug/watch", [f.store, "bob", "3"], stdin: .null)
    for text in ["two", "three"] { try f.done("dm-send", ["bob", text], as: "alice") }
    #expect(try (1...3).map { _ in try watch.line(within: 60) } == ["alice: one", "alice: two", "alice: three"])
    #expect(watch.finish().status == .exit(0))
  }
}
