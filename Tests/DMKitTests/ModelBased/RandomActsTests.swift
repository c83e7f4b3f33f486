import FoundationEssentials
import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Five users act at random, also without permission, and each must see what the reference model says.
struct RandomActsTests {
  /// The number of acts of a long run; `DM_SEED` repeats a failed run.
  private static let acts =
    ProcessInfo.processInfo.environment["DM_ACTS"].flatMap { Int($0) } ?? (SplitMix64.isTorture ? 10_000 : 2_500)

  private static func play(_ count: Int, seed: UInt64, groupLimit: Int, hasCrowd: Bool, name: String) throws {
    let run = try RandomActs(seed: seed, groupLimit: groupLimit, hasCrowd: hasCrowd)
    do {
      while run.act < count {
        try run.step()
        try run.compareNow()
      }
      run.note("the end")
      try run.compareEverything()
      for user in RandomActs.names.indices { try run.replay(user, fromStart: true) }
      try run.compareRestored()
    } catch {
      Issue.record("\(name)=\(seed): \(error)\nafter\n\(run.ending)")
    }
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `after each random act of a short run, every user sees what the reference model says`(_ seed: UInt64) throws {
    try Self.play(300, seed: seed, groupLimit: 3, hasCrowd: seed % 3 == 0, name: "seed")
  }

  @Test(arguments: 0...3 as ClosedRange<UInt64>)
  func `after each random act of a long run, every user sees what the reference model says`(_ number: UInt64) throws {
    try Self.play(Self.acts, seed: SplitMix64.seed &+ number, groupLimit: 14, hasCrowd: true, name: "DM_SEED")
  }
}
