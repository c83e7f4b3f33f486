import DMJSON
import Testing

@testable import DMJSON
@testable import TestSupport

struct LineSplitterTests {
  /// The lines of `chunks` in order; nil in place of a line that was too long.
  private static func split(_ chunks: [ArraySlice<UInt8>]) -> (lines: [[UInt8]?], isUnfinished: Bool, pending: Int) {
    var splitter = LineSplitter()
    var lines: [[UInt8]?] = []
    var most = 0
    for chunk in chunks {
      chunk.withUnsafeBytes { splitter.append($0) }
      while let line = splitter.next() {
        switch line {
        case .whole(let bytes): lines.append(Array(bytes))
        case .tooLong: lines.append(nil)
        }
      }
      most = max(most, splitter.pending)
    }
    return (lines, splitter.isUnfinished, most)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `any way of cutting the input gives the same lines`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      let input = (0..<random.below(400)).map { _ -> UInt8 in
        random.chance(12) ? 0x0A : random.chance(10) ? 0x0D : UInt8(random.below(256))
      }
      var expected = input.split(separator: 0x0A, omittingEmptySubsequences: false).map { Array($0) as [UInt8]? }
      let rest = expected.removeLast() ?? []
      var chunks: [ArraySlice<UInt8>] = []
      var start = 0
      while start < input.count {
        let end = min(input.count, start + 1 + random.below(random.chance(50) ? 3 : 90))
        chunks.append(input[start..<end])
        start = end
      }
      let result = Self.split(chunks)
      #expect(result.lines == expected, "seed \(seed)")
      #expect(result.isUnfinished == !rest.isEmpty, "seed \(seed)")
    }
  }

  @Test(arguments: ["\r", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}"])
  func `nothing but LF ends a line`(_ separator: String) throws {
    let line = Array("a\(separator)b".utf8)
    #expect(Self.split([(line + [0x0A])[...]]).lines == [line])
  }

  @Test(arguments: [0, 1])
  func `a line as long as the limit is accepted, and one byte more is too long`(_ extra: Int) throws {
    let line = [UInt8](repeating: 0x61, count: LineSplitter.limit + extra)
    let input = line + [0x0A] + Array("next\n".utf8)
    let expected: [[UInt8]?] = [extra == 0 ? line : nil, Array("next".utf8)]
    #expect(Self.split([input[...]]).lines == expected)
    let half = input.count / 2
    #expect(Self.split([input[..<half], input[half...]]).lines == expected)
    let before = LineSplitter.limit + extra
    #expect(Self.split([input[..<before], input[before...]]).lines == expected)
  }

  @Test func `for a line without an end, at most the limit and one chunk are kept in memory`() throws {
    let piece = [UInt8](repeating: 0x61, count: 64 * 1024)
    let chunks = Array(repeating: piece[...], count: 200) + [Array("\nnext\n".utf8)[...]]
    let result = Self.split(chunks)
    #expect(result.lines == [nil, Array("next".utf8)])
    #expect(result.pending <= LineSplitter.limit + piece.count)
    #expect(!result.isUnfinished)
  }

  @Test func `input that ends before a line feed is reported as unfinished, also if its last line is too long`() throws
  {
    #expect(!Self.split([]).isUnfinished)
    #expect(!Self.split([Array("a\n".utf8)[...]]).isUnfinished)
    #expect(Self.split([Array("a\nb".utf8)[...]]).isUnfinished)
    let long = [UInt8](repeating: 0x61, count: LineSplitter.limit + 1)
    #expect(Self.split([long[...]]).isUnfinished)
  }
}
