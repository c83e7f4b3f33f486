import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// The output of programs that only read a linked store, such as in a status bar or a cron job.
struct FreshReadTests {
  /// Programs that read, and what they print after a new message of bob to alice; TEXT stands for the message's text.
  static let readers: [(command: [String], text: String)] = [
    (["dm-list", "--count"], "1"), (["dm-list", "--unread"], "TEXT"), (["dm-tail", "--unread"], "TEXT"),
    (["dm-tail", "bob"], "TEXT"), (["dm-search", "lunch"], "TEXT"), (["dm-read", "bob", "--all"], "\"bob\""),
    (["dm-tail", "--cursor", "start"], "TEXT"), (["dm-user", "list"], "\"bob\""),
    (["dm-user", "show", "bob"], "\"bob\""),
  ]

  @Test func `a program that only reads shows new messages of the hub at its first call`() throws {
    let hub = try HubFixture()
    let (alice, carriers) = try carried(hub, "alice")
    let bob = try hub.machine("bob")
    for (index, (command, text)) in Self.readers.enumerated() {
      try bob.done("dm-send", ["alice", "lunch \(index)?"])
      try bob.sync()
      let outcome = try alice.done(command[0], Array(command.dropFirst()))
      #expect(outcome.stdout.contains(text == "TEXT" ? "lunch \(index)?" : text), "\(command): \(outcome.stdout)")
      #expect(outcome.stderr == "" && carriers.processes.count == 1)
      if outcome.stdout.hasPrefix("{") {
        #expect(try outcome.records.allSatisfy { $0["as_of"]?.string != nil })
      }
      try carriers.end()
    }
  }

  @Test func `a consumer of a cron job gets the messages that arrived since its last run`() throws {
    let hub = try HubFixture()
    let (alice, carriers) = try carried(hub, "alice")
    let bob = try hub.machine("bob")
    let job = ["--consumer", "job", "--cursor", "start", "--events", "message"]
    for text in ["one", "two"] {
      try bob.done("dm-send", ["alice", text])
      try bob.sync()
      let lines = try alice.done("dm-tail", job).records.filter { $0["type"]?.string == "message" }
      #expect(lines.last?["text"]?.string == text)
      // Ends the sync process, as if the next run were an hour later.
      try carriers.end()
      try FileManager.default.removeItem(atPath: alice.store + "/live/hub")
    }
  }

  @Test func `without the hub, a program that reads says how old its data is, and with --fresh it fails`() throws {
    let hub = try HubFixture()
    let (alice, carriers) = try carried(hub, "alice")
    let bob = try hub.machine("bob")
    try bob.done("dm-send", ["alice", "lunch?"])
    try bob.sync()
    try alice.done("dm-tail", ["bob"])
    try carriers.end()
    try alice.changeCredentials { $0 == "port" ? "1" : $1 }
    // As if the last comparison with the hub was long ago.
    try (#"{"state":"live","attempts":0,"last_sync_at":1000000}"# + "\n").write(
      toFile: alice.store + "/live/hub", atomically: true, encoding: .utf8)
    let old = try alice.done("dm-list", ["--unread"])
    #expect(
      old.stdout.contains("lunch?") && old.stderr.hasPrefix("dm-list: as of 1970-01-01; the hub cannot be reached: "))
    #expect(try old.record["as_of"]?.string == "1970-01-01T00:00:01.000000Z")
    // The sync process has recorded by now that the hub cannot be reached, so programs do not wait for it.
    let again = try alice.done("dm-list", ["--count"])
    #expect(again.stdout == "1\n" && again.stderr.contains("as of 1970-01-01"))
    let asked = try alice.run("dm-list", ["--count", "--fresh", "1s"])
    #expect(asked.status == .exit(69) && asked.stdout == "1\n" && asked.stderr.contains("as of 1970-01-01"))
    for quiet in [["--fresh", "0"], []] {
      alice.set("DM_FRESH", quiet.isEmpty ? "0" : nil)
      #expect(try alice.done("dm-list", ["--count"] + quiet).stdout == "1\n")
    }
    let wrong = try alice.run("dm-list", ["--fresh", "soon"])
    #expect(wrong.status == .exit(64) && wrong.stderr.contains("'soon' is not a time for --fresh"))
  }

  @Test func `a message can be sent at once to a user who was invited after the last comparison`() throws {
    let hub = try HubFixture()
    let (alice, carriers) = try carried(hub, "alice")
    for name in ["bob", "carol", "dave", "erin"] { _ = try hub.machine(name) }
    let line = #"{"conversation":"carol","text":"b"}"#
    // The hub does not notify machines of new people.
    let calls: [(command: [String], input: String?)] = [
      (["dm-send", "bob", "hello"], nil), (["dm-send"], #"{"conversation":"bob","text":"a"}"# + "\n" + line),
      (["dm-user", "block", "dave"], nil), (["dm-conversation", "create", "--title", "ops", "erin"], nil),
    ]
    for (command, input) in calls {
      let outcome = try alice.done(
        command[0], Array(command.dropFirst()), stdin: input.map { .bytes(Array(($0 + "\n").utf8)) } ?? .none)
      #expect(outcome.stderr.isEmpty || outcome.stderr.contains("queued"), "\(command): \(outcome.stderr)")
      try carriers.end()
    }
    let nobody = try alice.run("dm-send", ["nobody", "hello"])
    #expect(nobody.status == .exit(67) && nobody.stderr.contains("there is no user 'nobody'"))
  }

  @Test func `without --as, each program on a linked store acts as the person of that store`() throws {
    let hub = try HubFixture()
    let alice = try hub.machine("alice")
    let bob = try hub.machine("bob")
    try bob.done("dm-send", ["alice", "lunch?"])
    for machine in [bob, alice] { try machine.sync() }
    alice.set("DM_USER", nil)
    for (command, text) in [
      (["dm-user", "show"], "\"handle\":\"alice\""), (["dm-user", "set", "--bio", "x"], "\"alice\""),
      (["dm-user", "presence"], ""), (["dm-user", "blocked"], ""), (["dm-list"], "lunch?"),
      (["dm-tail", "bob"], "lunch?"),
      (["dm-read", "bob", "--all"], ""), (["dm-search", "lunch"], "lunch?"),
      (["dm-send", "bob", "yes"], "\"sender\":\"alice\""), (["dm-edit", "react", "bob:1", "🎉"], "\"alice\""),
      (["dm-conversation", "show", "bob"], "\"alice\""), (["dm-typing", "--on", "bob"], ""),
      (["dm-sync", "status"], "\"user\":\"alice\""),
      (["dm-attach", "--list", "bob"], ""), (["dm-doctor", "check"], ""),
    ] {
      let outcome = try alice.done(command[0], Array(command.dropFirst()))
      #expect(text.isEmpty || outcome.stdout.contains(text), "\(command): \(outcome.stdout)\(outcome.stderr)")
    }
    let other = try alice.run("dm-user", ["show", "--as", "bob"])
    #expect(other.status == .exit(77) && other.stderr.contains("the store is that of 'alice', not of 'bob'"))
  }
}
