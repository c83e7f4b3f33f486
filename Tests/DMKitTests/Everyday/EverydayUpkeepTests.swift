import Testing

@testable import DMKit
@testable import DMUpkeep

/// Whatever five users do, the store stays sound.
struct EverydayUpkeepTests {
  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `whatever a few hundred acts do, a deep check finds nothing, before and after the upkeep`(_ seed: UInt64) throws
  {
    let run = try EverydayRun(seed: seed)
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
