import Testing

@testable import DMModel
@testable import TestSupport

struct CursorTests {
  private static let store = Identifier(high: 0x019a_c5f2_0a3b_7c4d, low: 0x8e5f_0123_4567_89ab)

  private static let positions = [
    Cursor.Position.start, Cursor.Position(rev: 0, seq: 1), Cursor.Position(rev: 1), Cursor.Position(rev: 255),
    Cursor.Position(rev: 255, seq: 16),
    Cursor.Position(rev: Rev(number: .max)), Cursor.Position(rev: Rev(number: .max), seq: .max),
  ]

  @Test(arguments: positions)
  func `parsing the text of a cursor gives the position that the cursor was made of`(_ position: Cursor.Position) throws
  {
    let cursor = Cursor(store: Self.store, position)
    #expect(try Cursor(cursor.description) == cursor)
    #expect(try Cursor(cursor.description).position(in: Self.store) == position)
  }

  @Test func `parsing the text of any random cursor gives the position that the cursor was made of`() throws {
    var random = SplitMix64(seed: 1)
    for _ in 1...2000 {
      let store = Identifier(high: random.next(), low: random.next() >> UInt64(random.below(64)))
      let position = Cursor.Position(
        rev: Rev(number: Int64(random.next() >> UInt64(1 + random.below(63)))),
        seq: random.chance(50) ? 0 : Int(random.next() >> UInt64(1 + random.below(63))))
      let cursor = Cursor(store: store, position)
      #expect(try Cursor(cursor.description) == cursor, "\(cursor)")
    }
  }

  @Test func `the text form of a cursor does not change between versions`() {
    #expect(Cursor(store: Self.store, Cursor.Position(rev: 4711)).description == "c8e5f0123456789ab-1267")
    #expect(Cursor(store: Self.store, Cursor.Position(rev: 4711, seq: 10)).description == "c8e5f0123456789ab-1267-a")
  }

  @Test func `cursors sort by change, and within a change by message number`() {
    let cursors = Self.positions.map { Cursor(store: Self.store, $0) }
    #expect(cursors.shuffled().sorted() == cursors)
    for (a, b) in zip(cursors, cursors.dropFirst()) {
      #expect(a < b)
      #expect(!(b < a))
    }
  }

  @Test(arguments: [
    "", "c", "-", "c-", "c--", "8e5f0123456789ab-1", "c8e5f0123456789ab", "c8e5f0123456789ab-", "c8e5f0123456789ab--1",
    "c8e5f0123456789ab-1-", "c8e5f0123456789ab-1-2-3", "c8e5f0123456789ab-g",
    "c8e5f0123456789ab- 1", "c8e5f0123456789ab-1 ", "c8e5f0123456789ab-1\n", "c8e5f0123456789ab-8000000000000000",
    "c8e5f0123456789ab-1-8000000000000000", "c8e5f0123456789ab-10000000000000000", "p8e5f0123456789ab-1",
    "C8e5f0123456789ab-1", "c18e5f0123456789ab-1", "c8e5f0123456789ab\u{2010}1", "c8e5f0123456789ab-1\u{301}", "now",
    "c8e5f0123456789ab-\u{FF11}",
  ])
  func `an invalid cursor is refused, and the error names it`(_ text: String) throws {
    let fault = try fault { try Cursor(text) }
    #expect(fault?.code == .badCursor)
    #expect(fault?.subject == text)
    #expect(fault?.message.contains("another store") == false)
  }

  @Test(arguments: ["c+8e5f0123456789ab-1", "c8e5f0123456789ab-+1", "c8e5f0123456789ab-1-+2"])
  func `a cursor whose number has a sign is refused`(_ text: String) throws {
    let code = try code { try Cursor(text) }
    #expect(code == .badCursor)
  }

  @Test func `a cursor of another store is refused, and the error says that it is of another store`() throws {
    let other = Cursor(store: Identifier(at: .at(2026, 11, 21)), Cursor.Position(rev: 7))
    let fault = try fault { try other.position(in: Self.store) }
    #expect(fault?.code == .badCursor)
    #expect(fault?.message.contains("another store") == true)
  }

  @Test func `a page cursor is refused as a stream cursor`() throws {
    let page = PageCursor(store: Self.store, isPinned: false, lastActivity: .at(2026, 11, 21), conversation: 1)
    #expect(try code { try Cursor(page.description) } == .badCursor)
  }
}
