import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Connections that end or become silent after any number of bytes.
struct HubCutTests {
  /// A hub, a machine of Alice behind a proxy, and a machine of Bob; both machines have the same conversation.
  private func cut() throws -> (hub: HubFixture, proxy: CuttingProxy, alice: ToolFixture, bob: ToolFixture) {
    let hub = try HubFixture()
    let (bob, alice) = (try hub.machine("bob"), try hub.machine("alice"))
    let proxy = try CuttingProxy(to: hub.server)
    try alice.redirect(to: proxy.port)
    try alice.done("dm-send", ["bob", "0"])
    try alice.sync()
    try bob.sync()
    return (hub, proxy, alice, bob)
  }

  @Test(arguments: CuttingProxy.Way.allCases) func `nothing is lost when a connection ends after any number of bytes`(
    way: CuttingProxy.Way
  ) throws {
    let (_, proxy, alice, bob) = try cut()
    // Measures how many bytes one synchronization transfers.
    proxy.pass()
    try alice.done("dm-send", ["bob", "1"])
    try alice.sync()
    let whole = proxy.carried(way)
    var (said, failed) = (1, 0)
    for step in 0...40 {
      said += 1
      try alice.done("dm-send", ["bob", "\(said)"])
      try bob.done("dm-send", ["alice", "to \(said)"])
      try bob.sync()
      proxy.stop(CuttingProxy.Stop(bytes: whole * step / 40, way: way, end: .cut))
      let synced = try alice.run("dm-sync")
      #expect(synced.status == .exit(0) || synced.status == .exit(69), "\(step): \(synced.stderr)")
      if synced.status != .exit(0) { failed += 1 }
    }
    #expect(failed > 30)
    proxy.pass()
    for machine in [alice, bob] { try machine.sync() }
    let texts = try alice.texts("bob").map { $0.split(separator: " ", maxSplits: 1)[1] }
    #expect(texts.filter { !$0.hasPrefix("to") } == (0...said).map { "\($0)" })
    #expect(texts.filter { $0.hasPrefix("to") } == (2...said).map { "to \($0)" })
    #expect(try alice.texts("bob") == bob.texts("alice"))
    for machine in [alice, bob] { try machine.done("dm-doctor", ["check", "--deep"]) }
  }

  @Test(arguments: CuttingProxy.Way.allCases, [0, 50, 90])
  func `a connection that becomes silent is closed after a timeout`(
    way: CuttingProxy.Way, percent: Int
  ) throws {
    let (_, proxy, alice, bob) = try cut()
    proxy.pass()
    try alice.done("dm-send", ["bob", "1"])
    try alice.sync()
    proxy.stop(CuttingProxy.Stop(bytes: proxy.carried(way) * percent / 100, way: way, end: .silent))
    try alice.done("dm-send", ["bob", "2"])
    let synced = try alice.run("dm-sync")
    #expect(synced.status == .exit(69), "\(synced.stderr)")
    #expect(try alice.done("dm-sync", ["status"]).record["state"]?.string == "waiting")
    proxy.pass()
    for machine in [alice, bob] { try machine.sync() }
    #expect(try bob.texts("alice") == ["1 0", "2 1", "3 2"])
    #expect(try alice.texts("bob") == bob.texts("alice"))
  }

  @Test func `dm-sync -f reconnects when its connection becomes silent, even while the user makes changes`() throws {
    let (_, proxy, alice, bob) = try cut()
    let carrier = try LiveProcess(alice, "dm-sync", ["-f"], stdin: .null)
    defer { carrier.process.send(SIGKILL) }
    while try carrier.record()["state"]?.string != "live" {}
    proxy.silence()
    try bob.done("dm-send", ["alice", "do you hear?"])
    try bob.sync()
    let tail = try LiveProcess(alice, "dm-tail", ["-f", "-n", "0", "bob"], stdin: .null)
    defer { tail.process.send(SIGKILL) }
    // The user's own changes must not keep dm-sync from noticing that the connection is silent.
    var heard = false
    for number in 1...25 where !heard {
      try alice.done("dm-conversation", ["draft", "bob", "draft \(number)"])
      heard = try tail.lineIfAny(within: 4)?.contains("do you hear?") == true
    }
    #expect(heard)
    #expect(try alice.texts("bob") == ["1 0", "2 do you hear?"])
  }
}
