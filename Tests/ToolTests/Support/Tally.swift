import Foundation
import Synchronization

/// Counts of what the torture tests did to the programs, and of the results.
///
/// A line for each suite and a line for all of them are printed when the tests end; `docs/reliability.md` quotes them.
enum Tally {
  enum Kind: String, CaseIterable {
    case powerLosses = "power_losses"
    case kills, injections, pairs, flips, races, lines, files, runs, acknowledged, detected, harmless, lost, doubled
    case undetected, leaks, failures
  }

  private struct Suite {
    var counts: [Kind: Int] = [:]
    let start = ContinuousClock.now
    var end = ContinuousClock.now
  }

  private static let suites = Mutex<[String: Suite]>([:])

  static func add(_ kind: Kind, _ count: Int = 1, in suite: String) {
    suites.withLock { suites in
      if suites.isEmpty { atexit { Tally.report() } }
      suites[suite, default: Suite()].counts[kind, default: 0] += count
      suites[suite]?.end = .now
    }
  }

  static func count(_ kind: Kind, in suite: String) -> Int { suites.withLock { $0[suite]?.counts[kind] ?? 0 } }

  private static func line(_ name: String, _ counts: [Kind: Int]) -> String {
    let words = Kind.allCases.compactMap { kind in counts[kind].map { "\(kind.rawValue)=\($0)" } }
    return "torture: \(name) \(words.joined(separator: " ")) seed=\(Dice.seed)"
  }

  private static func report() {
    let suites = suites.withLock { $0 }
    var sum: [Kind: Int] = [:]
    for (name, suite) in suites.sorted(by: { $0.key < $1.key }) {
      sum.merge(suite.counts, uniquingKeysWith: +)
      print("\(line(name, suite.counts)) seconds=\(Int((suite.end - suite.start) / .seconds(1)))")
    }
    print(line("all", sum))
  }
}
