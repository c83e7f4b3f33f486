import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Machines that the hub notifies only while a program waits for new messages.
struct ListeningTests {
  /// A machine whose dm-sync is connected, while no program has read its store.
  private func idle(_ hub: HubFixture, _ handle: String) throws -> (machine: ToolFixture, sync: LiveProcess) {
    let machine = try hub.machine(handle)
    let sync = try LiveProcess(machine, "dm-sync", ["-f"], stdin: .null)
    while try sync.record()["state"]?.string != "live" {}
    machine.set("DM_SYNC", nil)
    return (machine, sync)
  }

  @Test func `a read with --fresh shows a message about which the hub has not notified the machine`() throws {
    let hub = try HubFixture()
    let (alice, sync) = try idle(hub, "alice")
    let bob = try hub.machine("bob")
    defer { sync.process.send(SIGKILL) }
    for number in 1...3 {
      try bob.done("dm-send", ["alice", "number \(number)"])
      try bob.sync()
      #expect(try alice.done("dm-list", ["--count", "--fresh", "20s"]).stdout == "\(number)\n")
    }
  }

  @Test func `a follower prints messages from before its start and new messages without a delay`() throws {
    let hub = try HubFixture()
    let (alice, sync) = try idle(hub, "alice")
    let bob = try hub.machine("bob")
    defer { sync.process.send(SIGKILL) }
    try bob.done("dm-send", ["alice", "before"])
    try bob.sync()
    let tail = try LiveProcess(alice, "dm-tail", ["-f", "--events", "message", "--unread"], stdin: .null)
    defer { tail.process.send(SIGKILL) }
    for text in ["before", "then"] {
      if text == "then" {
        try bob.done("dm-send", ["alice", text])
        try bob.sync()
      }
      // Without a notification, the message would arrive after half a minute.
      while try tail.record(within: 25)["text"]?.string != text {}
    }
  }

  @Test func `the sender of a group message soon sees that the message is delivered`() throws {
    let hub = try HubFixture()
    let (bob, bobs) = try idle(hub, "bob")
    let (alice, sync) = try idle(hub, "alice")
    defer { for process in [sync, bobs] { process.process.send(SIGKILL) } }
    try alice.done("dm-conversation", ["create", "--title", "ops", "bob"])
    let followers = try [bob, alice].map { machine in
      try LiveProcess(machine, "dm-tail", ["-f", "-n", "0", "--events", "message_status"], stdin: .null)
    }
    defer { for follower in followers { follower.process.send(SIGKILL) } }
    for follower in followers { while try follower.record()["type"]?.string != "caught_up" {} }
    try alice.done("dm-send", ["+ops", "hello"])
    while try followers[1].record(within: 25)["status"]?.string != "delivered" {}
  }
}
