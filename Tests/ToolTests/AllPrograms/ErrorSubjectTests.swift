import Foundation
import JSONSupport
import Testing

/// Errors name users, conversations and messages as they were typed.
@Suite struct ErrorSubjectTests {
  private func fixture() throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    try f.done("dm-conversation", ["create", "--title", "g", "bob", "carol"], as: "alice")
    try f.done("dm-send", ["+g", "hello"], as: "alice")
    try f.done("dm-send", ["bob", "hi"], as: "alice")
    try f.done("dm-conversation", ["leave", "+g"], as: "carol")
    return f
  }

  @Test(arguments: [
    ("bob", "dm-conversation remove +g alice", "'+g'"), ("bob", "dm-conversation expire +g 1h", "'+g'"),
    ("carol", "dm-send +g x", "'+g'"), ("carol", "dm-conversation add +g bob", "'+g'"),
    ("carol", "dm-conversation draft +g x", "'+g'"), ("carol", "dm-typing +g --on", "'+g'"),
    ("carol", "dm-edit react 👍 +g:2", "'+g'"), ("alice", "dm-conversation title bob x", "'bob'"),
    ("alice", "dm-conversation leave @bob", "'bob'"), ("bob", "dm-edit text +g:2 x", "'+g:2'"),
    ("bob", "dm-edit delete +g:2 --for-everyone", "'+g:2'"), ("bob", "dm-edit react 👍 +g:1", "'+g:1'"),
    ("alice", "dm-edit report +g:2", "'+g:2'"), ("bob", "dm-edit report +g:1", "'+g:1'"),
    ("bob", "dm-send alice --forward +g:1", "'+g:1'"),
  ])
  func `an error about a conversation or message names it as it was typed, without a UUID`(
    user: String, call: String, subject: String
  ) throws {
    let f = try fixture()
    let words = call.split(separator: " ").map(String.init)
    let outcome = try f.run(words[0], Array(words.dropFirst()), as: user)
    #expect(outcome.status == .exit(77), "\(outcome.stderr)")
    #expect(outcome.stderr.contains(subject), "\(outcome.stderr)")
    #expect(outcome.stderr.firstMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-/) == nil, "\(outcome.stderr)")
  }

  @Test func `an error about a conversation names its UUID if the UUID was typed`() throws {
    let f = try fixture()
    let id = try #require(try f.done("dm-conversation", ["show", "+g"], as: "bob").record["id"]?.string)
    #expect(try f.run("dm-conversation", ["remove", id, "alice"], as: "bob").stderr.contains("'\(id)'"))
  }

  @Test(arguments: ["bob 0", "bob:0", "bob 0..3", "bob:..0", "bob:0..3"])
  func `message number 0 is refused with a hint that numbers start at 1`(_ operands: String) throws {
    let f = try fixture()
    for program in ["dm-tail", "dm-read"] {
      let outcome = try f.run(program, operands.split(separator: " ").map(String.init), as: "alice")
      #expect(outcome.status == .exit(65), "\(outcome.stderr)")
      #expect(outcome.stderr.contains("messages are numbered from 1"), "\(outcome.stderr)")
    }
    let reference = try f.run("dm-send", ["bob", "--reply-to", "0", "x"], as: "alice")
    #expect(reference.status == .exit(65) && reference.stderr.contains("numbered from 1"), "\(reference.stderr)")
  }

  @Test func `dm-attach says how to send a pipe or a folder`() throws {
    let f = try fixture()
    try f.done("mkfifo", [f.directory + "/pipe"])
    let fifo = try f.run("dm-attach", [f.directory + "/pipe"], as: "alice")
    #expect(
      fifo.stderr.contains("is not a regular file; pipe its content into dm-attach and write '-'"), "\(fifo.stderr)")
    let folder = try f.run("dm-attach", [f.directory], as: "alice")
    #expect(folder.stderr.contains("is a folder; pack it with tar"), "\(folder.stderr)")
  }

  @Test func `the error for an unknown user says how to add the user`() throws {
    let f = try fixture()
    let outcome = try f.run("dm-send", ["zebedee", "x"], as: "alice")
    #expect(outcome.stderr.contains("add them with 'dm-user add zebedee'"), "\(outcome.stderr)")
  }
}
