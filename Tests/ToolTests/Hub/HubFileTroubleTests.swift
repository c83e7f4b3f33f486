import Foundation
import Glibc
import JSONSupport
import Testing

@testable import TestSupport

/// Files that cannot be transferred over a hub, or that are missing.
struct HubFileTroubleTests: FileTests {
  @Test func `without the hub, dm-attach --get says why it cannot fetch, and the store is sound`() throws {
    let (_, alice, bob) = try linked()
    _ = try attach([file(2_000_000, "large", in: alice)], to: "bob", alice)
    try alice.sync()
    try bob.sync()
    let off = try get("alice:1", bob).outcome
    #expect(off.status == .exit(69) && off.stderr.contains("DM_SYNC is off"), "\(off.stderr)")
    try bob.done("dm-sync", ["network", "offline"])
    bob.set("DM_SYNC", nil)
    let offline = try get("alice:1", bob).outcome
    #expect(offline.status == .exit(69) && offline.stderr.contains("offline"), "\(offline.stderr)")
    try bob.done("dm-sync", ["network", "normal"])
    try bob.redirect(to: 1)
    let carriers = Carriers(bob)
    let unreachable = try get("alice:1", bob).outcome
    #expect(unreachable.status == .exit(69), "\(unreachable.stderr)")
    #expect(unreachable.stderr.contains("will be fetched when the hub can be reached"), "\(unreachable.stderr)")
    try carriers.end()
    // A file that the hub has may be missing from the store, and from a backup or dump of the store.
    try bob.done("dm-doctor", ["check", "--deep"])
    try bob.done("dm-doctor", ["backup", "\(bob.directory)/backup"])
    _ = try bob.shell("dm-doctor dump >'\(bob.directory)/dump'")
    for source in ["backup", "dump"] {
      let restored = "\(bob.directory)/restored-\(source)"
      try bob.done("dm-doctor", ["--store", restored, "restore", "\(bob.directory)/\(source)"])
      try bob.done("dm-doctor", ["--store", restored, "check", "--deep"])
    }
  }

  @Test func `the error for a file that was deleted or differs from its message says why it cannot be fetched`() throws
  {
    let (hub, alice, bob) = try linked()
    for name in ["one", "two"] { _ = try attach([file(2_000_000, name, in: alice)], to: "bob", alice) }
    try alice.sync()
    try bob.sync()
    bob.set("DM_SYNC", nil)
    let carriers = Carriers(bob)
    try hub.sql("UPDATE dm.chunk SET bytes = set_byte(bytes, 5, 255 - get_byte(bytes, 5)) WHERE number = 3")
    let lying = try get("alice:1", bob).outcome
    #expect(lying.status == .exit(66) && lying.stderr.contains("is not what its sender described"), "\(lying.stderr)")
    try alice.done("dm-edit", ["delete", "bob:2", "--for-everyone"])
    try hub.sql("DELETE FROM dm.attached; UPDATE dm.file SET unused_at = now()")
    let gone = try get("alice:2", bob).outcome
    #expect(gone.status == .exit(66) && gone.stderr.contains("does not have the file"), "\(gone.stderr)")
    try carriers.end()
    try bob.done("dm-doctor", ["check", "--deep"])
    let names = try FileManager.default.contentsOfDirectory(atPath: "\(bob.store)/attachments")
    #expect(names.filter { $0.hasPrefix(".fetch") }.isEmpty, "\(names)")
  }

  @Test func `a message whose file is missing in the store fails, and can be retried when the file is restored`() throws
  {
    let (_, alice, bob) = try linked()
    let small = try file(1000, "small", in: alice)
    let sent = try attach([small], to: "bob", alice)
    let hash = try #require(sent["attachments"]?.array.first?["sha256"]?.string)
    let path = "\(alice.store)/attachments/\(hash.prefix(2))/\(hash)"
    try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
    let synced = try alice.run("dm-sync")
    #expect(synced.status == .exit(0), "\(synced.stderr)")
    let pending = try alice.done("dm-sync", ["pending"]).record
    #expect(pending["state"]?.string == "failed" && pending["failure"]?.string == "unknown_attachment")
    try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
    try alice.done("dm-sync", ["retry"])
    try alice.sync()
    try bob.sync()
    #expect(try bob.done("dm-tail", ["alice"]).record["attachments"]?.array.count == 1)
  }

  @Test func `a message with a file leaves nothing on the hub when it is cancelled or deleted`() throws {
    let (hub, alice, _) = try linked()
    let first = try attach([file(1000, "small", in: alice)], to: "bob", alice)
    let id = try #require(first["id"]?.string)
    try alice.done("dm-edit", ["delete", "dm:\(id)", "--for-everyone"])
    try alice.sync()
    #expect(try hub.sql("SELECT count(*) FROM dm.file") == "0\n")
    _ = try attach([file(1000, "small", in: alice)], to: "bob", alice)
    try alice.sync()
    try alice.done("dm-edit", ["delete", "bob:1", "--for-everyone"])
    try alice.sync()
    try hub.hub(["sweep"])
    #expect(try hub.sql("SELECT count(*) FROM dm.file") == "0\n")
    #expect(try hub.sql("SELECT count(*) FROM dm.chunk") == "0\n")
  }

  @Test func `files are uploaded again if the hub is restored to a state without them`() throws {
    let (hub, alice, bob) = try linked()
    try alice.done("dm-send", ["bob", "before"])
    try alice.sync()
    try bob.sync()
    let dump = "\(alice.directory)/dump"
    try alice.done("pg_dump", ["-Fc", "-f", dump, "-d", hub.database])
    let large = try file(2_000_000, "large", in: alice)
    _ = try attach([large], to: "bob", alice)
    try alice.sync()
    try hub.restore(from: dump, with: alice)
    try alice.sync()
    try bob.sync()
    bob.set("DM_SYNC", nil)
    let carriers = Carriers(bob)
    let (folder, outcome) = try get("alice:2", bob)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(try bob.run("cmp", [large, "\(folder)/large"]).status == .exit(0))
    try carriers.end()
  }
}
