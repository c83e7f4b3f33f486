import Foundation
import Glibc
import JSONSupport
import Testing

@testable import TestSupport

/// Files that one person sends to another over a hub.
struct HubFilesTests: FileTests {
  @Test func `a small file is fetched with its message, and a large one when the user asks for it`() throws {
    let (hub, alice, bob) = try linked()
    let files = try [file(1000, "small", in: alice), file(3_000_000, "large", in: alice), file(0, "empty", in: alice)]
    let sent = try attach(files, to: "bob", alice)
    #expect(sent["status"]?.string == "sending" && sent["attachments"]?.array.count == 3)
    let waiting = try alice.done("dm-attach", ["--status"]).records
    #expect(waiting.map { $0["direction"]?.string } == ["upload", "upload", "upload"])
    #expect(Set(waiting.compactMap { $0["name"]?.string }) == ["small", "large", "empty"])
    try alice.sync()
    #expect(try alice.done("dm-attach", ["--status"]).stdout.isEmpty)
    #expect(try alice.done("dm-tail", ["bob"]).record["status"]?.string == "sent")
    try bob.sync()
    #expect(try contents(of: bob) == 2)
    let carriers = Carriers(bob)
    bob.set("DM_SYNC", nil)
    let (folder, outcome) = try get("alice:1", bob)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    for file in files {
      let name = (file as NSString).lastPathComponent
      #expect(try alice.run("cmp", [file, "\(folder)/\(name)"]).status == .exit(0), "\(name)")
    }
    try carriers.end()
    for machine in [alice, bob] { try machine.done("dm-doctor", ["check", "--deep"]) }
    #expect(try hub.sql("SELECT count(*) FROM dm.file WHERE is_whole AND unused_at IS NULL") == "3\n")
  }

  @Test func `the image of a preview reaches the others with its message`() throws {
    let (_, alice, bob) = try linked()
    let path = try file(2000, "picture", in: alice)
    let image = try #require(alice.done("dm-attach", ["--as-file", path]).record["id"]?.string)
    let line = """
      {"conversation":"bob","text":"see https://a.test/x","link_preview":{"url":"https://a.test/x","title":"A page",\
      "attachment_id":"\(image)"}}

      """
    let sent = try alice.done("dm-send", ["--json"], stdin: .bytes(Array(line.utf8))).record
    #expect(sent["link_preview"]?["attachment_id"]?.string == image)
    try alice.sync()
    try bob.sync()
    let received = try bob.done("dm-tail", ["alice"]).record
    let id = try #require(received["link_preview"]?["attachment_id"]?.string)
    #expect(received["link_preview"]?["title"]?.string == "A page")
    #expect(received["attachments"]?.array.map { $0["id"]?.string } == [id])
    let (folder, outcome) = try get(id, bob)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(try alice.run("cmp", [path, "\(folder)/picture"]).status == .exit(0))
    for machine in [alice, bob] { try machine.done("dm-doctor", ["check", "--deep"]) }
  }

  @Test func `a running sync process transfers files in a second process, and sends messages meanwhile`() throws {
    let (hub, alice, bob) = try linked()
    try hub.sql("UPDATE dm.hub SET hourly_file_bytes = 1048576")
    try alice.done("dm-send", ["bob", "first"])
    try alice.sync()
    let carriers = Carriers(alice)
    alice.set("DM_SYNC", nil)
    _ = try attach([file(2_000_000, "large", in: alice)], to: "bob", alice)
    _ = try attach([file(1000, "small", in: alice)], to: "bob", alice)
    try alice.done("dm-send", ["--wait", "bob", "last"])
    try Torture.wait(until: "the limit of files is reached") {
      try alice.done("dm-attach", ["--status"]).records.first?["next_attempt_at"] != nil
    }
    let transfer = try alice.done("dm-attach", ["--status"]).record
    #expect(transfer["fault"]?.string?.hasPrefix("over_quota") == true && transfer["name"]?.string == "large")
    try Torture.wait(until: "the small file is sent") {
      try status(of: "small", alice) == "sent"
    }
    #expect(try status(of: "large", alice) == "sending")
    try hub.sql("UPDATE dm.hub SET hourly_file_bytes = 1073741824")
    try alice.done("dm-sync", ["retry"])
    try Torture.wait(until: "all is sent") {
      try alice.done("dm-tail", ["bob"]).records.allSatisfy { $0["status"]?.string == "sent" }
    }
    try carriers.end()
    try bob.sync()
    #expect(try bob.done("dm-tail", ["alice", "-n", "all"]).records.count == 4)
  }

