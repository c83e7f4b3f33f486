import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Reports of messages, which members send to the administrator of a hub.
struct HubReportTests {
  @Test func `a report reaches the administrator, and stays when the message is deleted`() throws {
    let hub = try HubFixture()
    let (alice, bob) = (try hub.machine("alice"), try hub.machine("bob"))
    for text in ["buy this", "and this"] { try bob.done("dm-send", ["alice", text]) }
    for machine in [bob, alice] { try machine.sync() }
    try alice.done("dm-edit", ["report", "bob:1", "--reason", "spam"])
    // Later, alice reports the same message again with another reason.
    for _ in 1...2 { try alice.sync() }
    try alice.done("dm-edit", ["report", "bob:1", "--reason", "advertising"])
    try alice.sync()
    try bob.done("dm-edit", ["delete", "--for-everyone", "alice:1"])
    try bob.sync()
    let report = try hub.hub(["reports"]).record
    #expect(report["user"]?.string == "alice" && report["sender"]?.string == "bob" && report["seq"]?.int == 1)
    #expect(report["reason"]?.string == "advertising" && report["text"]?.string == "buy this")
    #expect(try hub.hub(["reports", "--text"]).stdout.contains("(advertising)\n  bob: buy this\n"))
    #expect(try alice.done("dm-sync", ["pending"]).output.isEmpty)
  }

  @Test func `a closed report does not come back after a new start of the server`() throws {
    let hub = try HubFixture(PostgresServer())
    let (alice, bob) = (try hub.machine("alice"), try hub.machine("bob"))
    for text in ["buy this", "and this"] { try bob.done("dm-send", ["alice", text]) }
    for machine in [bob, alice] { try machine.sync() }
    for message in ["bob:1", "bob:2"] { try alice.done("dm-edit", ["report", message]) }
    try alice.sync()
    let kept = "SELECT kept = dm.kept(id) FROM dm.person WHERE handle = 'alice'"
    let reports = try hub.hub(["reports"]).records
    let id = try #require(reports.first?["message_id"]?.string)
    #expect(try reports.count == 2 && hub.sql(kept) == "t\n")
    #expect(try hub.hub(["reports", "--close", id, "--text"]).stdout == "closed 1 report\n")
    #expect(try hub.hub(["reports"]).records.map { $0["text"]?.string } == ["and this"])
    let again = try hub.run(["reports", "--close", id])
    #expect(again.status == .exit(66), "\(again.stderr)")
    #expect(again.stderr.contains("no open report is about the message '\(id)'"))
    #expect(try hub.run(["reports", "--close", "bob:1"]).status == .exit(64))
    try hub.server.restart()
    try alice.sync()
    #expect(try hub.hub(["reports"]).records.map { $0["text"]?.string } == ["and this"])
    #expect(try hub.sql(kept) == "t\n")
    try hub.hub(["reports", "--close", "all"])
    #expect(try hub.hub(["reports"]).records.isEmpty)
  }

  @Test func `a report keeps its text if it is pushed again after a failover, and a closed report stays closed`() throws
  {
    let hub = try HubFixture()
    let (alice, bob) = (try hub.machine("alice"), try hub.machine("bob"))
    for text in ["buy this", "and this"] { try bob.done("dm-send", ["alice", text]) }
    for machine in [bob, alice] { try machine.sync() }
    for message in ["bob:1", "bob:2"] { try alice.done("dm-edit", ["report", message]) }
    try alice.sync()
    try bob.done("dm-edit", ["text", "alice:1", "hello"])
    try bob.sync()
    let id = try #require(hub.hub(["reports"]).records.last?["message_id"]?.string)
    try hub.hub(["reports", "--close", id])
    try hub.sql("UPDATE dm.hub SET epoch = gen_random_uuid()")
    try alice.sync()
    #expect(try hub.hub(["reports"]).records.map { $0["text"]?.string } == ["buy this"])
    #expect(try alice.done("dm-sync", ["pending"]).output.isEmpty)
  }
}
