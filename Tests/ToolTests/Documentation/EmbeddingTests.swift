import Foundation
import Glibc
import JSONSupport
import Testing

@testable import TestSupport

/// The programs of examples/embedding, which import DMKit from outside this package.
@Suite struct EmbeddingTests {
  private static let package = repository + "/examples/embedding"

  /// The folder of the built examples.
  private static let binaries = Result {
    let scratch = repository + "/.build-examples"
    // Without debug information and an index, which would take a quarter of the build time.
    let build = try ToolFixture().run(
      "swift",
      [
        "build", "--package-path", package, "--scratch-path", scratch, "--disable-index-store", "-debug-info-format",
        "none", "-Xswiftc", "-use-ld=lld",
      ], seconds: 600)
    try #require(build.status == .exit(0), "\(build.stdout)\(build.stderr)")
    return scratch + "/debug/"
  }

  private func fixture() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    return f
  }

  private func send(_ f: ToolFixture, _ texts: String...) throws {
    for text in texts { try f.done("dm-send", ["bob", text], as: "alice") }
  }

  /// The texts of the next messages that alice's follower prints.
  private func answers(_ count: Int, _ tail: LiveProcess) throws -> [String] {
    var texts: [String] = []
    while texts.count < count { if let text = try tail.record()["text"]?.string { texts.append(text) } }
    return texts
  }

  private func tail(_ f: ToolFixture) throws -> LiveProcess {
    try LiveProcess(f, "dm-tail", ["-f", "--others", "--events", "message", "--cursor", "start"], as: "alice")
  }

  @Test func `the watch example prints each message and ends`() throws {
    let f = try fixture()
    try send(f, "one")
    let watch = try LiveProcess(f, Self.binaries.get() + "watch", [f.store, "bob", "3"], stdin: .null)
    try send(f, "two", "three")
    #expect(try (1...3).map { _ in try watch.line(within: 60) } == ["alice: one", "alice: two", "alice: three"])
    #expect(watch.finish().status == .exit(0))
  }

  @Test func `the bot example answers each message once, also when it runs again`() throws {
    let f = try fixture()
    try send(f, "one")
    let tail = try tail(f)
    let bot = try LiveProcess(f, Self.binaries.get() + "bot", [f.store, "bob"], stdin: .null)
    #expect(try answers(1, tail) == ["3 characters"])
    bot.process.send(SIGKILL)
    try send(f, "three")
    let again = try LiveProcess(f, Self.binaries.get() + "bot", [f.store, "bob"], stdin: .null)
    #expect(try answers(1, tail) == ["5 characters"])
    again.process.send(SIGKILL)
  }

  @Test func `the echo example continues after its last answer when it was killed`() throws {
    let f = try fixture()
    try send(f, "one", "two")
    let tail = try tail(f)
    let echo = try LiveProcess(f, Self.binaries.get() + "echo", [f.store, "bob"], stdin: .null)
    #expect(try answers(2, tail) == ["echo: one", "echo: two"])
    echo.process.send(SIGKILL)
    _ = echo.finish()
    try send(f, "three")
    let again = try LiveProcess(f, Self.binaries.get() + "echo", [f.store, "bob"], stdin: .null)
    #expect(try answers(1, tail) == ["echo: three"])
    again.process.send(SIGKILL)
  }

  @Test func `the catchup example marks exactly the messages that it prints`() throws {
    let f = try fixture()
    try send(f, "one", "two")
    let catchUp = try f.run(Self.binaries.get() + "catchup", [f.store, "bob"])
    #expect(catchUp.stdout == "alice:1 alice: one\nalice:2 alice: two\nalice: marked 2, 0 left\n")
    #expect(try f.done("dm-list", ["--count"], as: "bob").stdout == "0\n")
    #expect(try f.run(Self.binaries.get() + "catchup", [f.store, "bob"]).stdout == "")
  }

  @Test func `the services example prints what its two users do`() throws {
    let f = try fixture()
    let file = f.directory + "/file.txt"
    try "content".write(toFile: file, atomically: false, encoding: .utf8)
    let services = try f.run(Self.binaries.get() + "services", [f.store, file], seconds: 60)
    #expect(services.status == .exit(0), "\(services.stderr)")
    #expect(
      services.stdout.split(separator: "\n") == [
        "added 'hello'", "bob delivered 1", "bob read 1", "added 'a file'", "edited 'the file'", "deleted",
        "conversation muted", "added 'here'", "bob 1, ops 1", "hello, not here", "bob", "hello",
      ])
  }

  @Test(arguments: [
    ("ABotInThirtyLines", "bot/Bot"), ("ReadRanges", "catchup/CatchUp"), ("ExactlyOnce", "echo/Echo"),
  ])
  func `the code of an article equals the source of its example`(article: String, file: String) throws {
    let text = try String(
      contentsOfFile: "\(repository)/Sources/DMKit/DMKit.docc/\(article).md", encoding: .utf8)
    let code = try #require(text.components(separatedBy: "```swift\n").dropFirst().first)
    #expect(
      try code.components(separatedBy: "```")[0]
        == String(contentsOfFile: "\(Self.package)/Sources/\(file).swift", encoding: .utf8))
  }
}
