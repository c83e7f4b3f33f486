import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// The output of programs that read a linked store while the hub cannot be asked.
struct StaleReadTests {
  /// Stops the dm-sync of a store, and writes the state that other programs then see.
  private func freeze(_ machine: ToolFixture, _ carriers: Carriers, _ state: String, lastSyncAt: Int) throws {
    let process = try #require(carriers.processes.first)
    kill(process, SIGSTOP)
    try (#"{"state":"\#(state)","attempts":0,"last_sync_at":\#(lastSyncAt)}"# + "\n").write(
      toFile: machine.store + "/live/hub", atomically: true, encoding: .utf8)
  }

  @Test func `if the hub has been silent for more than ten seconds, a read says how old its data is`() throws {
    let (alice, carriers) = try carried(HubFixture(), "alice")
    // By default, a read waits only a second for the first comparison.
    #expect(try alice.done("dm-list", ["--count", "--fresh", "30s"]).stderr == "")
    try freeze(alice, carriers, "live", lastSyncAt: 1_000_000)
    let old = try alice.done("dm-list", ["--count"])
    #expect(old.stderr.hasPrefix("dm-list: as of 1970-01-01; the hub has not answered yet"), "\(old.stderr)")
  }

  @Test func `a read does not wait for a sync process that has been connecting for a minute`() throws {
    let (alice, carriers) = try carried(HubFixture(), "alice")
    try alice.done("dm-list", ["--count"])
    try freeze(alice, carriers, "connecting", lastSyncAt: 1_000_000)
    try alice.done("touch", ["-d", "1 minute ago", alice.store + "/live/hub"])
    alice.set("DM_FRESH", "1h")
    let old = try alice.run("dm-list", ["--count"], seconds: 20)
    #expect(old.status == .exit(0) && old.stderr.contains("the hub has not answered yet"), "\(old.stderr)")
  }

  @Test func `a sync process that ends while a program waits for it is replaced`() throws {
    let (alice, carriers) = try carried(HubFixture(), "alice")
    try alice.done("dm-list", ["--count"])
    let first = try #require(carriers.processes.first)
    try freeze(alice, carriers, "live", lastSyncAt: 1_000_000)
    func askedAt() throws -> Date? {
      try FileManager.default.attributesOfItem(atPath: alice.store + "/live/hub.asked")[.modificationDate] as? Date
    }
    let before = try askedAt()
    let reader = try alice.start("dm-list", ["--count", "--fresh", "30s"])
    try Torture.wait(until: "the reader has asked") { try askedAt() != before }
    kill(first, SIGKILL)
    let outcome = try reader.finish()
    #expect(outcome.status == .exit(0) && outcome.stderr == "", "\(outcome.stderr)")
    #expect(carriers.processes.count == 1 && carriers.processes.first != first)
  }

  @Test func `without a sync process, --fresh fails even after a recent comparison with the hub`() throws {
    let hub = try HubFixture()
    let alice = try hub.machine("alice")
    try alice.sync()
    #expect(try alice.done("dm-list", ["--count"]).stderr == "")
    let asked = try alice.run("dm-list", ["--count", "--fresh", "1s"])
    #expect(asked.status == .exit(69) && asked.stderr.contains("; DM_SYNC is off"), "\(asked.stderr)")
    // A copy of dm-list in a folder without dm-sync.
    alice.set("DM_SYNC", nil)
    let program = alice.directory + "/dm-list"
    try alice.done("sh", ["-c", "cp \"$(readlink -f \"$(command -v dm-list)\")\" '\(program)'"])
    let lone = try alice.run(program, ["--count"])
    #expect(lone.status == .exit(0) && lone.stderr.contains("; cannot start dm-sync: "), "\(lone.stderr)")
    #expect(!lone.stderr.contains("queued"))
  }

  @Test func `a read warns if the folder live cannot be written, but not if the store has left its hub`() throws {
    let hub = try HubFixture()
    let (alice, carriers) = try carried(hub, "alice")
    try alice.done("dm-list", ["--count"])
    try carriers.end()
    #expect(try alice.shell("rm -r '\(alice.store)/live'; touch '\(alice.store)/live'").status == .exit(0))
    let unwritable = try alice.done("dm-list", ["--count"])
    #expect(unwritable.stderr.contains("live' cannot be written"), "\(unwritable.stderr)")
    try FileManager.default.removeItem(atPath: alice.store + "/live")
    try alice.done("dm-sync", ["leave"])
    let left = try alice.done("dm-list", ["--count", "--fresh", "1s"])
    #expect(left.stderr == "" && left.stdout == "0\n")
    #expect(try alice.run("dm-user", ["show", "nobody"]).status == .exit(67))
  }

  @Test func `while the hub cannot be reached, an unknown handle gives hub_unreachable, and other lines are sent`()
    throws
  {
    let hub = try HubFixture()
    let (alice, carriers) = try carried(hub, "alice")
    _ = try hub.machine("bob")
    try alice.done("dm-send", ["bob", "hello"])
    try alice.done("dm-sync", ["network", "offline"])
    let lines = #"{"conversation":"carol","text":"a"}"# + "\n" + #"{"conversation":"bob","text":"b"}"# + "\n"
    let batch = try alice.run("dm-send", stdin: .bytes(Array(lines.utf8)))
    #expect(try batch.records.map { $0["code"]?.string ?? "" } == ["hub_unreachable", ""], "\(batch.stdout)")
    #expect(try alice.texts("bob").suffix(1) == ["- b"])
    let one = try alice.run("dm-send", ["carol", "hello"])
    #expect(one.status == .exit(69), "\(one.stderr)")
    #expect(one.stderr.contains("no user 'carol' in this store; they may be on the hub, but the simulated network"))
    // With DM_SYNC=off, the hub is not asked, and the answer is that of the store.
    alice.set("DM_SYNC", "off")
    #expect(try alice.run("dm-send", ["carol", "hello"]).status == .exit(67))
    _ = carriers
  }

  @Test func `a revoked machine learns of its revocation even from a server that admits only members`() throws {
    let server = try PostgresServer()
    let hub = try HubFixture(server)
    let alice = try hub.machine("alice")
    let path = server.folder + "/data/pg_hba.conf"
    let rules = try String(contentsOfFile: path, encoding: .utf8)
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.write(contentsOf: Data(rules.replacing(" all all ", with: " all +dm_member ").utf8))
    try file.truncate(atOffset: file.offset())
    try hub.sql("SELECT pg_reload_conf()")
    try alice.sync()
    try hub.hub(["revoke", "alice"])
    let synced = try alice.run("dm-sync")
    #expect(synced.status == .exit(77) && synced.stderr.contains("perhaps because its login was revoked"))
    #expect(try alice.done("dm-sync", ["status"]).record["color"]?.string != "green")
    alice.set("DM_SYNC", nil)
    let carriers = Carriers(alice)
    #expect(try alice.done("dm-list", ["--count"]).stderr.contains("no pg_hba.conf entry"))
    try carriers.end()
  }

  @Test func `the error for a wrong value of an environment variable names the variable and the value`() throws {
    let alice = try HubFixture().machine("alice")
    for (name, value) in [("DM_FRESH", "soon"), ("DM_SYNC", "maybe"), ("DM_BUSY_TIMEOUT", "soon")] {
      alice.set(name, value)
      let outcome = try alice.run("dm-list", ["--count"])
      #expect(outcome.status == .exit(64) && outcome.stderr.contains("'\(value)' is not "), "\(outcome.stderr)")
      #expect(outcome.stderr.contains(name))
      alice.set(name, nil)
    }
  }
}
