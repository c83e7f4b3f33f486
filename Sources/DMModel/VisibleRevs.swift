/// The entries of a conversation's log on the hub that a person sees, as ranges of their numbers (revs).
///
/// A person who has left a group and come back without the history may see several ranges.
///
/// `description` is in the format of an int8multirange of PostgreSQL (postgresql.org/docs/current/rangetypes.html):
/// `{[1,58),[80,)}`.
package struct VisibleRevs: Equatable, Sendable, CustomStringConvertible {
  /// The ranges: ascending, with a gap between two ranges; the last range may have no end.
  package private(set) var ranges: [Range<Int64>] = []

  package init() {}

  /// All revs from `rev` on.
  package init(from rev: Int64) { ranges = [rev..<Self.noEnd] }

  private static let noEnd = Int64.max

  package init?(_ text: String) {
    let bytes = text.utf8
    guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}") else { return nil }
    var rest = Substring(text).dropFirst().dropLast()
    while !rest.isEmpty {
      guard rest.first == "[", let end = rest.firstIndex(of: ")") else { return nil }
      let bounds = rest[rest.index(after: rest.startIndex)..<end].split(
        separator: ",", omittingEmptySubsequences: false)
      guard bounds.count == 2, let lower = Int64(bounds[0]), lower >= 1,
        let upper = bounds[1].isEmpty ? Self.noEnd : Int64(bounds[1]), upper > lower,
        ranges.last.map({ $0.upperBound < lower }) ?? true
      else { return nil }
      ranges.append(lower..<upper)
      rest = rest[rest.index(after: end)...]
      if rest.isEmpty { break }
      guard rest.first == "," else { return nil }
      rest = rest.dropFirst()
      if rest.isEmpty { return nil }
    }
  }

  package var description: String {
    "{"
      + ranges.map { "[\($0.lowerBound),\($0.upperBound == Self.noEnd ? "" : String($0.upperBound)))" }
      .joined(separator: ",") + "}"
  }

  /// The first rev that the person sees; nil if there is none.
  package var first: Int64? { ranges.first?.lowerBound }

  /// Whether the person sees future revs.
  package var isOpen: Bool { ranges.last?.upperBound == Self.noEnd }

  package func contains(_ rev: Int64) -> Bool { ranges.contains { $0.contains(rev) } }

  /// How many revs the person sees, up to and including `rev`.
  package func count(upTo rev: Int64) -> Int64 {
    ranges.reduce(0) { $0 + max(0, min($1.upperBound, rev + 1) - $1.lowerBound) }
  }

  /// The first rev after `rev` that the person sees; nil if there is none.
  package func next(after rev: Int64) -> Int64? {
    ranges.lazy.compactMap { $0.contains(rev + 1) ? rev + 1 : $0.lowerBound > rev ? $0.lowerBound : nil }.first
  }

  /// Adds revs that the person sees.
  package mutating func add(_ revs: [Int64]) {
    var all: [Range<Int64>] = []
    for range in (ranges + revs.map { $0..<($0 + 1) }).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = all.last, last.upperBound >= range.lowerBound {
        all[all.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        all.append(range)
      }
    }
    ranges = all
  }

  /// Adds all revs from `rev` on.
  package mutating func open(from rev: Int64) {
    if isOpen { return }
    if let last = ranges.last, last.upperBound >= rev {
      ranges[ranges.count - 1] = last.lowerBound..<Self.noEnd
    } else {
      ranges.append(rev..<Self.noEnd)
    }
  }

  /// Ends the last range after `rev`, so that the person sees no later revs.
  package mutating func close(after rev: Int64) {
    guard let last = ranges.last, last.upperBound > rev + 1 else { return }
    ranges.removeLast()
    if last.lowerBound <= rev { ranges.append(last.lowerBound..<(rev + 1)) }
  }
}
