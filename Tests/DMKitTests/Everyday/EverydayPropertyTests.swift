import FoundationEssentials
import Testing

@testable import DMKit

/// Five users do whatever comes, right and wrong, and see what a plain model says.
struct EverydayPropertyTests {
  /// Acts of the long run; `DM_SEED` repeats one that failed.
  private static let acts = ProcessInfo.processInfo.environment["DM_ACTS"].flatMap { Int($0) } ?? 10_000

  private static func play(_ count: Int, seed: UInt64, groupLimit: Int, hasCrowd: Bool, name: String) throws {
    let run = try EverydayRun(seed: seed, groupLimit: groupLimit, hasCrowd: hasCrowd)
    do {
      while run.act < count {
        try run.step()
        try run.compareNow()
      }
      run.note("the end")
      try run.compareEverything()
      for user in EverydayRun.names.indices { try run.replay(user, fromStart: true) }
      try run.compareRestored()
    } catch {
      Issue.record("\(name)=\(seed): \(error)\nafter\n\(run.ending)")
    }
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `whatever a few hundred acts do, everybody sees what the model says`(_ seed: UInt64) throws {
    try Self.play(300, seed: seed, groupLimit: 3, hasCrowd: seed % 3 == 0, name: "seed")
  }

  @Test
  func `whatever thousands of acts do, everybody sees what the model says`() throws {
    try Self.play(Self.acts, seed: SplitMix64.seed, groupLimit: 14, hasCrowd: true, name: "DM_SEED")
  }
}
