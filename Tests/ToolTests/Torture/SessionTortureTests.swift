import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Three machines of two people, with network faults and restarts of the server: each session keeps its guarantees.
@Suite(.serialized) struct SessionTortureTests {
  static let suite = "sessions"

  @Test func `each session sees its own writes and what it saw before, and its messages come after those it read`()
    async throws
  {
    let world = try SessionWorld()
    let ends = await withTaskGroup(of: Result<[SessionHistory.Event], any Error>.self) { group in
      for session in world.sessions { group.addTask { Result { try session.live() } } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for end in ends { _ = try end.get() }
    let faults = try world.settled().faults()
    #expect(faults.isEmpty, "seed \(Dice.seed): \(faults.prefix(20).joined(separator: "\n"))")
    if !faults.isEmpty { Tally.add(.failures, faults.count, in: Self.suite) }
  }
}

/// The sessions, and the hub between them.
private struct SessionWorld {
  let sessions: [Session]

  init() throws {
    let hub = try HubFixture(PostgresServer())
    sessions = try [("laptop", "alice"), ("phone", "alice"), ("bob", "bob")].enumerated().map { index, names in
      try Session(names.0, names.1, hub, Dice(index + 1))
    }
    let alice = sessions[0].machine
    for session in sessions { try session.machine.sync() }
    try alice.done("dm-conversation", ["create", "--title", "ops", "bob"])
    for session in sessions { try session.machine.sync() }
    for session in sessions { try session.beginFaults() }
  }

  /// The history of all sessions, which ends with what each sees after everything is synchronized.
  func settled() throws -> SessionHistory {
    for session in sessions { session.proxy.pass() }
    for _ in 1...3 { for session in sessions { try session.machine.sync() } }
    var history = SessionHistory()
    for session in sessions {
      try session.look()
      for event in session.events { history.note(event, in: session.name) }
    }
    let last = sessions.map { session -> [SessionHistory.Seen] in
      if case .saw(let seen)? = session.events.last { seen } else { [] }
    }
    #expect(last.allSatisfy { $0 == last[0] }, "seed \(Dice.seed): the stores differ")
    for session in sessions { try session.machine.done("dm-doctor", ["check", "--deep"]) }
    return history
  }
}

/// A store, and the one thread that uses it.
private final class Session: @unchecked Sendable {
  let name: String
  let machine: ToolFixture
  let proxy: CuttingProxy
  private let hub: HubFixture
  private var dice: Dice
  private(set) var events: [SessionHistory.Event] = []
  private var seen: [SessionHistory.Seen] = []
  private var versions: [String: Int] = [:]
  private var count = 0

  init(_ name: String, _ handle: String, _ hub: HubFixture, _ dice: Dice) throws {
    (self.name, self.hub, self.dice) = (name, hub, dice)
    machine = try hub.machine(handle)
    proxy = try CuttingProxy(to: hub.server)
  }

  func beginFaults() throws { try machine.redirect(to: proxy.port) }

  /// - Returns: the events, which are also kept.
  func live() throws -> [SessionHistory.Event] {
    var tries = Torture.Tries(200, seconds: 900)
    while tries.goOn() { try act() }
    return events
  }

  private func act() throws {
    switch dice.number(0...11) {
    case 0...2: try send()
    case 3: try edit()
    case 4: try read()
    case 5: try look()
    case 6: if name == "bob" { try hub.server.restart() }
    default: try sync()
    }
  }

  /// Runs a command, which may be killed several times, and is then run to its end.
  private func persist(_ program: String, _ words: [String]) throws {
    while dice.happens(oneIn: 5) {
      let process = try LiveProcess(machine, program, words, stdin: .null).process
      _ = process.wait(seconds: Double(dice.number(0...12)) / 1000)
      Tally.add(.kills, in: SessionTortureTests.suite)
    }
    try machine.done(program, words)
  }

  private func send() throws {
    count += 1
    let nonce = "\(name)-\(count)"
    try persist("dm-send", ["+ops", "0 \(nonce)", "--nonce", nonce])
    (versions[nonce], count) = (0, count)
    events.append(.wrote(nonce: nonce, version: 0))
    Tally.add(.acknowledged, in: SessionTortureTests.suite)
  }

  private func edit() throws {
    guard let nonce = versions.keys.sorted().last(where: { _ in dice.happens(oneIn: 2) }) else { return }
    let id = try #require(
      machine.done("dm-tail", ["--peek", "-n", "all", "+ops"]).records.first {
        $0["nonce"]?.string == nonce
      }?["id"]?.string)
    let version = versions[nonce, default: 0] + 1
    try persist("dm-edit", ["text", id, "\(version) \(nonce)"])
    versions[nonce] = version
    events.append(.wrote(nonce: nonce, version: version))
  }

  private func read() throws {
    guard let last = seen.compactMap(\.seq).max() else { return }
    try persist("dm-read", ["+ops", "1..\(last)"])
    events.append(.read(upTo: last))
    let unread = try machine.done("dm-tail", ["--peek", "--unread", "+ops"]).records
    events.append(.sawUnread(unread.compactMap { $0["seq"]?.int }))
  }

  /// Notes what the session sees.
  func look() throws {
    let records = try machine.done("dm-tail", ["--peek", "-n", "all", "+ops"]).records
    seen = records.compactMap { record in
      guard let nonce = record["nonce"]?.string, let text = record["text"]?.string else { return nil }
      let version = text.split(separator: " ").first.flatMap { Int($0) } ?? -1
      return SessionHistory.Seen(nonce: nonce, seq: record["seq"]?.int, version: version)
    }
    events.append(.saw(seen))
  }

  /// Synchronizes over a network that fails in one of several ways; the program may be killed meanwhile.
  private func sync() throws {
    let way = dice.pick(CuttingProxy.Way.allCases)
    switch dice.number(0...5) {
    case 0: proxy.stop(CuttingProxy.Stop(bytes: dice.number(0...12_000), way: way, end: .cut))
    case 1: proxy.stop(CuttingProxy.Stop(bytes: dice.number(0...12_000), way: way, end: .garbage))
    case 2: proxy.slow(milliseconds: dice.number(1...20))
    default: proxy.pass()
    }
    if dice.happens(oneIn: 20) {
      // The connection stays half open, so the program waits, and is killed.
      proxy.stop(CuttingProxy.Stop(bytes: dice.number(0...12_000), way: way, end: .silent))
      _ = try LiveProcess(machine, "dm-sync", stdin: .null).process.wait(seconds: 0.5)
    } else if dice.happens(oneIn: 4) {
      _ = try LiveProcess(machine, "dm-sync", stdin: .null).process.wait(seconds: Double(dice.number(0...60)) / 1000)
      Tally.add(.kills, in: SessionTortureTests.suite)
    } else {
      _ = try machine.run("dm-sync")
    }
    proxy.pass()
  }
}
