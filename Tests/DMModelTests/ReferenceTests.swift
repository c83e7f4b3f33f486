import Testing

@testable import DMModel
@testable import TestSupport

struct ReferenceTests {
  private static let uuid = "019ac5f2-0a3b-7c4d-8e5f-0123456789ab"

  @Test(arguments: [
    ("bob", ConversationReference.direct("bob")), ("@bob", .direct("bob")), ("ops", .direct("ops")),
    ("@@bob", .direct("@bob")),
    ("+ops", .title("ops")), ("#ops", .title("ops")), ("+ops and dev", .title("ops and dev")), ("++", .title("+")),
    ("海", .direct("海")), ("dm:bob", .direct("dm:bob")), ("019ac5f2", .direct("019ac5f2")),
  ])
  func `a conversation is named by a handle or a title`(_ text: String, _ meant: ConversationReference) throws {
    #expect(try ConversationReference(text) == meant)
  }

  @Test(arguments: [Self.uuid, "dm:\(Self.uuid)", Self.uuid.uppercased()])
  func `a conversation is named by its UUID`(_ text: String) throws {
    let id = try #require(Identifier(Self.uuid))
    #expect(try ConversationReference(text) == .id(id))
  }

  @Test(arguments: ["", "@", "+", "#"])
  func `an empty reference to a conversation is refused`(_ text: String) throws {
    #expect(try code { try ConversationReference(text) } == .badReference)
  }

  @Test func `a reference is printed as a user would type it`() throws {
    #expect(try ConversationReference("@bob").description == "bob")
    #expect(try ConversationReference("#ops").description == "+ops")
    #expect(try ConversationReference("dm:\(Self.uuid)").description == Self.uuid)
  }

  @Test(arguments: [
    ("57", MessageReference.number(57, in: nil)), ("-1", .number(-1, in: nil)),
    ("bob:57", .number(57, in: .direct("bob"))),
    ("@bob:57", .number(57, in: .direct("bob"))), ("bob:-1", .number(-1, in: .direct("bob"))),
    ("+ops:3", .number(3, in: .title("ops"))),
    ("#ops:3", .number(3, in: .title("ops"))), ("+a:b:3", .number(3, in: .title("a:b"))),
  ])
  func `a message is named by its number`(_ text: String, _ meant: MessageReference) throws {
    #expect(try MessageReference(text) == meant)
  }

  @Test func `a message is named by its UUID, or by its number in a conversation of that UUID`() throws {
    let id = try #require(Identifier(Self.uuid))
    #expect(try MessageReference(Self.uuid) == .id(id))
    #expect(try MessageReference("\(Self.uuid):57") == .number(57, in: .id(id)))
    #expect(try MessageReference("dm:\(Self.uuid):-2") == .number(-2, in: .id(id)))
  }

  @Test(arguments: [
    "", "0", "bob", "bob:", "bob:0", "bob:x", ":57", "@:57", "+:57", "bob:40..57", "bob:40..", "bob:+5", "bob: 5",
    "5.0", "1e3",
    "bob:99999999999999999999",
  ])
  func `an invalid message reference is refused`(_ text: String) throws {
    #expect(try code { try MessageReference(text) } == .badReference)
  }

  @Test func `a message number with a plus sign is refused`() throws {
    let code = try code { try MessageReference("+5") }
    #expect(code == .badReference)
  }

  @Test(
    arguments: [
      ("57", 57, 57), ("-1", -1, -1), ("40..57", 40, 57), ("..57", nil, 57), ("40..", 40, nil), ("-20..-1", -20, -1),
      ("-20..", -20, nil),
      ("57..40", 57, 40), ("1..-1", 1, -1),
    ] as [(String, Int?, Int?)])
  func `a range has two ends, and either end may be left out`(_ text: String, _ from: Int?, _ to: Int?) throws {
    #expect(RangeReference(text) == RangeReference(from: from, to: to))
    let (conversation, range) = try #require(try splitReference("bob:\(text)"))
    #expect(conversation == .direct("bob"))
    #expect(range == RangeReference(from: from, to: to))
  }

  @Test(arguments: [
    "", "..", "...", "+0", "40...57", "40..57..60", "40-57", "a..b", "40..b", "+40", "40..+57", " 40",
    "40 ..57", "40.", ".57",
    "٤", "0x10", "99999999999999999999",
  ])
  func `an invalid range is refused`(_ text: String) throws {
    #expect(RangeReference(text) == nil)
    #expect(try splitReference("bob:\(text)") == nil)
  }

  @Test(arguments: ["0", "0..5", "5..0", "..0", "0..", "-0", "00"])
  func `the number 0 is refused in a range and in a reference`(_ text: String) throws {
    #expect(RangeReference(text) == nil)
    #expect(try code { try RangeReference.refuseZero(text) } == .badReference)
    #expect(try code { try splitReference("bob:\(text)") } == .badReference)
    #expect(try code { try MessageReference("bob:\(text)") } == .badReference)
  }

  @Test func `a reference without a colon has no range`() throws {
    #expect(try splitReference("bob") == nil)
    #expect(try splitReference("dm:\(Self.uuid)") == nil)
    #expect(try code { try splitReference(":5") } == .badReference)
  }

  @Test(arguments: [
    ("1..10", 20, 1, 10), ("..10", 20, 1, 10), ("10..", 20, 10, 20), ("15..30", 20, 15, 20), ("-5..", 20, 16, 20),
    ("-5..-2", 20, 16, 19),
    ("..-1", 20, 1, 20), ("-1", 20, 20, 20), ("-100..", 20, 1, 20), ("20", 20, 20, 20), ("-100..5", 20, 1, 5),
  ])
  func `a range is resolved to message numbers of the conversation`(
    _ text: String, _ last: Int, _ lower: Int, _ upper: Int
  ) throws {
    #expect(
      try #require(RangeReference(text)).resolved(last: last) { last >= $0 ? last + 1 - $0 : nil } == lower...upper)
  }

  @Test(arguments: [
    ("21", 20), ("21..", 20), ("10..5", 20), ("-100..-50", 20), ("..-21", 20), ("1", 0), ("-1", 0), ("..-1", 0),
    ("1..", 0),
  ])
  func `a range without a message of the conversation is nil`(_ text: String, _ last: Int) throws {
    #expect(try #require(RangeReference(text)).resolved(last: last) { last >= $0 ? last + 1 - $0 : nil } == nil)
  }

  @Test func `the greatest and least integers in a range do not overflow`() throws {
    for text in ["\(Int.min)..\(Int.max)", "\(Int.max)..", "..\(Int.min)", "\(Int.min)", "\(Int.max)"] {
      let range = try #require(RangeReference(text))
      #expect(
        range.resolved(last: 20) { 20 >= $0 ? 21 - $0 : nil }
          == (text.contains("\(Int.min)..\(Int.max)") ? 1...20 : nil))
    }
  }
}
