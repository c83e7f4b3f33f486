import DMKit
import Testing

@testable import DMCLI

struct ArgumentsTests {
  private enum Colour: String, CaseIterable { case red, green }

  private static let limit = Option("limit", short: "n", count: "N", "a count")
  private static let verbose = Flag("verbose", short: "v", "a flag")
  private static let all = Flag("all", "a flag")
  private static let x = Option(nil, short: "x", count: "X", "a short option alone")
  private static let title = Option("title", value: "TITLE", "a value")
  private static let colour = Option("colour", value: "COLOUR", oneOf: Colour.self, "a word")
  private static let user = Option("user", user: "USER", "a user")
  private static let everywhere = Flag("everywhere", "for both")
  private static let bio = Option("bio", value: "TEXT", "a text")

  private static let command = Command(
    "dm-example", "show what can be parsed", synopsis: ["[OPTION]... WORD..."],
    options: [limit, verbose, all, x, title, colour, user], examples: [], writes: [])

  private static let withActions = Command(
    "dm-actions", "act", synopsis: ["add", "list"], options: [everywhere],
    subcommands: [
      Command.Subcommand("add", operands: "NAME", "add one", options: [bio]) { _ in },
      Command.Subcommand("list", "list all", options: [Flag("long", "more")]) { _ in },
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
    #expect(try arguments[Self.limit] == 5)
    #expect(try arguments[Self.title] == "x y")
    #expect(arguments[Self.verbose] && !arguments[Self.all])
    #expect(arguments.isGiven(Self.limit) && arguments.isGiven(Self.verbose) && !arguments.isGiven(Self.all))
    #expect(arguments.action == nil)
  }

  @Test func `two dashes end the options`() throws {
    let arguments = try parse("-v", "--", "--limit", "-x", "--", "-")
    #expect(arguments.operands == ["--limit", "-x", "--", "-"])
    #expect(try arguments[Self.verbose] && arguments[Self.limit] == nil)
  }

  @Test func `a single dash and an empty word are operands`() throws {
    #expect(try parse("-", "").operands == ["-", ""])
  }

  @Test func `a dash as the last operand means standard input, unless it follows two dashes`() throws {
    #expect(try parse("bob", "-").endsWithInput && parse("bob", "-", "-v").endsWithInput)
    #expect(try !parse("bob", "--", "-").endsWithInput && !parse("--", "bob", "-").endsWithInput)
    #expect(try !parse("-", "bob").endsWithInput && !parse().endsWithInput)
  }

  @Test(arguments: [
    ["-n", "5"], ["-n5"], ["--limit", "5"], ["--limit=5"], ["-vn5"], ["-vn", "5"], ["-n", "4", "--limit", "5"],
  ])
  func `an option's value is the rest of the word or the next word, and the last value wins`(_ words: [String]) throws {
    let arguments = try Arguments(words, for: Self.command)
    #expect(try arguments[Self.limit] == 5)
    #expect(arguments.operands.isEmpty)
  }

  @Test func `a value may begin with a dash, be empty, or hold an equals sign`() throws {
    #expect(try parse("--title", "-1")[Self.title] == "-1")
    #expect(try fault { try parse("-x-1") } == "" && parse("-n-1").operands.isEmpty)
    #expect(try parse("--title=")[Self.title] == "")
    #expect(try parse("--title", "")[Self.title] == "")
    #expect(try parse("--title=a=b")[Self.title] == "a=b")
    #expect(try parse("--title", "--")[Self.title] == "--")
  }

  @Test func `an option's value may begin with a combining mark`() throws {
    let separate = try parse("--title", "\u{301}x")
    #expect(try separate[Self.title] == "\u{301}x")
    let joined = try parse("--title=\u{301}x")
    #expect(try joined[Self.title] == "\u{301}x")
  }

  @Test func `in a debug build, reading an option that the command does not declare ends the process`() async {
    await #expect(processExitsWith: .failure) {
      let command = Command("dm-forgetful", "list nothing", synopsis: [], examples: [], writes: [])
      _ = try Arguments([], for: command)[Flag("forgotten", "a flag")]
    }
    await #expect(processExitsWith: .success) {
      let flag = Flag("listed", "a flag")
      let command = Command("dm-careful", "list it", synopsis: [], options: [flag], examples: [], writes: [])
      _ = try Arguments([], for: command)[flag]
    }
  }

  @Test func `an option without a long form is given by its letter`() throws {
    #expect(try parse("-x1")[Self.x] == 1)
    #expect(try fault { try parse("--x", "1") } == "unknown option '--x'; see --help")
  }

  @Test func `the error for an unknown option suggests the nearest option`() throws {
    #expect(try fault { try parse("--limti", "5") } == "unknown option '--limti'; did you mean '--limit'?")
    #expect(try fault { try parse("--zzzzzzzz") } == "unknown option '--zzzzzzzz'; see --help")
    #expect(try fault { try parse("-z") } == "unknown option '-z'; the letters are -n, -v, -x, -q, -h; see --help")
    #expect(try fault { try parse("-vz") } == "unknown option '-z'; the letters are -n, -v, -x, -q, -h; see --help")
  }

  @Test func `the error for an abbreviated option suggests the full name, if only one option begins with it`() throws {
    #expect(try fault { try parse("--lim", "5") } == "unknown option '--lim'; did you mean '--limit'?")
    #expect(try fault { try parse("--v") } == "unknown option '--v'; see --help")
    #expect(try fault { try parse("--=x") } == "unknown option '--'; see --help")
    #expect(try fault { try act("--bi", "x", "add") } == "unknown option '--bi'; did you mean '--bio'?")
  }

  @Test func `the error for another program's option suggests the option that means the same here`() throws {
    #expect(try fault { try parse("--max-count=5") } == "unknown option '--max-count'; did you mean '--limit'?")
    #expect(try fault { try parse("-l", "5") } == "unknown option '-l'; did you mean '--limit'?")
    #expect(try fault { try parse("-limit", "5") } == "unknown option '-l'; did you mean '--limit'?")
    #expect(try fault { try parse("--name", "x") } == "unknown option '--name'; did you mean '--title'?")
    #expect(try fault { try parse("--message", "x") } == "unknown option '--message'; see --help")
  }

  @Test func `the error for an unknown option such as --message says to write the text without an option`() throws {
    let command = Command(
      "dm-say", "say it", synopsis: ["CONVERSATION TEXT..."],
      options: [Option("max-size", value: "SIZE", "how large"), Option("reply-to", value: "MESSAGE", "to what")],
      examples: [], writes: [])
    func say(_ words: String...) throws -> String { try fault { try Arguments(words, for: command) } }
    #expect(try say("bob", "-m", "hi") == "unknown option '-m'; write TEXT without an option")
    #expect(try say("--message=hi") == "unknown option '--message'; write TEXT without an option")
    #expect(try say("--reply", "3") == "unknown option '--reply'; did you mean '--reply-to'?")
    #expect(try say("-r", "3") == "unknown option '-r'; did you mean '--reply-to'?")
  }

  @Test func `a missing or unexpected option value is an error`() throws {
    #expect(try fault { try parse("--limit") } == "'--limit' needs a value: N")
    #expect(try fault { try parse("-vn") } == "'-n' needs a value: N")
    #expect(try fault { try parse("--verbose=yes") } == "'--verbose' takes no value")
  }

  @Test(arguments: [("0", 0), ("7", 7), ("all", nil)] as [(String, Int?)])
  func `a count is a number or the word 'all'`(_ text: String, _ count: Int?) throws {
    #expect(try parse("-n", text)[Self.limit] == .some(count))
  }

  @Test func `a count that is not given has a default, and a word other than 'all' is an error`() throws {
    #expect(try parse()[Self.limit] ?? 50 == 50)
    for text in ["-1", "x", "", "1.5", "ALL", "99999999999999999999"] {
      let arguments = try parse("-n", text)
      #expect(throws: DMError.self) { try arguments[Self.limit] }
    }
    let message = try fault {
      let arguments = try parse("-x", "y")
      _ = try arguments[Self.x]
      return arguments
    }
    #expect(message == "'y' is not a number, which -x needs; give one, or 'all'")
  }

  @Test func `an option with a fixed list of values accepts only these, and the error for another value lists them`()
    throws
  {
    #expect(try parse("--colour", "green")[Self.colour] == .green)
    let message = try fault {
      let arguments = try parse("--colour", "blue")
      _ = try arguments[Self.colour]
      return arguments
    }
    #expect(message == "'blue' is not a value of --colour; use red or green")
  }

  @Test func `a user may be written with an at sign`() throws {
    #expect(try parse("--user", "@bob")[Self.user]?.description == "bob")
    #expect(try parse("--user", "bob", "--user", "@carol").all(Self.user).map(\.description) == ["bob", "carol"])
  }

  @Test func `a program may use the name of a common flag for an option of its own`() throws {
    let text = Option("text", value: "TEXT", "not a format")
    let command = Command("dm-own", "have a --text", synopsis: [], options: [text], examples: [], writes: [])
    let arguments = try Arguments(["--text", "hello", "--json"], for: command)
    #expect(try arguments[text] == "hello")
    #expect(!arguments[Common.text])
    try arguments.check(Common.rules)
  }

  private func broken(_ rule: Rule, _ words: String...) throws -> String {
    try fault {
      let arguments = try Arguments(words, for: Self.command)
      try arguments.check([rule])
      return arguments
    }
  }

  @Test func `options may exclude each other`() throws {
    let rule = Rule.excludes(Self.all, [Self.limit, Self.verbose])
    #expect(try broken(rule, "-v", "--all") == "'--all' and '--verbose' exclude each other")
    #expect(try broken(rule, "-v", "-n1") == "")
    #expect(try broken(rule, "--all") == "")
    let group = Rule.atMostOne([Self.verbose, Self.all, Self.x])
    #expect(try broken(group, "-x1", "--all") == "'--all' and '-x' exclude each other")
    #expect(try broken(group, "--all") == "")
  }

  @Test func `an option may require another option`() throws {
    let rule = Rule.needs(Self.all, [Self.title, Self.limit, Self.verbose])
    #expect(try broken(rule, "--all") == "'--all' needs --title TITLE, --limit N or --verbose")
    #expect(try broken(rule, "--all", "-v") == "")
    #expect(try broken(rule) == "")
  }

  @Test func `an option can exclude all other options except those that its rule lists and the common ones`() throws {
    let rule = Rule.alone(Self.all, with: [Self.limit])
    #expect(try broken(rule, "--all", "-n1", "-x2") == "'-x' does not go with '--all'")
    #expect(try broken(rule, "--all", "-n1", "--json", "-q", "word") == "")
    #expect(try broken(rule, "-n1", "-x2") == "")
  }

  @Test func `too many operands are an error`() throws {
    let arguments = try parse("one", "two")
    #expect(try arguments.operand(1, "WORD") == "two")
    #expect(throws: DMError.self) { try arguments.atMost(1) }
    try arguments.atMost(2)
  }

  private func missing(_ name: String, _ arguments: Arguments) throws -> String {
    try fault {
      _ = try arguments.operand(arguments.operands.count, name)
      return arguments
    }
  }

  @Test func `the error for a missing operand shows the usage of the action`() throws {
    #expect(try missing("WORD", parse("one")) == "missing WORD; usage: dm-example [OPTION]... WORD...")
    #expect(try missing("NAME", act("add", "-q")) == "missing NAME; usage: dm-actions add NAME")
  }

  @Test func `an action is the first operand`() throws {
    let arguments = try act("--bio", "x", "add", "bob", "--everywhere", "-q")
    #expect(arguments.action?.name == "add")
    #expect(arguments.operands == ["bob"])
    #expect(try arguments[Self.bio] == "x" && arguments[Self.everywhere] && arguments[Common.quiet])
  }

  @Test func `the error for a missing or unknown action lists the actions`() throws {
    #expect(try fault { try act() } == "missing action; one of: add, list")
    #expect(try fault { try act("del") } == "unknown action 'del'; one of: add, list")
    #expect(try fault { try act("") } == "unknown action ''; one of: add, list")
  }

  @Test(arguments: [("ad", "add"), ("lsit", "list"), ("ls", "list"), ("register", "add")])
  func `the error for a mistyped action suggests the right one`(_ word: String, _ name: String) throws {
    #expect(try fault { try act(word) } == "unknown action '\(word)'; did you mean '\(name)'?")
  }

  @Test func `an option of another action is an error`() throws {
    #expect(try fault { try act("list", "--bio", "x") } == "'--bio' does not go with 'dm-actions list'")
    #expect(try fault { try act("add", "--long") } == "'--long' does not go with 'dm-actions add'")
  }

  @Test(arguments: ["--help", "-h", "--version", "--schema"])
  func `the options that print information about the program need no action`(_ option: String) throws {
    #expect(try act(option).action == nil)
  }

  @Test(arguments: [
    "--store=/x", "--as=bob", "--json", "--text", "--quiet", "-q", "--schema", "--help", "-h", "--version",
  ])
  func `every program has the common options`(_ option: String) throws {
    _ = try parse(option)
  }
}
