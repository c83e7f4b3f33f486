import DMKit
import Testing

@testable import DMCLI

struct ArgumentsTests {
  private static let command = Command(
    "dm-example", "show what can be parsed", synopsis: ["[OPTION]... WORD..."],
    options: [
      Option("limit", short: "n", value: "N", "a count"), Option("verbose", short: "v", "a flag"),
      Option("all", "a flag"),
      Option(nil, short: "x", value: "X", "a short option alone"), Option("title", value: "TITLE", "a value"),
    ], examples: [], writes: [])

  private static let withActions = Command(
    "dm-actions", "act", synopsis: ["add", "list"], options: [Option("everywhere", "for both")],
    subcommands: [
      Command.Subcommand("add", operands: "NAME", "add one", options: [Option("bio", value: "TEXT", "a text")]),
      Command.Subcommand("list", "list all", options: [Option("long", "more")]),
    ], examples: [], writes: [])

  private func parse(_ words: String...) throws -> Arguments { try Arguments(words, for: Self.command) }
  private func act(_ words: String...) throws -> Arguments { try Arguments(words, for: Self.withActions) }

  private func fault(_ body: () throws -> Arguments) throws -> String {
    do {
      _ = try body()
      return ""
    } catch let error as DMError {
      #expect(error.code == .usage)
      return error.message
    }
  }

  @Test func `options and operands come in any order`() throws {
    let arguments = try parse("one", "--limit", "5", "two", "-v", "three", "--title=x y")
    #expect(arguments.operands == ["one", "two", "three"])
    #expect(arguments.value("limit") == "5")
    #expect(arguments.value("title") == "x y")
    #expect(arguments.has("verbose") && !arguments.has("all"))
    #expect(arguments.isGiven("limit") && arguments.isGiven("verbose") && !arguments.isGiven("all"))
    #expect(arguments.subcommand == nil)
  }

  @Test func `two dashes end the options`() throws {
    let arguments = try parse("-v", "--", "--limit", "-x", "--", "-")
    #expect(arguments.operands == ["--limit", "-x", "--", "-"])
    #expect(arguments.has("verbose") && arguments.value("limit") == nil)
  }

  @Test func `a single dash and an empty word are operands`() throws {
    #expect(try parse("-", "").operands == ["-", ""])
  }

  @Test(arguments: [
    ["-n", "5"], ["-n5"], ["--limit", "5"], ["--limit=5"], ["-vn5"], ["-vn", "5"], ["-n", "4", "--limit", "5"],
  ])
  func `a value is the rest of the word or the next word, and the last one counts`(_ words: [String]) throws {
    let arguments = try Arguments(words, for: Self.command)
    #expect(arguments.value("limit") == "5")
    #expect(arguments.operands.isEmpty)
  }

  @Test func `a value may begin with a dash, be empty, or hold an equals sign`() throws {
    #expect(try parse("--limit", "-1").value("limit") == "-1")
    #expect(try parse("-n-1").value("limit") == "-1")
    #expect(try parse("--title=").value("title") == "")
    #expect(try parse("--title", "").value("title") == "")
    #expect(try parse("--title=a=b").value("title") == "a=b")
    #expect(try parse("--title", "--").value("title") == "--")
  }

  @Test func `a value may begin with a mark that joins what stands before it`() throws {
    let separate = try parse("--title", "\u{301}x")
    #expect(separate.value("title") == "\u{301}x")
    let joined = try parse("--title=\u{301}x")
    #expect(joined.value("title") == "\u{301}x")
  }

  @Test func `an option without a long form is asked for by its letter`() throws {
    #expect(try parse("-x1").value("x") == "1")
    #expect(
      try fault { try parse("--x", "1") } == "unknown option '--x'; did you mean '--as'?"
        || fault { try parse("--x", "1") } == "unknown option '--x'; see --help")
  }

  @Test func `an unknown option is an error that names the nearest`() throws {
    #expect(try fault { try parse("--limti", "5") } == "unknown option '--limti'; did you mean '--limit'?")
    #expect(try fault { try parse("--zzzzzzzz") } == "unknown option '--zzzzzzzz'; see --help")
    #expect(try fault { try parse("-z") } == "unknown option '-z'; see --help")
    #expect(try fault { try parse("-vz") } == "unknown option '-z'; see --help")
  }

  @Test func `long names are not abbreviated`() throws {
    #expect(try fault { try parse("--lim", "5") }.hasPrefix("unknown option '--lim'"))
  }

  @Test func `a value that is missing or not wanted is an error`() throws {
    #expect(try fault { try parse("--limit") } == "'--limit' needs a value: N")
    #expect(try fault { try parse("-vn") } == "'-n' needs a value: N")
    #expect(try fault { try parse("--verbose=yes") } == "'--verbose' takes no value")
  }

  @Test(arguments: [("0", 0), ("7", 7), ("all", nil)] as [(String, Int?)])
  func `a count is a number or all`(_ text: String, _ count: Int?) throws {
    #expect(try parse("-n", text).count("limit", default: 50) == count)
  }

  @Test func `a count has a default, and is no other word`() throws {
    #expect(try parse().count("limit", default: 50) == 50)
    for text in ["-1", "x", "", "1.5", "ALL", "99999999999999999999"] {
      let arguments = try parse("-n", text)
      #expect(throws: DMError.self) { try arguments.count("limit", default: 50) }
    }
    let arguments = try parse("-x", "y")
    let message = try fault {
      _ = try arguments.count("x", default: 1)
      return arguments
    }
    #expect(message == "'y' is no number for -x; write one, or 'all'")
  }

  @Test func `options may exclude each other`() throws {
    let both = try parse("--all", "-v")
    #expect(throws: DMError.self) { try both.exclude("all", "verbose") }
    #expect(throws: DMError.self) { try parse("--all", "-n1").exclude("verbose", "all", "limit") }
    try both.exclude("all", "limit")
    try parse().exclude("all", "verbose")
  }

  @Test func `operands are counted`() throws {
    let arguments = try parse("one", "two")
    #expect(try arguments.operand(1, "WORD") == "two")
    #expect(throws: DMError.self) { try arguments.operand(2, "WORD") }
    #expect(throws: DMError.self) { try arguments.atMost(1) }
    try arguments.atMost(2)
  }

  @Test func `an action is the first operand`() throws {
    let arguments = try act("--bio", "x", "add", "bob", "--everywhere", "-q")
    #expect(arguments.subcommand == "add")
    #expect(arguments.operands == ["bob"])
    #expect(arguments.value("bio") == "x" && arguments.has("everywhere") && arguments.has("quiet"))
  }

  @Test func `an action that is missing or unknown is an error that lists them`() throws {
    #expect(try fault { try act() } == "what shall it do? Say one of add, list")
    #expect(try fault { try act("del") } == "unknown action 'del'; say one of add, list")
  }

  @Test func `an option of another action is an error`() throws {
    #expect(try fault { try act("list", "--bio", "x") } == "'--bio' does not go with 'dm-actions list'")
    #expect(try fault { try act("add", "--long") } == "'--long' does not go with 'dm-actions add'")
  }

  @Test(arguments: ["--help", "-h", "--version", "--schema"])
  func `what asks about the program needs no action`(_ option: String) throws {
    #expect(try act(option).subcommand == nil)
  }

  @Test(arguments: [
    "--store=/x", "--as=bob", "--json", "--text", "--quiet", "-q", "--schema", "--help", "-h", "--version",
  ])
  func `every program has the common options`(_ option: String) throws {
    _ = try parse(option)
  }
}
