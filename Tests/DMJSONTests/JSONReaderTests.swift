import DMJSON
import Testing

@testable import DMJSON
@testable import DMModel
@testable import TestSupport

struct JSONReaderTests {
  @Test func `an object gives its members in the order of the text`() throws {
    let object = try object(#"{"z":1,"a":"x","m":[true,false,null],"o":{"k":-2.5}}"#)
    #expect(object.members.map(\.name) == ["z", "a", "m", "o"])
    #expect(object["z"] == .integer(1))
    #expect(object["a"] == .string("x"))
    #expect(object["m"] == .array([.bool(true), .bool(false), .null]))
    guard case .object(let inner)? = object["o"] else {
      Issue.record("'o' is not an object")
      return
    }
    #expect(inner["k"] == .number(-2.5))
    #expect(object["absent"] == nil)
  }

  @Test(arguments: ["{}", " { } ", "\t{\r\n}\r", "{}\r"])
  func `white space around and within an object is ignored`(_ text: String) throws {
    #expect(try object(text).members.isEmpty)
  }

  @Test(arguments: [
    ("[1,{}]", JSONValue.array([.integer(1), .object(JSONObject())])), (" 7 ", .integer(7)), ("null", .null),
    ("\"a\"", .string("a")), ("{}", .object(JSONObject())),
  ])
  func `a line may be any JSON value where no object is required`(_ text: String, _ value: JSONValue) throws {
    #expect(try JSONReader.value(Array(text.utf8)[...]) == value)
  }

  @Test(arguments: ["", " ", "[1]2", "[", "nul"])
  func `a line that is not exactly one JSON value is an error`(_ text: String) {
    #expect(throws: DMError.self) { try JSONReader.value(Array(text.utf8)[...]) }
  }

  @Test func `a line that ended in CRLF reads like one that ended in LF`() throws {
    #expect(try object("{\"a\":1}\r") == object("{\"a\":1}"))
  }

  @Test(arguments: [
    ("\\\"", "\""), ("\\\\", "\\"), ("\\/", "/"), ("\\b", "\u{8}"), ("\\f", "\u{C}"), ("\\n", "\n"), ("\\r", "\r"),
    ("\\t", "\t"), ("\\u0041", "A"), ("\\u00e9", "\u{E9}"), ("\\u00E9", "\u{E9}"), ("\\u2028", "\u{2028}"),
    ("\\ufeff", "\u{FEFF}"), ("\\uFFFF", "\u{FFFF}"), ("\\ud83d\\ude00", "😀"), ("\\uDBFF\\uDFFF", "\u{10FFFF}"),
    ("a\\u0001b", "a\u{1}b"), ("\\\\u0041", "\\u0041"),
  ])
  func `every escape stands for its character`(_ escaped: String, _ meant: String) throws {
    let object = try object("{\"a\":\"\(escaped)\"}")
    guard case .string(let text)? = object["a"] else {
      Issue.record("'a' is not a string")
      return
    }
    #expect(Array(text.utf8) == Array(meant.utf8))
  }

  @Test func `escapes in names are decoded`() throws {
    #expect(try object(#"{"\u0061b":1}"#)["ab"] == .integer(1))
  }

  @Test(arguments: [
    ("0", JSONValue.integer(0)), ("-0", .integer(0)), ("7", .integer(7)), ("-12", .integer(-12)),
    ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
    ("9223372036854775808", .number(9_223_372_036_854_775_808)), ("1.0", .number(1)), ("1e2", .number(100)),
    ("1E+2", .number(100)), ("25e-1", .number(2.5)), ("0.5", .number(0.5)), ("1e308", .number(1e308)),
    ("1e-400", .number(0)),
  ])
  func `a number without fraction and exponent is an integer if it fits into 64 bits`(
    _ text: String, _ value: JSONValue
  ) throws {
    #expect(try object("{\"a\":\(text)}")["a"] == value)
  }

  @Test func `nesting of 64 levels is read`() throws {
    let text = "{\"a\":" + String(repeating: "[", count: 63) + String(repeating: "]", count: 63) + "}"
    _ = try object(text)
  }

  @Test(arguments: [64, 100_000])
  func `nesting of more than 64 levels is refused without recursion`(_ brackets: Int) throws {
    let arrays = "{\"a\":" + String(repeating: "[", count: brackets)
    #expect(try fault { try object(arrays) }?.message.contains("nesting over 64") == true)
    let objects = String(repeating: "{\"a\":", count: brackets + 1)
    #expect(try fault { try object(objects) }?.message.contains("nesting over 64") == true)
  }

  @Test func `siblings do not count as nesting`() throws {
    let text = "{\"a\":[" + Array(repeating: "[]", count: 500).joined(separator: ",") + "]}"
    _ = try object(text)
  }
}
