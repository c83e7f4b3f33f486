import DMModel
import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// The sync process that other programs start.
struct CarrierTests {
  @Test func `dm-send and dm-tail -f start the sync process, and a message reaches the follower`() throws {
    let hub = try HubFixture()
    let (bob, bobs) = try carried(hub, "bob")
    let (alice, alices) = try carried(hub, "alice")
    let tail = try LiveProcess(bob, "dm-tail", ["-f", "-n", "0"])
    defer { tail.process.send(SIGKILL) }
    #expect(try tail.record()["type"]?.string == "caught_up")
    try alice.done("dm-send", ["bob", "hello"])
    let record = try tail.record()
    #expect(record["text"]?.string == "hello" && record["seq"]?.int == 1)
    let waited = try alice.done("dm-send", ["--wait", "bob", "waited"]).record
    #expect(waited["seq"]?.int == 2 && waited["status"]?.string != "sending")
    #expect(bobs.processes.count == 1 && alices.processes.count == 1)
  }

  @Test func `ten senders at the same time start one sync process, which keeps none of their files open`() throws {
    let hub = try HubFixture()
    _ = try hub.machine("bob")
    let (alice, carriers) = try carried(hub, "alice")
    let lock = alice.directory + "/other.lock"
    let runs = try (0..<10).map { try alice.start("flock", [lock, "dm-send", "--wait", "bob", "text \($0)"]) }
    for run in runs { #expect(try run.finish().status == .exit(0)) }
    let process = try #require(carriers.processes.first)
    #expect(carriers.processes.count == 1)
    // The process has not inherited the script's lock, and its working folder is /, so it prevents no unmount.
    #expect(try alice.run("flock", ["-n", lock, "true"]).status == .exit(0))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd") == "/")
    #expect(try alice.texts("bob").count == 10)
  }

  /// Sets whether the hub accepts connections; if not, ends those that there are.
  private func accept(_ accepts: Bool, _ hub: HubFixture) throws {
    let name = PostgresServer.name(of: hub.database)
    try hub.server.psql("postgres", "ALTER DATABASE \(name) ALLOW_CONNECTIONS \(accepts)")
    if accepts { return }
    try hub.server.psql(
      "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
  }

  @Test func `a follower reports that the hub cannot be reached, and that it can be reached again`() throws {
    let hub = try HubFixture()
    let (alice, carriers) = try carried(hub, "alice")
    let programs = try [["--events", "hub"], ["--text"]].map {
      try LiveProcess(alice, "dm-tail", ["-f", "-n", "0"] + $0)
    }
    defer { for program in programs { program.process.send(SIGKILL) } }
    #expect(try programs[0].record()["type"]?.string == "caught_up")
    try Torture.wait(until: "the sync process is connected") {
      try alice.done("dm-sync", ["status"]).record["state"]?.string == "live"
    }
    try accept(false, hub)
    let lost = try programs[0].record()
    #expect(lost["type"]?.string == "hub" && lost["state"]?.string == "waiting", "\(lost)")
    #expect(lost["fault"]?.string?.contains("not currently accepting connections") == true)
    #expect(try programs[1].line()?.hasPrefix("-- the hub cannot be reached: ") == true)
    try accept(true, hub)
    let back = try programs[0].record()
    #expect(back["type"]?.string == "hub" && back["state"]?.string == "live", "\(back)")
    #expect(try programs[1].line() == "-- the hub can be reached again --")
    _ = carriers
  }

  @Test func `no sync process is started if DM_SYNC is off`() throws {
    let hub = try HubFixture()
    _ = try hub.machine("bob")
    let (alice, carriers) = try carried(hub, "alice")
    alice.set("DM_SYNC", "off")
    try alice.done("dm-send", ["bob", "hello"])
    #expect(carriers.processes.isEmpty)
    #expect(try alice.texts("bob") == ["- hello"])
  }

  @Test(.enabled(if: ToolFixture.has("faketime"), "needs faketime"), arguments: ["-1d", "+1d"])
  func `dm-sync waits for a comparison by the running sync process, whatever time the wall clock shows`(
    step: String
  ) throws {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    let follower = try LiveProcess(bob, "dm-sync", ["-f"], stdin: .null)
    defer { follower.process.send(SIGKILL) }
    while try follower.record()["state"]?.string != "live" {}
    try alice.done("dm-send", ["bob", "hello"])
    try alice.sync()
    let words = ["-f", step, "env", "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1", "dm-sync"]
    let asked = try bob.run("faketime", words)
    #expect(asked.status == .exit(0), "\(asked.stderr)")
    #expect(try bob.texts("alice") == ["1 hello"])
  }

  @Test func `dm-send --wait ends while the network is offline, and the message stays queued`() throws {
    let hub = try HubFixture()
    _ = try hub.machine("bob")
    let (alice, carriers) = try carried(hub, "alice")
    try alice.done("dm-sync", ["network", "offline"])
    let sent = try alice.run("dm-send", ["--wait", "bob", "hello"])
    #expect(sent.status == .exit(69), "\(sent.stderr)")
    #expect(try sent.record["status"]?.string == "sending")
    let status = try alice.done("dm-sync", ["status"]).record
    #expect(status["color"]?.string == "red" && status["queued_count"]?.int == 2)
    try alice.done("dm-sync", ["network", "normal"])
    #expect(carriers.processes.count == 1)
    let deadline = Date(timeIntervalSinceNow: 60)
    while try alice.texts("bob") != ["1 hello"], Date() < deadline { try alice.done("dm-sync") }
    #expect(try alice.texts("bob") == ["1 hello"])
  }

  @Test func `dm-sync and dm-send --wait end the pause of a sync process that could not reach the hub`() throws {
    let (hub, alice, carriers) = try cutOff()
    var next = try longPause(alice)
    let failed = try alice.run("dm-sync")
    #expect(failed.status == .exit(69) && failed.stderr.contains("not currently accepting"), "\(failed.stderr)")
    #expect(Timestamp.now < next)
    next = try longPause(alice)
    try accept(true, hub)
    let sent = try alice.run("dm-send", ["--wait", "bob", "two"])
    #expect(sent.status == .exit(0), "\(sent.stderr)")
    #expect(Timestamp.now < next)
    #expect(carriers.processes.count == 1)
  }

  /// A machine whose sync process was connected to a hub that now accepts no connections.
  private func cutOff() throws -> (hub: HubFixture, machine: ToolFixture, carriers: Carriers) {
    let hub = try HubFixture()
    _ = try hub.machine("bob")
    let (alice, carriers) = try carried(hub, "alice")
    try alice.done("dm-send", ["--wait", "bob", "one"])
    try accept(false, hub)
    return (hub, alice, carriers)
  }

  /// Waits until the sync process pauses for over five seconds, and returns when it would connect again.
  private func longPause(_ machine: ToolFixture) throws -> Timestamp {
    var next = Timestamp.now
    try Torture.wait(until: "the sync process pauses for over five seconds") {
      let status = try machine.done("dm-sync", ["status"]).record
      next = status["next_attempt_at"]?.string.flatMap(Timestamp.init) ?? .now
      return next.microseconds - Timestamp.now.microseconds > 5_000_000
    }
    return next
  }

  @Test func `a program that waits for the hub starts the sync process again if it was killed`() throws {
    let (hub, alice, carriers) = try cutOff()
    let sender = try alice.start("dm-send", ["--wait", "bob", "two"])
    try Torture.wait(until: "the message is queued") {
      try alice.done("dm-sync", ["status"]).record["queued_count"]?.int == 1
    }
    for process in carriers.processes { kill(process, SIGKILL) }
    try accept(true, hub)
    let sent = try sender.finish()
    #expect(sent.status == .exit(0), "\(sent.stderr)")
  }
}
