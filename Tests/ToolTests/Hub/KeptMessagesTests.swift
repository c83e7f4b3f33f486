import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Stores that keep only the last messages of each conversation.
struct KeptMessagesTests: FileTests {
  /// Two people, and a conversation of 40 messages that both have.
  private func chat() throws -> (hub: HubFixture, alice: ToolFixture, bob: ToolFixture) {
    let (hub, alice, bob) = try linked()
    let lines = (1...40).map { #"{"conversation":"bob","text":"message \#($0)"}"# }.joined(separator: "\n")
    try alice.done("dm-send", ["--json"], stdin: .bytes(Array((lines + "\n").utf8)))
    try alice.sync()
    try bob.sync()
    try bob.done("dm-read", ["--all", "alice"])
    try bob.sync()
    return (hub, alice, bob)
  }

  private func texts(_ arguments: [String], _ machine: ToolFixture) throws -> [String] {
    try machine.done("dm-tail", ["--json"] + arguments).records.compactMap { $0["text"]?.string }
  }

  @Test func `older messages are removed, and fetched again when they are read`() throws {
    let (_, alice, bob) = try chat()
    #expect(try bob.done("dm-sync", ["keep"]).record["message_count"]?.int == 40)
    let kept = try bob.done("dm-sync", ["keep", "--messages", "10"]).record
    #expect(kept["message_count"]?.int == 10 && kept["message_limit"]?.int == 10)
    #expect(try texts(["alice", "-n", "5"], bob) == (36...40).map { "message \($0)" })
    #expect(try bob.done("dm-list", ["--json"]).record["unread_count"]?.int == 0)
    try bob.done("dm-doctor", ["check", "--deep"])
    // The fetched messages have the changes that were made while they were missing.
    try alice.done("dm-edit", ["text", "bob:3", "third"])
    try alice.done("dm-edit", ["react", "bob:4", "👍"])
    try alice.done("dm-edit", ["delete", "--for-everyone", "bob:5"])
    try alice.sync()
    try bob.sync()
    let carriers = Carriers(bob)
    // A program waits one second for dm-sync, but on a busy machine dm-sync takes longer to start.
    bob.set("DM_SYNC", nil)
    bob.set("DM_FRESH", "60s")
    let few = try bob.done("dm-tail", ["--json", "alice", "3..6"])
    #expect(try few.records.compactMap { $0["text"]?.string } == ["third", "message 4", "message 6"], "\(few.stderr)")
    let fourth = try bob.done("dm-tail", ["--json", "alice", "4..4"]).record
    #expect(fourth["reactions"]?.array.first?["emoji"]?.string == "👍", "\(fourth)")
    #expect(try texts(["alice", "-n", "25"], bob).first == "message 16")
    #expect(try texts(["alice", "--before", "alice:3", "-n", "10"], bob) == ["message 1", "message 2"])
    #expect(try texts(["alice", "-n", "all"], bob).count == 39)
    try carriers.end()
    try bob.done("dm-doctor", ["check", "--deep"])
    #expect(try bob.done("dm-sync", ["keep", "--messages", "all"]).record["message_limit"] == nil)
  }

  @Test func `a message that only the hub has can be referred to, and a search says that it omits older messages`()
    throws
  {
    let (_, alice, bob) = try chat()
    try bob.done("dm-sync", ["keep", "--messages", "5"])
    let carriers = Carriers(bob)
    bob.set("DM_SYNC", nil)
    bob.set("DM_FRESH", "60s")
    #expect(try bob.done("dm-tail", ["--json", "alice:7"]).record["text"]?.string == "message 7")
    try bob.done("dm-edit", ["react", "alice:9", "👍"])
    try bob.done("dm-send", ["--reply-to", "alice:11", "alice", "that one"])
    #expect(try bob.done("dm-tail", ["--json", "alice:-30"]).record["seq"]?.int == 12)
    let search = try bob.run("dm-search", ["--json", "message"])
    #expect(search.status == .exit(0) && search.stderr.contains("older messages of a conversation"), "\(search.stderr)")
    let list = try bob.run("dm-tail", ["--json", "--since", "1d"])
    #expect(list.stderr.contains("older messages of a conversation"), "\(list.stderr)")
    try carriers.end()
    bob.set("DM_SYNC", "off")
    try bob.sync()
    try alice.sync()
    let reacted = try alice.done("dm-tail", ["--json", "bob", "9..9"]).record
    #expect(reacted["reactions"]?.array.first?["emoji"]?.string == "👍")
    let reply = try alice.done("dm-tail", ["--json", "bob", "-n", "1"]).record
    #expect(reply["reply_to"]?["seq"]?.int == 11, "\(reply)")
  }

  @Test func `a store that has not kept all messages can be dumped, restored and read from a cursor`() throws {
    let (_, _, bob) = try chat()
    let cursor = try bob.done("dm-tail", ["--json", "--cursor", "start", "alice"]).records.first?["cursor"]?.string
    try bob.done("dm-sync", ["keep", "--messages", "5"])
    let dump = try bob.done("dm-doctor", ["dump"]).stdout
    let restored = try ToolFixture()
    try restored.done("dm-doctor", ["restore"], stdin: .bytes(Array(dump.utf8)))
    try restored.done("dm-doctor", ["check", "--deep"])
    #expect(try restored.done("dm-tail", ["--json", "alice", "-n", "5"], as: "bob").records.count == 5)
    // Missing messages are reported as a gap.
    let events = try bob.done("dm-tail", ["--json", "--cursor", try #require(cursor)]).records
    #expect(events.contains { $0["type"]?.string == "gap" }, "\(events.first.map(String.init(describing:)) ?? "-")")
  }

  @Test func `older messages that only the hub has cause a warning offline, and are fetched online`() throws {
    let (_, _, bob) = try chat()
    try bob.done("dm-sync", ["keep", "--messages", "10"])
    try bob.done("dm-sync", ["network", "offline"])
    let offline = try bob.run("dm-tail", ["--json", "alice", "-n", "12"])
    #expect(offline.status == .exit(0))
    #expect(try offline.records.count == 10)
    #expect(offline.stderr.contains("older messages are only on the hub"), "\(offline.stderr)")
    try bob.done("dm-sync", ["network", "normal"])
    let carriers = Carriers(bob)
    bob.set("DM_SYNC", nil)
    bob.set("DM_FRESH", "60s")
    #expect(try texts(["alice", "-n", "12"], bob).count == 12)
    try carriers.end()
  }

  @Test func `messages that the user has not read, or a bot has not received, are kept`() throws {
    let (_, alice, bob) = try linked()
    let lines = (1...20).map { #"{"conversation":"bob","text":"message \#($0)"}"# }.joined(separator: "\n")
    try alice.done("dm-send", ["--json"], stdin: .bytes(Array((lines + "\n").utf8)))
    try alice.sync()
    try bob.sync()
    try bob.done("dm-tail", ["--json", "--cursor", "start", "--consumer", "bot"])
    try bob.done("dm-read", ["alice", "1..5"])
    try bob.sync()
    #expect(try bob.done("dm-sync", ["keep", "--messages", "3"]).record["message_count"]?.int == 20)
    try bob.done("dm-tail", ["--forget", "bot"])
    #expect(try bob.done("dm-sync", ["keep", "--messages", "2"]).record["message_count"]?.int == 15)
    #expect(try bob.done("dm-list", ["--json"]).record["unread_count"]?.int == 15)
    #expect(try texts(["alice", "--unread"], bob).count == 15)
    try bob.done("dm-doctor", ["check", "--deep"])
  }

  @Test func `a machine can limit its messages when it joins, and a wrong limit is refused`() throws {
    let (hub, alice, bob) = try chat()
    try bob.done("dm-conversation", ["create", "--title", "ops", "alice"])
    for number in 1...20 { try bob.done("dm-send", ["+ops", "report \(number)"]) }
    try bob.sync()
    try alice.sync()
    try alice.done("dm-read", ["--all", "+ops"])
    try alice.done("dm-conversation", ["title", "+ops", "operations"])
    try alice.sync()
    try bob.sync()
    let phone = try ToolFixture()
    phone.set("DM_SYNC", "off")
    try phone.done("dm-sync", ["join", hub.invite("bob"), "--messages", "7"])
    // Seven messages of each of the two conversations, and the announcement that the group was created.
    #expect(try phone.done("dm-sync", ["keep"]).record["message_count"]?.int == 15)
    #expect(try phone.done("dm-list", ["--json"]).records.map { $0["unread_count"]?.int } == [0, 0])
    try phone.done("dm-doctor", ["check", "--deep"])
    let carriers = Carriers(phone)
    phone.set("DM_SYNC", nil)
    phone.set("DM_FRESH", "60s")
    #expect(try texts(["+operations", "3..4"], phone) == ["report 2", "report 3"])
    let first = try phone.done("dm-tail", ["--json", "+operations", "2..2"]).record
    #expect(first["status"]?.string == "read" && first["read_by_count"]?.int == 1, "\(first)")
    #expect(try texts(["alice", "-n", "all"], phone).count == 40)
    try carriers.end()
    try phone.done("dm-doctor", ["check", "--deep"])
    let wrong = try phone.run("dm-sync", ["keep", "--messages", "few"])
    #expect(wrong.status == .exit(64) && wrong.stderr.contains("'few' is neither"), "\(wrong.stderr)")
  }
}
