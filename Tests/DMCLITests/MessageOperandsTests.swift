import Testing

@testable import DMCLI
@testable import DMKit

struct MessageOperandsTests {
  @Test(
    arguments: [
      ([], nil, nil), (["bob"], .direct("bob"), nil), (["bob", "40..57", "60"], .direct("bob"), ["40..57", "60"]),
      (["bob:40..57"], .direct("bob"), ["40..57"]), (["bob:40..", "3"], .direct("bob"), ["40..", "3"]),
      (["+ops", "-1"], .title("ops"), ["-1"]),
    ] as [([String], ConversationReference?, [String]?)])
  func `a conversation and ranges are read from operands`(
    _ operands: [String], _ conversation: ConversationReference?, _ ranges: [String]?
  ) throws {
    let (found, foundRanges) = try conversationAndRanges(operands)
    #expect(found == conversation)
    #expect(foundRanges == ranges?.compactMap { RangeReference($0) })
  }

  @Test func `what is no range after a conversation is an error of usage`() throws {
    for operands in [["bob", "carol"], ["bob", "0"], ["bob", "1", ""]] {
      let error = #expect(throws: DMError.self) { try conversationAndRanges(operands) }
      #expect(error?.code == .usage)
    }
  }
}
