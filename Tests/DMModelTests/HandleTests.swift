import Testing

@testable import DMModel
@testable import TestSupport

struct HandleTests {
  @Test(arguments: [
    "bob", "|trey|", "toad^", "Ann-Sofie", "海", "a", "_", "[away]", "O'Brien", "x@y", "a#b", "a+b", "renée", "🦊", "..",
    "1", "57",
    "{}`\\", "0190", "ａ", "نور", "a.b", "~", "$HOME", "*", "%", "dm",
  ])
  func `real-world handles are accepted unchanged`(_ text: String) throws {
    #expect(Array(try Handle(text).description.utf8) == Array(text.utf8))
  }

  @Test(arguments: [
    "", "@bob", "#bob", "+bob", "-bob", "-", "bob smith", "bob\tsmith", "bob\n", " bob", "bob\u{A0}", "bob\u{2003}",
    "bob\u{3000}",
    "bob\u{85}", "bob\u{2028}", "a,b", "a:b", "a/b", ":", "a\u{0}b", "a\u{1}b", "a\u{1B}[2J", "a\u{7F}", "a\u{9B}b",
    "a\u{202E}b",
    "a\u{200E}", "\u{200F}a", "a\u{61C}", "a\u{2066}b\u{2069}", "\u{FEFF}a", "019ac5f2-0a3b-7c4d-8e5f-0123456789ab",
    "019AC5F2-0A3B-7C4D-8E5F-0123456789AB",
  ])
  func `a text that is ambiguous or has invisible characters is not a handle`(_ text: String) throws {
    #expect(try fault { try Handle(text) }?.code == .badHandle)
    #expect(try fault { try Handle(text) }?.subject == text)
  }

  @Test func `a handle has at most 64 bytes, however many characters they are`() throws {
    _ = try Handle(String(repeating: "a", count: 64))
    #expect(try code { try Handle(String(repeating: "a", count: 65)) } == .badHandle)
    _ = try Handle(String(repeating: "海", count: 21))
    #expect(try code { try Handle(String(repeating: "海", count: 22)) } == .badHandle)
  }

  @Test func `handles that differ in their bytes are different`() throws {
    let (one, other) = (Handle(typed: "ren\u{E9}e"), Handle(typed: "rene\u{301}e"))
    #expect(one != other)
    #expect(Handle(typed: "Bob") != Handle(typed: "bob"))
  }
}
