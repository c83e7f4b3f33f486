import DMKit
import Testing

@testable import DMCLI

/// The options that a section of the configuration file gives.
struct DefaultOptionTests {
  private static let limit = Option("limit", short: "n", count: "N", "a count")
  private static let all = Flag("all", "a flag that excludes the count")
  private static let read = Flag("read", "a flag")
  private static let x = Flag(nil, short: "x", "a letter")
  private static let bio = Option("bio", value: "TEXT", "a text of an action")

  private static let command = Command(
    "dm-tail", "be an example", synopsis: [""], options: [limit, all, read, x], rules: [.excludes(limit, [all])],
    examples: [], writes: [])
  private static let withActions = Command(
    "dm-user", "be an example with actions", synopsis: ["add", "list"],
    subcommands: [
      Command.Subcommand("add", operands: "NAME", "add one", options: [bio]) { _ in },
      Command.Subcommand("list", "list all", options: [read]) { _ in },
    ], examples: [], writes: [])

  private func file(_ lines: String) -> SettingsFile { SettingsFile(Array(lines.utf8), path: "/config") }

  private func arguments(_ words: String..., lines: String) throws -> Arguments {
    var arguments = try Arguments(words, for: Self.command)
    _ = arguments.addDefaults(file("[dm-tail]\n\(lines)").lines)
    return arguments
  }

  @Test func `an option of the file counts unless the command line has it`() throws {
    #expect(try arguments(lines: "limit = 5")[Self.limit] == 5)
    #expect(try arguments("-n", "7", lines: "limit = 5")[Self.limit] == 7)
    #expect(try arguments(lines: "limit = 5\nlimit = 6")[Self.limit] == 6)
  }

  @Test func `a flag is on or off`() throws {
    #expect(try arguments(lines: "read = on\nx = on")[Self.read])
    #expect(try arguments(lines: "read = on\nx = on")[Self.x])
    #expect(try !arguments(lines: "read = off")[Self.read])
  }

  @Test func `an option of the file gives way to an option of the command line that excludes it`() throws {
    let made = try arguments("--all", lines: "limit = 5\nread = on")
    #expect(try made[Self.limit] == nil && made[Self.all] && made[Self.read])
  }

  @Test func `an option of an action counts for that action only`() throws {
    let lines = file("[dm-user]\nbio = hello\nread = on").lines
    var add = try Arguments(["add", "bob"], for: Self.withActions)
    #expect(add.addDefaults(lines).map(\.name) == ["bio"])
    var list = try Arguments(["list"], for: Self.withActions)
    #expect(list.addDefaults(lines).map(\.name) == ["read"])
  }

  @Test(arguments: [
    ("[dm-tail]\nlimti = 5", "'dm-tail' has no option 'limti'; did you mean 'limit'?"),
    ("[dm-tail]\nlimit = many", "'many' is not a number, which --limit needs; give one, or 'all'"),
    ("[dm-tail]\nread = yes", "'yes' is not a value of 'read'; write on or off"),
    ("[dm-tail]\nas = bob", "'as' is not a default; write 'user = NAME'"),
    ("[dm-tail]\ntext = on", "'text' is not a default; write 'pipe = text'"),
    ("[dm-tail]\nusre = bob", "'dm-tail' has no option 'usre'; did you mean 'user'?"),
    ("[dm-tial]\nlimit = 5", "a section has the name of a program; did you mean 'dm-tail'?: 'dm-tial' is none"),
    ("usr = bob\n[dm-tail]", "there is no setting 'usr'; did you mean 'user'?"),
    ("[dm-tail]\nuser = two words", nil), ("[dm-tail]\nlimit = 5\nuser = bob\nquiet = on", nil),
    ("[dm-send]\nnonsense = 5", nil),
  ])
  func `a line that is wrong for a program is a fault that says what to write`(row: (text: String, clause: String?)) {
    let clauses = file(row.text).faults(for: [Self.command]).map(\.clause)
    if row.text.contains("two words") { return #expect(clauses.count == 1) }
    #expect(clauses == (row.clause.map { [$0] } ?? []))
  }
}
