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

  private func spellings(_ options: [Declaration]) -> [String] {
    options.flatMap { option in
      [option.long.map { "--\($0)" }, option.short.map { "-\($0)" }].compactMap(\.self)
    }
  }

  private func words(_ text: String) -> Set<String> { Set(text.split { " ,\n".contains($0) }.map(String.init)) }

  @Test func `help names every option, and the value and the meaning of the program's own options`() {
    let text = help(of: Self.command)
    let own = (Self.command.options + Self.command.subcommands.flatMap(\.options)).map(\.declaration)
    for spelling in spellings(own) { #expect(words(text).contains(spelling), "\(spelling)") }
    for option in own { #expect(text.contains(option.help)) }
    for option in Self.command.common {
      #expect(words(text).contains(option.short.map { "-\($0)" } ?? option.spelling), "\(option.name)")
      #expect(!text.contains(option.help))
    }
    for value in ["-n, --limit N", "    --colour WHEN", "-x  "] { #expect(text.contains(value), "\(value)") }
    #expect(text.hasPrefix("dm-example - show 'help' [and] more\n\nUsage:\n  dm-example WORD\n  dm-example --all\n"))
    #expect(text.contains("  # everything\n  dm-example --all\n"))
    #expect(text.contains("  add NAME") && text.contains("add one"))
  }

  @Test func `the help of dm explains the common options`() {
    let dm = Command("dm", "all", synopsis: [""], examples: [], writes: [])
    let text = help(of: dm)
    for spelling in spellings(dm.common) { #expect(words(text).contains(spelling), "\(spelling)") }
    for option in dm.common { #expect(text.contains(option.help)) }
    #expect(text.contains("Usage:\n  dm\n"))
  }

  @Test func `help explains options that several actions share once`() {
    let options: [any Declared] = ["one", "two", "three"].map { (name: String) in Flag(name, "the help of \(name)") }
    let command = Command(
      "dm-example", "share", synopsis: ["add"],
      subcommands: [
        Command.Subcommand("add", "add one", options: options) { _ in },
        Command.Subcommand("set", "set one", options: options + [Flag("four", "the fourth")]) { _ in },
      ], examples: [], writes: [])
    let text = help(of: command)
    #expect(text.contains("      --one                 the help of one\n"))
    #expect(text.contains("  set                       set one\n      --four                the fourth\n"))
    #expect(text.contains("      as with add:\n                            --one, --two, --three\n"))
  }

  @Test func `help is ASCII text that ends with one line feed and has no trailing spaces`() {
    let text = help(of: Self.command)
    #expect(text.hasSuffix("\n") && !text.hasSuffix("\n\n"))
    #expect(!text.contains(" \n"))
    #expect(text.utf8.allSatisfy { $0 == 0x0A || (0x20...0x7E).contains($0) })
  }
}
