import Testing

@testable import TestSupport

/// Compares one shared store with a hub on which each person has a store, after the same random acts.
///
/// Every person must see the same, and the same acts must be refused.
///
/// Other tests compare one store with the reference model.
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
