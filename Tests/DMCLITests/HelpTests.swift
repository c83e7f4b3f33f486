import DMKit
import Testing

@testable import DMCLI

struct HelpTests {
  private static let command = Command(
    "dm-example", "show 'help' [and] more", synopsis: ["WORD", "--all"],
    options: [
      Option("limit", short: "n", count: "N", "a count [50]"), Flag(nil, short: "x", "a letter: alone"),
      Option("colour", value: "WHEN", values: [.words(["always", "never"])], "when it's coloured"),
      Option("a-name-that-is-rather-long", value: "VALUE", "a long one"),
    ],
    subcommands: [
      Command.Subcommand("add", operands: "NAME", "add one", options: [Option("bio", value: "TEXT", "a text")]) { _ in
      },
      Command.Subcommand("list", "list all") { _ in },
    ],
    examples: [("dm-example --all", "everything")], writes: [])

  private static var spellings: [String] {
    command.allOptions.flatMap { option in
      [option.long.map { "--\($0)" }, option.short.map { "-\($0)" }].compactMap(\.self)
    }
  }

  @Test func `help names every option, its value and its meaning`() {
    let text = help(of: Self.command)
    let words = Set(text.split { " ,\n".contains($0) }.map(String.init))
    for spelling in Self.spellings { #expect(words.contains(spelling), "\(spelling)") }
    for option in Self.command.allOptions { #expect(text.contains(option.help)) }
    for value in ["-n, --limit N", "    --colour WHEN", "-x  "] { #expect(text.contains(value), "\(value)") }
    #expect(text.hasPrefix("dm-example - show 'help' [and] more\n\nUsage:\n  dm-example WORD\n  dm-example --all\n"))
    #expect(text.contains("  # everything\n  dm-example --all\n"))
    #expect(text.contains("  add NAME") && text.contains("add one"))
  }

  @Test func `help is ASCII text that ends with one line feed and has no trailing spaces`() {
    let text = help(of: Self.command)
    #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
    #expect(!text.contains(" \n"))
    #expect(text.utf8.allSatisfy { $0 == 0x0A || (0x20...0x7E).contains($0) })
  }
}
