import Testing

@testable import DMCLI
@testable import DMKit
@testable import TestSupport

struct MessageOperandsTests {
  private static let command = Command(
    "dm-example", "take ranges", synopsis: ["CONVERSATION [RANGE]..."],
    options: [Option("since", value: "WHEN", "a time")], examples: [], writes: [])

  private func parse(_ words: [String]) throws -> ([ConversationReference], [RangeReference]?) {
    let arguments = try Arguments(words, for: Self.command)
    return try arguments.conversationsAndRanges(arguments.operands)
  }

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
    let (found, foundRanges) = try parse(operands)
    #expect(found == conversations)
    #expect(foundRanges == ranges?.compactMap { RangeReference($0) })
  }

  @Test func `ranges together with several conversations are a usage error`() throws {
    for operands in [["bob", "1", "carol"], ["bob:1", "carol"], ["bob", "carol", "1..2"]] {
      let error = #expect(throws: DMError.self) { try parse(operands) }
      #expect(error?.code == .usage)
    }
  }

  @Test(arguments: [
    (["bob", "40-57"], "'40-57' is not a range of messages; write dm-example bob 40..57"),
    (["bob:40-57"], "'bob:40-57' is not a range of messages; write dm-example bob:40..57"),
    (
      ["--since", "1 h", "+it's", "1-2"],
      "'1-2' is not a range of messages; write dm-example --since '1 h' '+it'\\''s' 1..2"
    ),
    (["bob", "-20.."], "'-20..' is taken for an option; write dm-example bob:-20.."),
    (["bob", "--since=1h", "-20..-5"], "'-20..-5' is taken for an option; write dm-example bob:-20..-5 --since=1h"),
    (["bob", "7", "-20.."], "'-20..' is taken for an option; write dm-example bob 7 -- -20.."),
    (["-20.."], "'-20..' is taken for an option; write dm-example -- -20.."),
  ])
  func `the error for a mistyped range shows the correct command`(
    _ words: [String], _ message: String
  ) throws {
    let error = #expect(throws: DMError.self) { try parse(words) }
    #expect(error?.code == .usage && error?.message == message, "\(error?.message ?? "")")
  }

  @Test(arguments: [["40-57"], ["@40-57", "bob"], ["+9:30-10"], ["bob", "40-57-60"], ["bob", "-"], ["bob", "a-1"]])
  func `a user or title may look like a range with a dash`(_ words: [String]) throws {
    #expect(try parse(words).1 == nil)
  }
}