  @Test func `an interrupted upload or fetch resumes where it stopped`() throws {
    let (hub, alice, bob) = try linked()
    let size = 20 << 20
    let large = try file(size, "large", in: alice)
    _ = try attach([large], to: "bob", alice)
    for (machine, way) in [(alice, CuttingProxy.Way.toHub), (bob, .fromHub)] {
      if machine === bob {
        try bob.sync()
        // Queues the fetch, which no program starts because DM_SYNC is off.
        #expect(try get("alice:1", bob).outcome.status == .exit(69))
      }
      let proxy = try CuttingProxy(to: hub.server)
      try machine.redirect(to: proxy.port)
      var (total, rounds) = (0, 0)
      repeat {
        proxy.pass()
        proxy.stop(CuttingProxy.Stop(bytes: 9 << 20, way: way, end: .cut))
        try machine.done("dm-sync", ["retry"])
        _ = try machine.run("dm-sync", machine === alice ? [] : ["--files"])
        total += proxy.carried(way)
        rounds += 1
      } while try rounds < 10 && isUnderWay(machine)
      #expect(rounds > 2 && rounds < 10)
      // At most 16 chunks are transferred again after each cut.
      #expect(total < size + rounds * (5 << 20), "\(total)")
    }
    let (folder, outcome) = try get("alice:1", bob)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(try bob.run("cmp", [large, "\(folder)/large"]).status == .exit(0))
  }

  private func isUnderWay(_ machine: ToolFixture) throws -> Bool {
    try !machine.done("dm-attach", ["--status"]).stdout.isEmpty
  }

  @Test func `the programs that transfer files can be killed at any time`() throws {
    let (_, alice, bob) = try linked()
    let large = try file(30 << 20, "large", in: alice)
    _ = try attach([large], to: "bob", alice)
    for _ in 0..<8 {
      let run = try alice.start("dm-sync", [])
      try Torture.wait(until: "some of the file is there") {
        try alice.done("dm-attach", ["--status"]).records.allSatisfy { $0["state"]?.string == "running" }
      }
      run.process.send(SIGKILL)
      _ = try run.finish()
    }
    try alice.sync()
    try bob.sync()
    bob.set("DM_SYNC", nil)
    let carriers = Carriers(bob)
    for _ in 0..<4 {
      let run = try bob.start("dm-attach", ["--get", "alice:1", "-o", bob.directory])
      try Torture.wait(until: "the file is being fetched, or there") {
        try bob.done("dm-attach", ["--status"]).records.allSatisfy { $0["state"]?.string == "running" }
      }
      run.process.send(SIGKILL)
      _ = try run.finish()
      try carriers.end()
    }
    let (folder, outcome) = try get("alice:1", bob)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(try bob.run("cmp", [large, "\(folder)/large"]).status == .exit(0))
    try carriers.end()
    for machine in [alice, bob] { try machine.done("dm-doctor", ["check", "--deep"]) }
  }

  @Test func `a forwarded file is not uploaded again, and the user who forwards it does not fetch it`() throws {
    let (hub, alice, bob) = try linked()
    let carol = try hub.machine("carol")
    let large = try file(2_000_000, "large", in: alice)
    _ = try attach([large], to: "bob", alice)
    try alice.sync()
    try bob.sync()
    try bob.done("dm-send", ["--forward", "alice:1", "carol"])
    try bob.sync()
    try carol.sync()
    #expect(try hub.sql("SELECT count(*) FROM dm.file") == "1\n")
    #expect(try contents(of: bob) == 0)
    let carriers = Carriers(carol)
    carol.set("DM_SYNC", nil)
    let (folder, outcome) = try get("bob:1", carol)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(try carol.run("cmp", [large, "\(folder)/large"]).status == .exit(0))
    try carriers.end()
  }

