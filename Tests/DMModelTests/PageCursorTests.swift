import Testing

@testable import DMModel
@testable import TestSupport

struct PageCursorTests {
  private static let store = Identifier(high: 0x019a_c5f2_0a3b_7c4d, low: 0x8e5f_0123_4567_89ab)

  @Test(arguments: 1...10 as ClosedRange<UInt64>)
  func `a cursor is written and read back`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let cursor = PageCursor(
        store: Self.store, isPinned: random.chance(50),
        lastActivity: Timestamp(microseconds: Int64.random(in: .min ... .max, using: &random)),
        conversation: ConversationKey(number: Int64.random(in: 0 ... .max, using: &random)))
      let read = try PageCursor(cursor.description)
      #expect(read == cursor, "seed \(seed)")
    }
  }

  @Test func `a page cursor has only lower-case letters, digits and hyphens`() throws {
    let cursor = PageCursor(store: Self.store, isPinned: true, lastActivity: .at(2026, 11, 21), conversation: 7)
    #expect(
      cursor.description.utf8.allSatisfy { $0 == 0x2D || (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) })
  }

  @Test func `a cursor of another store is refused with advice`() throws {
    let cursor = PageCursor(
      store: Identifier(at: .at(2026, 11, 21)), isPinned: false, lastActivity: .at(2026, 11, 21), conversation: 1)
    let fault = try #require(try fault { try cursor.check(in: Self.store) })
    #expect(fault.code == .badCursor)
    #expect(fault.message.contains("list from the start"))
  }

  @Test(arguments: [
    "", "p", "x", "p1-2-3", "p1-2-3-4-5", "p-1-2-3", "p1--2-3", "pg-0-0-0", "p8e5f0123456789ab-2-0-0",
    "8e5f0123456789ab-0-0-0",
    "q8e5f0123456789ab-0-0-0", "p8e5f0123456789ab-0-0-", "p8e5f0123456789ab-0-0-10000000000000000",
    "p8e5f0123456789ab-0-0-0 ",
    "p８-0-0-0", "bob",
  ])
  func `an invalid page cursor is refused`(_ text: String) throws {
    #expect(try code { try PageCursor(text) } == .badCursor)
  }
}
