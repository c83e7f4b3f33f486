import Testing

@testable import DMModel
@testable import TestSupport

struct SeqRangeTests {
  /// The numbers of a set as ascending ranges that do not touch.
  private static func ranges(_ numbers: Set<Int>) -> [SeqRange] {
    var result: [SeqRange] = []
    for number in numbers.sorted() {
      if let last = result.last, last.upperBound + 1 == number {
        result[result.count - 1] = last.lowerBound...number
      } else {
        result.append(number...number)
      }
    }
    return result
  }

  private static func range(_ random: inout SplitMix64, below limit: Int) -> SeqRange {
    let lower = 1 + random.below(limit)
    return lower...(lower + random.below(8))
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `subtracting a set from a range gives the gaps of the set in the range`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      let taken = Set((0..<random.below(20)).map { _ in 1 + random.below(30) })
      let range = Self.range(&random, below: 30)
      #expect(
        difference(of: range, minus: Self.ranges(taken)) == Self.ranges(Set(range).subtracting(taken)), "seed \(seed)")
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `coalesced ranges hold the same numbers and neither overlap nor touch`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      let given = (0..<random.below(10)).map { _ in Self.range(&random, below: 40) }.sorted {
        $0.lowerBound < $1.lowerBound
      }
      #expect(coalesced(given) == Self.ranges(given.reduce(into: []) { $0.formUnion($1) }), "seed \(seed): \(given)")
    }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `an overlay has the user of numbers that one user has read, and nil for numbers that several users have read`(
    _ seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<100 {
      var marks: [ReadMark] = []
      var readers: [Int: Set<UserKey>] = [:]
      for _ in 0..<12 {
        let range = Self.range(&random, below: 30)
        let reader = UserKey(number: Int64(1 + random.below(3)))
        // The store passes only the marks that touch or overlap the range.
        let around = (range.lowerBound - 1)...(range.upperBound + 1)
        let near = marks.filter { $0.range.overlaps(around) }
        marks = marks.filter { !$0.range.overlaps(around) } + ReadMark.overlay(near, with: range, by: reader)
        marks.sort { $0.range.lowerBound < $1.range.lowerBound }
        for seq in range { readers[seq, default: []].insert(reader) }

        var found: [Int: UserKey?] = [:]
        for mark in marks {
          for seq in mark.range {
            #expect(found[seq] == nil, "seed \(seed): \(seq) is in two marks")
            found[seq] = .some(mark.reader)
          }
        }
        let expected = readers.mapValues { $0.count == 1 ? $0.first : nil }
        #expect(found == expected, "seed \(seed)")
        for (one, next) in zip(marks, marks.dropFirst()) where one.range.upperBound + 1 == next.range.lowerBound {
          #expect(one.reader != next.reader, "seed \(seed): \(one) and \(next) must be merged")
        }
      }
    }
  }
}
