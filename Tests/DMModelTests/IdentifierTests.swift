import Testing

@testable import DMModel
@testable import TestSupport

struct IdentifierTests {
  @Test func `a new UUID has version 7, variant 2 and its time in milliseconds`() throws {
    let time = try #require(Timestamp(rfc3339: "2026-11-21T14:30:00.123456Z"))
    for _ in 0..<100 {
      let id = Identifier(at: time)
      #expect(id.high >> 12 & 0xF == 7)
      #expect(id.low >> 62 == 2)
      #expect(Int64(id.high >> 16) == time.microseconds / 1000)
    }
  }

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `UUIDs sort by time to the microsecond`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    var time = Timestamp(microseconds: 1_700_000_000_000_000)
    var last = Identifier(at: time).description
    for _ in 0..<500 {
      time = Timestamp(microseconds: time.microseconds + 1 + Int64(random.below(random.chance(50) ? 3 : 5000)))
      let next = Identifier(at: time).description
      #expect(last < next, "seed \(seed)")
      last = next
    }
  }

  @Test func `UUIDs made at the same time differ`() throws {
    let now = Timestamp.at(2026, 11, 21)
    #expect(Set((0..<1000).map { _ in Identifier(at: now) }).count == 1000)
  }

  @Test func `a UUID is read in either case and written in lower case`() throws {
    let text = "019ac5f2-0a3b-7c4d-8e5f-0123456789ab"
    let id = try #require(Identifier(text))
    #expect(id.description == text)
    #expect(Identifier(text.uppercased()) == id)
  }

  @Test(arguments: [
    "", "019ac5f2", "019ac5f20a3b7c4d8e5f0123456789ab", "019ac5f2-0a3b-7c4d-8e5f-0123456789a",
    "019ac5f2-0a3b-7c4d-8e5f-0123456789abc",
    "019ac5f2-0a3b-7c4d-8e5f0-123456789ab", "019ac5f2-0a3b-7c4d-8e5f-0123456789ag",
    "{019ac5f2-0a3b-7c4d-8e5f-0123456789ab}",
    "019ac5f2_0a3b_7c4d_8e5f_0123456789ab", " 019ac5f2-0a3b-7c4d-8e5f-0123456789ab",
    "019ac5f2-0a3b-7c4d-8e5f-0123456789ab-",
    "０19ac5f2-0a3b-7c4d-8e5f-0123456789ab",
  ])
  func `a text that is not a UUID is refused`(_ text: String) throws {
    #expect(Identifier(text) == nil)
  }
}
