import Testing

@testable import DMCLI
@testable import DMKit
@testable import TestSupport

struct MessageOperandsTests {
  @Test(
    arguments: [
      ([], [], nil), (["bob"], [.direct("bob")], nil), (["bob", "40..57", "60"], [.direct("bob")], ["40..57", "60"]),
      (["bob:40..57"], [.direct("bob")], ["40..57"]), (["bob:40..", "3"], [.direct("bob")], ["40..", "3"]),
      (["+ops", "-1"], [.title("ops")], ["-1"]),
      (["bob", "+ops", "carol"], [.direct("bob"), .title("ops"), .direct("carol")], nil),
    ] as [([String], [ConversationReference], [String]?)])
  func `conversations and ranges are read from operands`(
    _ operands: [String], _ conversations: [ConversationReference], _ ranges: [String]?
  ) throws {
    let (found, foundRanges) = try conversationsAndRanges(operands)
    #expect(found == conversations)
    #expect(foundRanges == ranges?.compactMap { RangeReference($0) })
  }

  @Test func `ranges of several conversations are an error of usage`() throws {
    for operands in [["bob", "1", "carol"], ["bob:1", "carol"], ["bob", "carol", "1..2"]] {
      let error = #expect(throws: DMError.self) { try conversationsAndRanges(operands) }
      #expect(error?.code == .usage)
    }
  }
}