  @Test func `a cancelled forward of a file that was never fetched leaves no attachment`() throws {
    let (hub, alice, bob) = try linked()
    _ = try hub.machine("carol")
    _ = try attach([file(2_000_000, "large", in: alice)], to: "bob", alice)
    try alice.sync()
    try bob.sync()
    try bob.done("dm-send", ["--forward", "alice:1", "carol"])
    let forward = try #require(bob.done("dm-tail", ["carol"]).record["id"]?.string)
    try bob.done("dm-edit", ["delete", "--for-everyone", forward])
    try alice.done("dm-edit", ["delete", "--for-everyone", "bob:1"])
    try alice.sync()
    try bob.sync()
    #expect(try contents(of: bob) == 0)
    try bob.done("dm-doctor", ["check", "--deep"])
  }

  @Test func `an edited message keeps its files, also for a member who joins later`() throws {
    let (hub, alice, bob) = try linked()
    _ = try hub.machine("carol")
    try alice.sync()
    try alice.done("dm-conversation", ["create", "--title", "ops", "bob"])
    let line = try alice.done(
      "dm-attach", ["--as-file", "--to", "+ops", "--text", "before", file(1000, "small", in: alice)]
    ).output
    try alice.done("dm-send", [], stdin: .bytes(line))
    try alice.sync()
    try alice.done("dm-edit", ["text", "+ops:2", "after"])
    try alice.done("dm-conversation", ["add", "+ops", "carol", "--with-history"])
    try alice.sync()
    try bob.sync()
    let carol = try hub.machine("carol")
    try carol.sync()
    for machine in [bob, carol] {
      let message = try machine.done("dm-tail", ["+ops", "-n", "all"]).records.first { $0["text"]?.string == "after" }
      #expect(message?["attachments"]?.array.first?["name"]?.string == "small")
    }
    let carriers = Carriers(carol)
    carol.set("DM_SYNC", nil)
    #expect(try get("+ops:2", carol).outcome.status == .exit(0))
    try carriers.end()
  }

  /// The status of the message with a file of this name.
  private func status(of name: String, _ machine: ToolFixture) throws -> String? {
    try machine.done("dm-tail", ["--peek", "-n", "all", "bob"]).records.first {
      $0["attachments"]?.array.first?["name"]?.string == name
    }?["status"]?.string
  }

  @Test func `a user who is added to a group while a file is uploaded does not see its message`() throws {
    let (hub, alice, bob) = try linked()
    let carol = try hub.machine("carol")
    try alice.sync()
    try alice.done("dm-conversation", ["create", "--title", "ops", "bob"])
    try alice.sync()
    try hub.sql("UPDATE dm.hub SET hourly_file_bytes = 1048576")
    _ = try attach([file(2_000_000, "large", in: alice)], to: "+ops", alice)
    try alice.done("dm-conversation", ["add", "+ops", "carol"])
    try alice.done("dm-send", ["+ops", "later"])
    let limited = try alice.run("dm-sync")
    #expect(limited.status == .exit(73) && limited.stderr.contains("takes no more from you until"), "\(limited.stderr)")
    let pending = try alice.done("dm-sync", ["pending"]).records
    #expect(pending.first?["failure"]?.string == "over_quota" && pending.first?["next_attempt_at"] != nil)
    try carol.sync()
    #expect(try carol.done("dm-list").output.isEmpty)
    try hub.sql("UPDATE dm.hub SET hourly_file_bytes = 1073741824")
    try alice.done("dm-sync", ["retry"])
    try alice.sync()
    for machine in [bob, carol] { try machine.sync() }
    #expect(try carol.texts("+ops").map { $0.split(separator: " ", maxSplits: 1)[1] } == ["user_joined", "later"])
    #expect(try bob.texts("+ops").count == 4)
  }
}
