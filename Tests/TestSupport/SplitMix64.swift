import FoundationEssentials

/// A random number generator that gives the same numbers for the same seed.
struct SplitMix64: RandomNumberGenerator {
  /// The seed of long runs: DM_SEED if it is set; otherwise random in `make torture`, and constant in `make test`.
  static let seed =
    ProcessInfo.processInfo.environment["DM_SEED"].flatMap { UInt64($0) }
    ?? (isTorture ? .random(in: 0...0xFFFF_FFFF) : 20_261_122)

  /// The first seed of runs that use other seeds each day.
  static let seedOfTheDay = UInt64(Date().timeIntervalSince1970 / 86_400) * 1_000

  static let isTorture = ProcessInfo.processInfo.environment["DM_TORTURE"] == "1"

  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
