import DMJSON
import Testing

@testable import DMJSON
@testable import DMModel
@testable import TestSupport

struct JSONReaderFaultTests {
  @Test(arguments: [
    "", " ", "[]", "1", "\"a\"", "null", "{", "}", "{\"a\"}", "{\"a\":}", "{\"a\":1", "{\"a\":1,}", "{,}",
    "{\"a\":1,,\"b\":2}",
    "{\"a\":1 \"b\":2}", "{a:1}", "{'a':1}", "{1:1}", "{\"a\":1}x", "{\"a\":1}{}", "{}\u{0}", "{\"a\":[1,]}",
    "{\"a\":[1 2]}",
    "{\"a\":[}", "{\"a\":[1}", "{\"a\":tru}", "{\"a\":True}", "{\"a\":truex}", "{\"a\":nul}", "{\"a\":NaN}",
    "{\"a\":Infinity}", "{\"a\":undefined}", "// c\n{}", "{/**/}", "{\"a\":1;}", "\u{B}{}", "\u{A0}{}", "\u{2028}{}",
  ])
  func `a line that is not an RFC 8259 object is malformed`(_ text: String) throws {
    #expect(try code { try object(text) } == .malformedLine)
  }

  @Test(arguments: [
    "+1", "01", "-01", "00", "-", ".5", "1.", "1.e2", "1e", "1e+", "1E-", "0x10", "1_000", "--1", "1e400", "-1e400",
    "١",
  ])
  func `a number that RFC 8259 does not allow is malformed`(_ text: String) throws {
    #expect(try code { try object("{\"a\":\(text)}") } == .malformedLine)
  }

  @Test(arguments: [
    "\\a", "\\x41", "\\'", "\\0", "\\U0041", "\\u", "\\u004", "\\u00g1", "\\u+041", "\\ud83d", "\\ud83dx", "\\ud83d\\n",
    "\\ud83d\\u0041", "\\ud83d\\ud83d", "\\ude00", "\\ude00\\ud83d", "\\",
  ])
  func `unknown escapes and halves of surrogate pairs are malformed`(_ escaped: String) throws {
    #expect(try code { try object("{\"a\":\"\(escaped)\"}") } == .malformedLine)
  }

  @Test(arguments: 0...0x1F as ClosedRange<UInt8>)
  func `a raw control character in a string is malformed`(_ byte: UInt8) throws {
    #expect(try code { try object(Array("{\"a\":\"".utf8) + [byte] + Array("\"}".utf8)) } == .malformedLine)
    #expect(try code { try object(Array("{\"a\":\"\\n".utf8) + [byte] + Array("\"}".utf8)) } == .malformedLine)
  }

  @Test(arguments: ["{\"a\":\"\\u0000\"}", "{\"a\\u0000\":1}", "{\"a\":\"x\\u0000y\"}"])
  func `an escaped NUL is malformed`(_ text: String) throws {
    #expect(try code { try object(text) } == .malformedLine)
  }

  @Test(
    arguments: [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x80, 0xAF], [0xE2, 0x82],
      [0xED, 0xA0, 0x80],
      [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0xAF], [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80],
      [0xF8, 0x88, 0x80, 0x80, 0x80],
      [0xFE], [0xFF], [0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80],
    ] as [[UInt8]])
  func `invalid UTF-8 is refused in values, in names and next to escapes`(_ bytes: [UInt8]) throws {
    #expect(try code { try object(Array("{\"a\":\"".utf8) + bytes + Array("\"}".utf8)) } == .invalidUTF8)
    #expect(try code { try object(Array("{\"".utf8) + bytes + Array("\":1}".utf8)) } == .invalidUTF8)
    #expect(try code { try object(Array("{\"a\":\"\\n".utf8) + bytes + Array("\"}".utf8)) } == .invalidUTF8)
  }

  @Test func `bytes beyond ASCII outside strings are malformed`() throws {
    #expect(try code { try object(Array("{\"a\":".utf8) + [0xFF] + Array("}".utf8)) } == .malformedLine)
  }

  @Test func `a byte order mark is refused`() throws {
    #expect(try fault { try object("\u{FEFF}{}") }?.message.contains("byte order mark at byte 1;") == true)
    #expect(try code { try object("{}\u{FEFF}") } == .malformedLine)
  }

  @Test(arguments: [1, 2, 15, 16, 17, 18, 100])
  func `a duplicate name is refused, however many members the object has`(_ count: Int) throws {
    let members = (0..<count).map { "\"m\($0)\":\($0)" }
    _ = try object("{\(members.joined(separator: ","))}")
    for twice in [0, count / 2, count - 1] {
      let text = "{\((members + ["\"m\(twice)\":0"]).joined(separator: ","))}"
      #expect(try code { try object(text) } == .malformedLine, "m\(twice) of \(count)")
    }
  }

  @Test func `a duplicate name in an inner object is refused`() throws {
    #expect(try code { try object(#"{"a":{"b":1,"b":2}}"#) } == .malformedLine)
    #expect(try code { try object(#"{"a":[{"b":1},{"b":2}],"b":3}"#) } == nil)
  }

  @Test func `a duplicate name is found also when one of the two is escaped`() throws {
    #expect(try code { try object(#"{"ab":1,"\u0061b":2}"#) } == .malformedLine)
  }

  @Test func `names that look the same but differ in their bytes are not duplicates`() throws {
    let object = try object("{\"\u{E9}\":1,\"e\u{301}\":2}")
    #expect(object.members.map(\.value) == [.integer(1), .integer(2)])
  }

  @Test(arguments: [
    ("{\"a\":}", 6), ("{\"a\":1} x", 9), ("{\"a\":\"\u{1}\"}", 7), ("{\"a\" 1}", 6), ("x", 1), ("{\"a\":[1 2]}", 9),
    ("{\"a\":1.}", 8),
    ("{\"a\":tru}", 6), ("{\"a\":\"\\q\"}", 9), ("  [", 3), ("{\"a\":1,}", 8),
  ])
  func `the error for malformed JSON gives the byte offset, counted from 1`(_ text: String, _ offset: Int) throws {
    let message = try fault { try object(text) }?.message ?? ""
    #expect(message.contains("at byte \(offset);"), "\(message)")
  }

  @Test func `the error for an invalid string gives the byte offset of its closing quote`() throws {
    let invalid = try fault { try object(Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8)) }?.message ?? ""
    #expect(invalid.contains("ends at byte 8;"), "\(invalid)")
    let null = try fault { try object("{\"a\":\"\\u0000\"}") }?.message ?? ""
    #expect(null.contains("ends at byte 13;"), "\(null)")
  }

  @Test func `a line with 60,000 names is not read in quadratic time`() throws {
    let members = (0..<60_000).map { "\"m\($0)\":0" }.joined(separator: ",")
    let clock = ContinuousClock()
    let spent = try clock.measure { _ = try object("{\(members)}") }
    #expect(spent < .seconds(20), "took \(spent)")
  }
}
