import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// What the Tab key inserts in real shells.
@Suite struct ShellCompletionTests {
  static let shells = ["bash", "zsh", "fish"]

  /// Titles that would do something if a shell evaluated them; each begins with a different letter.
  static let hostile = [
    "a$(touch pwned)", "b`touch pwned`", "c'; touch pwned; '", "d\" || touch pwned #", "e  two  spaces ", "f*", "g!!",
    #"h\ back\\slash"#, "i{x,y}~", "jé👨‍👩‍👧", "k:57", "l$HOME", "m%s %F{red}", "n\\$(touch pwned)", "o<(touch pwned)",
    "p \"q\"",
  ]

  private func fixture() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    return f
  }

  private func create(_ title: String, _ f: ToolFixture) throws -> String {
    let group = try f.done("dm-conversation", ["create", "--title", title, "bob"], as: "alice")
    return try #require(try group.record["id"]?.string)
  }

  private func checkUntouched(_ f: ToolFixture) {
    #expect(!FileManager.default.fileExists(atPath: f.directory + "/pwned"))
  }

  @Test(arguments: shells)
  func `a title with shell syntax is completed as one word, and nothing in it runs`(shell: String) throws {
    let f = try fixture()
    let ids = try Self.hostile.map { try create($0, f) }
    let session = try ShellSession(f, shell, as: "alice")
    for (title, id) in zip(Self.hostile, ids) {
      try session.type("dm-conversation show --json +\(title.prefix(1))\t\r")
      try session.see("\"id\":\"\(id)\"")
      checkUntouched(f)
    }
  }

  @Test(arguments: shells, ["'", "\""])
  func `a title is completed after an open quote`(shell: String, quote: String) throws {
    let f = try fixture()
    let ids = try Self.hostile.map { try create($0, f) }
    let session = try ShellSession(f, shell, as: "alice")
    for (title, id) in zip(Self.hostile, ids) {
      try session.type("dm-conversation show --json \(quote)+\(title.prefix(1))\t\r")
      try session.see("\"id\":\"\(id)\"")
      checkUntouched(f)
    }
  }

  /// Gives a group a title that dm refuses now, and that older versions accepted.
  private func hideCharacters(inTitle title: String, _ f: ToolFixture) throws {
    _ = try f.sql(
      "UPDATE conversation SET title = 'z' || char(8238, 10, 27) || '$(touch pwned)' WHERE title = '\(title)'")
  }

  @Test(arguments: shells)
  func `a conversation whose title has invisible characters is completed by its id`(shell: String) throws {
    let f = try fixture()
    let id = try create("plain", f)
    try hideCharacters(inTitle: "plain", f)
    let session = try ShellSession(f, shell, as: "alice")
    try session.type("dm-conversation show --json \t\r")
    try session.see("\"id\":\"\(id)\"")
    checkUntouched(f)
  }

  @Test(arguments: shells)
  func `listing hostile titles as candidates runs nothing in them`(shell: String) throws {
    let f = try fixture()
    for title in Self.hostile { _ = try create(title, f) }
    try hideCharacters(inTitle: "f*", f)
    let session = try ShellSession(f, shell, as: "alice")
    try session.type("dm-tail \t\t")
    try session.see("jé")
    checkUntouched(f)
  }

  @Test(arguments: shells)
  func `people, messages, actions, options and lists are completed`(shell: String) throws {
    let f = try fixture()
    try f.done("dm-user", ["add", "bertha", "--display-name", "Bertha $(touch pwned)"], as: "alice")
    let sent = try f.done("dm-send", ["bob", "said `touch pwned`"], as: "alice").record
    let id = try #require(sent["id"]?.string)
    let session = try ShellSession(f, shell, as: "alice")
    for line in [
      "dm-tail --json bo\t", "dm-tail --json bob:\t", "dm-tail --json @bo\t", "dm-edit text --json bo\t\tsaid\\ more",
      "dm-tail --json --as=bo\talice", "dm-tail --js\tbob", "dm ta\t--json bo\t",
    ] {
      try session.type(line + "\r")
      try session.see("\"id\":\"\(id)\"")
    }
    try session.type("dm-edit rea\t--json 👍 bob \t\r")
    try session.see("\"type\":\"reaction\"")
    try session.type("dm-edit react --json :tad\t bob:\t\r")
    try session.see("\"emoji\":\"🎉\"")
    try session.type("dm-user sh\t--json ber\t\r")
    try session.see("\"display_name\":\"Bertha $(touch pwned)\"")
    try session.type("dm-tail --cursor start --json --events message,reac\t\r")
    try session.see("\"type\":\"message\"")
    checkUntouched(f)
  }

  @Test(arguments: shells)
  func `file names are completed only for arguments that are files`(shell: String) throws {
    let f = try fixture()
    try "x".write(toFile: f.directory + "/filename.txt", atomically: true, encoding: .utf8)
    let session = try ShellSession(f, shell, as: "alice")
    try session.type("dm-tail filen\t\r")
    try session.see("no user 'filen'")
    try session.type("dm-list --as filen\t\r")
    try session.see("no user 'filen'")
    try session.type("dm-attach --json filen\t\r")
    try session.see("\"name\":\"filename.txt\"")
    try session.type("dm-user list --json --store sto\t\r")
    try session.see("\"handle\":\"bob\"")
  }

  @Test(arguments: shells)
  func `without a store, completion gives no candidates and no errors`(shell: String) throws {
    let f = try fixture()
    f.set("DM_STORE", f.directory + "/absent")
    let session = try ShellSession(f, shell, as: "alice")
    try session.type("dm-tail b\t\r")
    try session.see("there is no store at")
    #expect(!FileManager.default.fileExists(atPath: f.directory + "/absent"))
  }
}
