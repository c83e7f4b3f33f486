import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Typing and presence between stores on a hub.
struct HubSignalsTests {
  /// Two people who share a conversation, each with a dm-sync that programs start.
  private func talkers() throws -> (alice: (ToolFixture, Carriers), bob: (ToolFixture, Carriers)) {
    let hub = try HubFixture()
    let (alice, bob) = (try carried(hub, "alice"), try carried(hub, "bob"))
    try alice.machine.done("dm-send", ["--wait", "bob", "hello"])
    #expect(try bob.machine.done("dm-list", ["--count"]).stdout == "1\n")
    return (alice, bob)
  }

  @Test func `typing is shown on another machine, and ends with --off or after a time`() throws {
    let ((alice, alices), (bob, bobs)) = try talkers()
    let watcher = try LiveProcess(bob, "dm-typing", ["--watch", "alice"])
    defer { watcher.process.send(SIGKILL) }
    for ends in [{ try alice.done("dm-typing", ["bob", "--off"]) }, {}] as [() throws -> Void] {
      try alice.done("dm-typing", ["bob", "--on"])
      #expect(try watcher.record()["users"]?.array.map(\.string) == ["alice"])
      try ends()
      #expect(try watcher.record()["users"]?.array.isEmpty == true)
    }
    _ = (alices, bobs)
  }

  @Test func `a user who runs dm-tail -f is shown as online to another user, until they block that user`() throws {
    let ((alice, alices), (bob, bobs)) = try talkers()
    func online() throws -> Bool? { try alice.done("dm-user", ["presence", "bob"]).record["is_online"]?.bool }
    #expect(try online() == false)
    let follower = try LiveProcess(bob, "dm-tail", ["-f", "-n", "0"])
    defer { follower.process.send(SIGKILL) }
    let watcher = try LiveProcess(alice, "dm-user", ["presence", "-f"])
    defer { watcher.process.send(SIGKILL) }
    func isNews(_ record: JSON) -> Bool { record["user"]?.string == "bob" && record["is_online"]?.bool == true }
    while try !isNews(watcher.record()) {}
    #expect(try online() == true)
    // A script that asks once, while no dm-sync runs, gets the same answer.
    watcher.process.send(SIGKILL)
    _ = watcher.process.wait(seconds: 10)
    try alices.end()
    #expect(try online() == true)
    try bob.done("dm-user", ["block", "alice"])
    try Torture.wait(until: "the presence is hidden from the blocked user") { try online() != true }
    _ = (alices, bobs)
  }

  @Test func `no user is shown as offline before the hub has said who is online`() throws {
    let ((alice, alices), (_, bobs)) = try talkers()
    try alices.end()
    alice.set("DM_SYNC", "off")
    #expect(try alice.done("dm-user", ["presence", "bob"]).output.isEmpty)
    _ = bobs
  }
}
