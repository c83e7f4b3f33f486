import DMKit
import Testing

@testable import DMCLI

struct ShortCodesTests {
  @Test(arguments: [(":+1:", "👍"), (":thumbsup:", "👍"), (":-1:", "👎"), (":heart:", "❤️"), (":100:", "💯"), (":x:", "❌")])
  func `a short code gives its emoji`(_ code: String, _ emoji: String) throws {
    #expect(isShortCode(code))
    #expect(try DMCLI.emoji(of: code) == emoji)
  }

  @Test(arguments: ["thumbsup", ":thumbsup", "thumbsup:", "bob:1", "+ops:-1", "::", ":", "👍"])
  func `a word without a colon at both ends is not a short code`(_ word: String) {
    #expect(!isShortCode(word))
  }

  @Test(arguments: [
    (":hart:", "did you mean ':heart:'?"), (":roc:", "did you mean ':rocket:'?"),
    (":octocat:", "write the emoji itself, such as 👍"),
  ])
  func `an unknown short code is an error that names a similar one`(_ code: String, _ hint: String) throws {
    let error = #expect(throws: DMError.self) { try DMCLI.emoji(of: code) }
    #expect(error?.code == .badField && error?.message == "'\(code)' is not a short code here; \(hint)")
  }

  @Test func `every emoji of the table can be a reaction`() throws {
    for name in shortCodes.flatMap(\.names) { try Edit.check(emoji: DMCLI.emoji(of: ":\(name):")) }
  }
}
