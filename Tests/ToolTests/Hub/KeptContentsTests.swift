import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Stores that keep only some of the contents that their hub has.
struct KeptContentsTests: FileTests {
  /// Sets the last use of a store's contents to two hours ago, one second apart, in the order of the attachments'
  /// names.
  private func age(_ machine: ToolFixture, _ conversation: String) throws {
    let records = try machine.done("dm-attach", ["--list", conversation]).records
    let hashes = records.sorted { ($0["name"]?.string ?? "") < ($1["name"]?.string ?? "") }.compactMap {
      $0["sha256"]?.string
    }
    for (index, hash) in hashes.enumerated() {
      let path = "\(machine.store)/attachments/\(hash.prefix(2))/\(hash)"
      guard FileManager.default.fileExists(atPath: path) else { continue }
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: Double(index - 7200))], ofItemAtPath: path)
    }
  }

  @Test func `the least recently used contents are removed first, and fetched again when the user asks for them`()
    throws
  {
    let (_, alice, bob) = try linked()
    let files = try (1...4).map { try file(1_000_000 + $0, "part\($0)", in: alice) }
    for file in files { _ = try attach([file], to: "bob", alice) }
    try alice.sync()
    try bob.sync()
    #expect(try contents(of: bob) == 4)
    #expect(try bob.done("dm-sync", ["keep"]).record["content_count"]?.int == 4)
    // Contents that were used in the last ten minutes stay.
    #expect(try bob.done("dm-sync", ["keep", "--contents", "2M"]).record["content_count"]?.int == 4)
    try age(bob, "alice")
    let carriers = Carriers(bob)
    bob.set("DM_SYNC", nil)
    // The oldest content is used again.
    _ = try get("alice:1", bob)
    let kept = try bob.done("dm-sync", ["keep", "--contents", "2M"]).record
    #expect(kept["content_count"]?.int == 2 && kept["content_limit_bytes"]?.int == 2 << 20)
    #expect(kept["content_bytes"]?.int == 1_000_001 + 1_000_004)
    try bob.done("dm-doctor", ["check", "--deep"])
    let (folder, outcome) = try get("alice:2", bob)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(try alice.run("cmp", [files[1], folder + "/part2"]).status == .exit(0))
    try carriers.end()
    #expect(try bob.done("dm-sync", ["keep", "--contents", "all"]).record["content_limit_bytes"] == nil)
  }

  @Test func `contents that the user has just sent, or not sent yet, are kept whatever the limit is`() throws {
    let (hub, alice, _) = try linked()
    _ = try attach([file(1000, "sent", in: alice)], to: "bob", alice)
    try alice.sync()
    _ = try attach([file(2000, "waiting", in: alice)], to: "bob", alice)
    try alice.done("dm-attach", [file(3000, "prepared", in: alice)])
    for name in try FileManager.default.subpathsOfDirectory(atPath: alice.store + "/attachments") {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -7200)], ofItemAtPath: "\(alice.store)/attachments/\(name)")
    }
    #expect(try alice.done("dm-sync", ["keep", "--contents", "0"]).record["content_count"]?.int == 3)
    // A month after sending, the content is removed, because the hub has it.
    _ = try alice.sql("UPDATE message SET created_at = created_at - 31 * 86400000000 WHERE attachment_count > 0")
    #expect(try alice.done("dm-sync", ["keep", "--contents", "0"]).record["content_count"]?.int == 2)
    withExtendedLifetime(hub) {}
  }

  @Test func `a machine can limit its contents when it joins, and a wrong limit is refused`() throws {
    let (hub, alice, _) = try linked()
    let phone = try ToolFixture()
    phone.set("DM_SYNC", "off")
    try phone.done("dm-sync", ["join", hub.invite("bob"), "--contents", "1M"])
    #expect(try phone.done("dm-sync", ["keep"]).record["content_limit_bytes"]?.int == 1 << 20)
    for (number, count) in [(1, 1), (2, 1)] {
      // The content that arrives last stays, because it was used last.
      _ = try attach([file(1_000_000 + number, "part\(number)", in: alice)], to: "bob", alice)
      try alice.sync()
      try phone.sync()
      try Torture.wait(until: "what is too much was removed") {
        try phone.done("dm-sync", ["keep"]).record["content_count"]?.int == count
      }
      try age(phone, "alice")
    }
    let wrong = try phone.run("dm-sync", ["keep", "--contents", "much"])
    #expect(
      wrong.status == .exit(64) && wrong.stderr.contains("'much' is not a size for --contents"), "\(wrong.stderr)")
    let lone = try ToolFixture().run("dm-sync", ["keep", "--contents", "1M"])
    #expect(lone.status == .exit(66) || lone.stderr.contains("not linked"), "\(lone.stderr)")
  }

  @Test func `contents are kept if the user could not fetch them from the hub again`() throws {
    let (hub, alice, bob) = try linked()
    _ = try attach([file(1000, "part", in: alice)], to: "bob", alice)
    for machine in [alice, bob] { try machine.sync() }
    try age(bob, "alice")
    try hub.hub(["revoke", "bob"])
    let revoked = try bob.done("dm-sync", ["keep", "--contents", "0"])
    #expect(try revoked.record["content_count"]?.int == 1)
    #expect(revoked.stderr.contains("nothing is removed until the hub can be reached"), "\(revoked.stderr)")
    try alice.done("dm-sync", ["leave"])
    let left = try alice.run("dm-sync", ["keep", "--contents", "0"])
    #expect(left.status == .exit(69) && left.stderr.contains("this store has left its hub"), "\(left.stderr)")
    #expect(try contents(of: alice) == 1)
  }

  @Test func `dm-sync removes old contents over the limit even if it transfers nothing`() throws {
    let (_, alice, bob) = try linked()
    _ = try attach([file(1000, "part", in: alice)], to: "bob", alice)
    for machine in [alice, bob] { try machine.sync() }
    #expect(try bob.done("dm-sync", ["keep", "--contents", "0"]).record["content_count"]?.int == 1)
    try age(bob, "alice")
    try bob.sync()
    try Torture.wait(until: "it was removed") { try contents(of: bob) == 0 }
  }
}
