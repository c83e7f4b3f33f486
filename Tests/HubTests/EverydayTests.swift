import Testing

@testable import TestSupport

/// The same random acts in one store that all share and on a hub with a store for each: every person sees the same, and
/// is refused the same.
///
/// What one store shows is held against the reference model elsewhere.
struct EverydayTests {
  static let runs = SplitMix64.isTorture ? 400 : 24

  @Test(arguments: 0..<runs) func `a hub with a store for each user shows what one shared store shows`(number: Int)
    throws
  {
    let seed = SplitMix64.seed &+ UInt64(number)
    let everyday = try Everyday(seed: seed)
    do {
      for _ in 1...80 { try everyday.step() }
      for machine in everyday.machines { try machine.check() }
    } catch {
      Issue.record("seed \(seed): \(error)\nafter\n\(everyday.log.suffix(12).joined(separator: "\n"))")
    }
  }
}
