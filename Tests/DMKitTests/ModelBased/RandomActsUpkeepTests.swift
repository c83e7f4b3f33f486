import Testing

@testable import DMKit
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

/// Five users act at random, and checks of the store must find no faults.
struct RandomActsUpkeepTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `a deep check finds no faults after each of 200 random acts, nor after repair, purge and restore`(
    _ seed: UInt64
  ) throws {
    let run = try RandomActs(seed: seed)
    do {
      while run.act < 200 {
        try run.step()
        let findings = try run.files.findings()
        #expect(findings == [], "seed \(seed), after\n\(run.ending)")
        if !findings.isEmpty { return }
      }
      let repaired = try run.files.upkeep.repair()
      #expect([repaired.conversationsCount, repaired.participantsCount, repaired.messagesCount] == [0, 0, 0])
      _ = try run.files.upkeep.purge()
      #expect(try run.files.findings() == [])
      let path = try run.files.elsewhere("backup")
      _ = try run.files.upkeep.backUp(to: path)
      let copy = try TemporaryStore(users: [])
      _ = try copy.upkeep.restore(file: path)
      #expect(try copy.findings() == [])
    } catch {
      Issue.record("seed \(seed): \(error)\nafter\n\(run.ending)")
    }
  }
}
