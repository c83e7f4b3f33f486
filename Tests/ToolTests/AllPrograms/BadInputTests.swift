import Foundation
import JSONSupport
import Testing

/// An invalid input line, and the error code that it gets.
struct BadLine: Sendable, CustomTestStringConvertible {
  let name: String
  let bytes: [UInt8]
  let code: String

  init(_ name: String, _ bytes: [UInt8], _ code: String) {
    (self.name, self.bytes, self.code) = (name, bytes, code)
  }

  init(_ name: String, _ text: String, _ code: String) { self.init(name, Array(text.utf8), code) }

  var testDescription: String { name }
}

private func send(_ members: String) -> String { #"{"conversation":"bob",\#(members)}"# }
private func send(_ text: [UInt8]) -> [UInt8] {
  Array(#"{"conversation":"bob","text":""#.utf8) + text + Array(#""}"#.utf8)
}

@Suite struct BadInputTests {
  static let malformed: [BadLine] = [
    BadLine("no JSON", "hello", "malformed_line"),
    BadLine("an empty line", "", "malformed_line"),
    BadLine("an array", "[]", "malformed_line"),
    BadLine("half an object", #"{"conversation":"bob""#, "malformed_line"),
    BadLine("two objects", #"{} {}"#, "malformed_line"),
    BadLine("invalid UTF-8", send([0xC3, 0x28]), "invalid_utf8"),
    BadLine("a lone continuation", send([0x80]), "invalid_utf8"),
    BadLine("an overlong NUL", send([0xC0, 0x80]), "invalid_utf8"),
    BadLine("a surrogate in UTF-8", send([0xED, 0xA0, 0x80]), "invalid_utf8"),
    BadLine("past U+10FFFF", send([0xF4, 0x90, 0x80, 0x80]), "invalid_utf8"),
    BadLine("Latin-1", send([0x67, 0xFC, 0x6E]), "invalid_utf8"),
    BadLine("a raw NUL", send([0x61, 0, 0x62]), "malformed_line"),
    BadLine("an escaped NUL", send(#""text":"a\u0000b""#), "malformed_line"),
    BadLine("a lone high surrogate", send(#""text":"\ud800""#), "malformed_line"),
    BadLine("a lone low surrogate", send(#""text":"\udc00x""#), "malformed_line"),
    BadLine("two high surrogates", send(#""text":"\ud800\ud800""#), "malformed_line"),
    BadLine("a byte order mark", [0xEF, 0xBB, 0xBF] + Array(send(#""text":"x""#).utf8), "malformed_line"),
    BadLine("a raw tab in a string", send("\"text\":\"a\tb\""), "malformed_line"),
    BadLine("a name that stands twice", send(#""text":"a","text":"b""#), "malformed_line"),
    BadLine("a name twice, once escaped", send(#""text":"a","te\u0078t":"b""#), "malformed_line"),
    BadLine("1e400", send(#""text":"a","n":1e400"#), "malformed_line"),
    BadLine("-1e400", send(#""text":"a","n":-1e400"#), "malformed_line"),
    BadLine("a leading zero", send(#""text":"a","n":01"#), "malformed_line"),
    BadLine("NaN", send(#""text":"a","n":NaN"#), "malformed_line"),
    BadLine("nesting of 100,000", send(#""text":"a","n":"# + String(repeating: "[", count: 100_000)), "malformed_line"),
    BadLine("objects nested", String(repeating: #"{"a":"#, count: 100_000) + "1", "malformed_line"),
    BadLine("a trailing comma", #"{"conversation":"bob","text":"x",}"#, "malformed_line"),
    BadLine("single quotes", "{'conversation':'bob'}", "malformed_line"),
    BadLine("a line of a little over 1 MiB", String(repeating: " ", count: 1024 * 1024 + 1), "line_too_long"),
    BadLine("1 MiB of nothing", String(repeating: " ", count: 1024 * 1024), "malformed_line"),
  ]

  static let wrong: [BadLine] = [
    BadLine("no conversation", #"{"text":"x"}"#, "missing_field"),
    BadLine("no text", #"{"conversation":"bob"}"#, "missing_field"),
    BadLine("a text that is null", send(#""text":null"#), "missing_field"),
    BadLine("a text that is a number", send(#""text":7"#), "bad_field"),
    BadLine("a conversation that is a list", #"{"conversation":["bob"],"text":"x"}"#, "bad_field"),
    BadLine("an empty text", send(#""text":"""#), "empty_text"),
    BadLine("a text over 64 KiB", send("\"text\":\"\(String(repeating: "x", count: 65537))\""), "text_too_long"),
    BadLine("an empty conversation", #"{"conversation":"","text":"x"}"#, "bad_reference"),
    BadLine("an empty title", #"{"conversation":"+","text":"x"}"#, "bad_reference"),
    BadLine("an unknown user", #"{"conversation":"bobo","text":"x"}"#, "unknown_user"),
    BadLine("a handle with a space", #"{"conversation":"bob smith","text":"x"}"#, "unknown_user"),
    BadLine("an unknown title", #"{"conversation":"+nowhere","text":"x"}"#, "unknown_conversation"),
    BadLine(
      "an unknown id", #"{"conversation":"01938a00-0000-7000-8000-000000000000","text":"x"}"#, "unknown_conversation"),
    BadLine("a title of two groups", #"{"conversation":"+twin","text":"x"}"#, "ambiguous_title"),
    BadLine("an empty nonce", send(#""text":"x","nonce":"""#), "bad_field"),
    BadLine("a long nonce", send("\"text\":\"x\",\"nonce\":\"\(String(repeating: "n", count: 129))\""), "bad_field"),
    BadLine("a nonce of another text", send(#""text":"other","nonce":"taken""#), "nonce_conflict"),
    BadLine("a reply to nothing", send(#""text":"x","reply_to":"99""#), "unknown_message"),
    BadLine("a reply to zero", send(#""text":"x","reply_to":"0""#), "bad_reference"),
    BadLine("a reply elsewhere by number", send(#""text":"x","reply_to":"carol:1""#), "unknown_message"),
    BadLine("attachments that are no list", send(#""text":"x","attachments":"photo.jpg""#), "bad_field"),
    BadLine("an attachment that is a path", send(#""text":"x","attachments":["photo.jpg"]"#), "bad_field"),
    BadLine("an attachment without an id", send(#""text":"x","attachments":[{"name":"photo.jpg"}]"#), "bad_field"),
    BadLine("an empty list and no text", send(#""attachments":[]"#), "missing_field"),
    BadLine(
      "an attachment that is not there", send(#""attachments":["01938a00-0000-7000-8000-000000000000"]"#),
      "unknown_attachment"),
    BadLine("an attachment that another prepared", send(#""attachments":["PREPARED"]"#), "unknown_attachment"),
    BadLine(
      "33 attachments",
      send(#""attachments":[\#(Array(repeating: #""PREPARED""#, count: 33).joined(separator: ","))]"#), "bad_field"),
  ]

  /// A store with alice, bob and carol, two groups with the same title, a used nonce, and a message to carol.
  private func filled() throws -> ToolFixture { try ToolFixture(copyOf: Self.template.get()) }

  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    for _ in 1...2 { try f.done("dm-conversation", ["create", "--title", "twin", "bob"], as: "alice") }
    try f.done("dm-send", ["bob", "first", "--nonce", "taken"], as: "alice")
    try f.done("dm-send", ["carol", "hello"], as: "alice")
    return f
  }

  @Test(arguments: malformed + wrong)
  func `dm-send sends the lines before and after a bad line, and reports its number`(bad: BadLine) throws {
    let f = try filled()
    let good = { (text: String) in Array(send("\"text\":\"\(text)\"").utf8) + [0x0A] }
    var line = bad.bytes
    if let text = String(bytes: line, encoding: .utf8), text.contains("PREPARED") {
      let prepared = try #require(try f.done("dm-attach", ["-"], as: "bob", stdin: "a file").record["id"]?.string)
      line = Array(text.replacingOccurrences(of: "PREPARED", with: prepared).utf8)
    }
    let outcome = try f.run(
      "dm-send", as: "alice", stdin: .bytes(good("before") + line + [0x0A] + good("after")))
    #expect(outcome.status == .exit(1))
    let records = try outcome.records
    try #require(records.count == 3, "\(outcome.stdout.prefix(2000)) \(outcome.stderr.prefix(500))")
    #expect(records[0]["text"]?.string == "before")
    #expect(records[1]["type"]?.string == "error")
    #expect(records[1]["code"]?.string == bad.code)
    #expect(records[1]["line"]?.int == 2)
    #expect(records[1]["retryable"]?.bool == false)
    #expect(records[2]["text"]?.string == "after")
    #expect(outcome.stderr.hasPrefix("dm-send: line 2: "))
    #expect(outcome.stderr.utf8.filter { $0 == 0x0A }.count == 1)
    #expect(hiddenBytes(in: Array(outcome.stderr.utf8), allowing: [0x0A]).isEmpty)
    #expect(try f.done("dm-tail", ["bob", "--peek"], as: "alice").records.count == 3)
  }

  @Test(arguments: malformed.filter { !$0.name.hasPrefix("1e") })
  func `dm-import continues after a bad line`(bad: BadLine) throws {
    let f = try ToolFixture()
    let good = { (second: Int) in
      let time = "2004-11-15T00:00:0\(second)Z"
      return Array(
        (JSON.line(["conversation": "old", "sender": "eve", "text": "hi", "created_at": time]) + "\n").utf8)
    }
    let outcome = try f.run("dm-import", stdin: .bytes(good(1) + bad.bytes + [0x0A] + good(2)))
    #expect(outcome.status == .exit(1))
    #expect(try outcome.records.map { $0["code"]?.string ?? "" } == ["", bad.code, ""])
    #expect(try outcome.records[1]["line"]?.int == 2)
  }

  @Test(arguments: malformed)
  func `dm-read continues after a bad line`(bad: BadLine) throws {
    let f = try ToolFixture.filled()
    let lines = try f.done("dm-tail", ["bob"], as: "alice").output.split(separator: 0x0A)
    try #require(lines.count == 2)
    let input = [Array(lines[0]), bad.bytes, Array(lines[1]), []].joined(separator: [0x0A])
    let outcome = try f.run("dm-read", as: "alice", stdin: .bytes(Array(input)))
    #expect(outcome.status == .exit(1))
    let errors = try outcome.records.filter { $0["type"]?.string == "error" }
    #expect(errors.map { $0["code"]?.string } == [bad.code])
    #expect(errors.map { $0["line"]?.int } == [2])
    #expect(try f.done("dm-list", ["--count"], as: "alice").stdout == "0\n")
  }

  @Test func `a line may end with CRLF`() throws {
    let f = try filled()
    let outcome = try f.done("dm-send", as: "alice", stdin: Input(send(#""text":"x""#) + "\r\n"))
    #expect(try outcome.record["text"]?.string == "x")
  }

  @Test func `a last line without a line feed is an error`() throws {
    let f = try filled()
    for program in ["dm-send", "dm-import", "dm-read"] {
      let outcome = try f.run(program, as: "alice", stdin: Input(send(#""text":"half""#)))
      #expect(outcome.status == .exit(1))
      #expect(try outcome.record["code"]?.string == "unfinished_line")
      #expect(try outcome.record["line"]?.int == 1)
    }
    #expect(try f.done("dm-tail", ["bob"], as: "alice").records.count == 1)
  }

  @Test(arguments: ["dm-send", "dm-import", "dm-read"])
  func `a program that gets no lines prints nothing`(program: String) throws {
    let f = try filled()
    let outcome = try f.done(program, as: "alice", stdin: "")
    #expect(outcome.output.isEmpty)
    #expect(outcome.stderr.isEmpty)
  }
}
