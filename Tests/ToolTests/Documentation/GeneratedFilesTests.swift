import DMKit
import Foundation
import Testing

@testable import TestSupport

/// Compares the generated files and the documentation with the programs.
@Suite struct GeneratedFilesTests {
  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(repository)/\(path)", encoding: .utf8)
  }

  @Test(arguments: [("bash", "bash/dm"), ("zsh", "zsh/_dm"), ("fish", "fish/dm.fish")])
  func `the completion file of each shell names all programs`(shell: (name: String, file: String)) throws {
    let script = try text("completions/\(shell.file)")
    let words = Set(script.split { " \n\\".contains($0) }.map(String.init))
    #expect(words.isSuperset(of: ["dm"] + ToolFixture.programs + ToolFixture.hubPrograms))
    let read = try ToolFixture().run(shell.name, ["-n", "\(repository)/completions/\(shell.file)"])
    #expect(read.status == .exit(0) && read.stderr.isEmpty, "\(read.stderr)")
  }

  @Test(.enabled(if: ToolFixture.has("jq"), "needs jq"))
  func `the list of the public API matches the sources, and each declaration has a comment`() throws {
    let outcome = try ToolFixture().run("sh", ["\(repository)/.ci/api", ToolFixture.built, "DMKit"], seconds: 60)
    #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    #expect(try text("docs/api/DMKit.txt") == outcome.stdout, "stale; run 'make generate'")
    #expect(outcome.stdout.split(separator: "\n").filter { $0.hasSuffix("// no comment") } == [])
  }

  @Test(.enabled(if: ToolFixture.has("docc"), "needs docc")) func `docc has no warning about the documentation`() throws
  {
    let f = try ToolFixture()
    let outcome = try f.run("sh", ["\(repository)/.ci/docs", ToolFixture.built, f.directory + "/docs"], seconds: 60)
    #expect(outcome.status == .exit(0), "\(outcome.stdout)\(outcome.stderr)")
  }

  /// The options that a help lists, such as `--limit N` or `-n N`: the program's own, and the common ones, which the help of
  /// `dm` explains and others only name.
  private func options(ofHelp help: String) throws -> (own: Set<String>, common: Set<String>) {
    var own: Set<String> = []
    var common: Set<String> = []
    var isCommon = false
    for line in help.split(separator: "\n") {
      if line.hasPrefix("Common options") { isCommon = true }
      if line.hasPrefix("Examples:") { break }
      // The names and the placeholder of an option end at two spaces or at the end of the line.
      let row = line.drop { $0 == " " }
      guard line.hasPrefix("  "), row.hasPrefix("-") else { continue }
      let left = row.components(separatedBy: "  ")[0]
      // A row of names, which another action explains, is indented like an explanation.
      if line.hasPrefix(String(repeating: " ", count: 28)) { continue }
      if isCommon { common.insert(left) } else { own.insert(left) }
    }
    return (own, common)
  }

  /// The options that a page lists as items: `.It Fl q , Fl Fl quiet`, `.It Fl Fl limit Ar N`.
  private func options(ofPage page: String) -> Set<String> {
    var found: Set<String> = []
    for line in page.split(separator: "\n") where line.hasPrefix(".It Fl ") {
      var words: [String] = []
      var dashes = ""
      for word in line.dropFirst(4).split(separator: " ") {
        switch word {
        case "Fl": dashes += "-"
        case "Ar": break
        case ",": if let last = words.popLast() { words.append(last + ",") }
        default:
          words.append(dashes + word)
          dashes = ""
        }
      }
      found.insert(words.joined(separator: " "))
    }
    return found
  }

  @Test(arguments: ToolFixture.programs + ToolFixture.hubPrograms)
  func `the manual page of a program lists exactly its options`(program: String) throws {
    let f = try ToolFixture()
    let own = try options(ofHelp: f.done(program, ["--help"]).stdout).own
    let common = try options(ofHelp: f.done("dm", ["--help"]).stdout).common
    #expect(options(ofPage: try text(ToolFixture.page(of: program))).subtracting(common) == own.subtracting(common))
    #expect(options(ofPage: try text("man/dm.7")).isSuperset(of: common))
    #expect(!common.isEmpty)
  }

  @Test(arguments: ToolFixture.programs + ToolFixture.hubPrograms)
  func `the manual page of a program has its sections in order`(program: String) throws {
    let page = try text(ToolFixture.page(of: program))
    let sections = page.split(separator: "\n").filter { $0.hasPrefix(".Sh ") }.map { String($0.dropFirst(4)) }
    let required = ["NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
    #expect(sections.filter(required.contains) == required)
    #expect(sections.first == "NAME")
    #expect(sections.last == "SEE ALSO")
    #expect(page.contains(".Nm \(program)\n"))
  }

  static let pages =
    (ToolFixture.programs + ToolFixture.hubPrograms).map(ToolFixture.page) + [
      "man/dm.7", "man/dm-config.5", "man/dm-protocol.5", "man/dm-store.5",
    ]

  @Test(.enabled(if: ToolFixture.has("groff"), "needs groff"), arguments: pages)
  func `groff has no warning about a manual page`(page: String) throws {
    let outcome = try ToolFixture().run("groff", ["-mdoc", "-Tutf8", "-ww", "-z", "\(repository)/\(page)"])
    #expect(outcome.status == .exit(0))
    #expect(outcome.stderr.isEmpty, "\(outcome.stderr)")
    #expect(outcome.output.isEmpty)
  }

  @Test(arguments: (RecordSchema.outputs + RecordSchema.inputs).map(\.name))
  func `dm-protocol lists the fields of each record in order, and marks the optional ones`(record: String) throws {
    let schema = try #require(RecordSchema.named(record))
    var fields: [String] = []
    var isInside = false
    var headings = 0
    for line in try text("man/dm-protocol.5").split(separator: "\n") {
      if line.hasPrefix(".Ss ") || line.hasPrefix(".Sh ") { isInside = line == ".Ss \(record)" }
      if line == ".Ss \(record)" { headings += 1 }
      if isInside, line.hasPrefix(".It Va ") { fields.append(String(line.dropFirst(".It Va ".count))) }
    }
    #expect(headings == 1)
    #expect(fields == schema.fields.map { $0.isOptional ? $0.name + " Pq optional" : $0.name })
  }

  @Test func `dm-protocol and dm list every error code and exit status`() throws {
    let protocolPage = try text("man/dm-protocol.5")
    for code in DMError.Code.allCases {
      #expect(protocolPage.contains(" \(code.rawValue)\n"), "\(code.rawValue) is not documented")
    }
    let overview = try text("man/dm.7")
    for status in [0, 1, 64, 65, 66, 67, 69, 70, 73, 74, 75, 77, 78] {
      #expect(overview.contains("It \(status)\n"), "\(status) is not documented")
    }
  }

  @Test func `the first version in CHANGELOG is the version of every program`() throws {
    let log = try text("CHANGELOG.md")
    let heading = try #require(log.split(separator: "\n").first { $0.hasPrefix("## ") })
    let f = try ToolFixture()
    for program in ToolFixture.programs {
      let words = try f.done(program, ["--version"]).stdout.split(separator: " ")
      try #require(words.count == 2)
      let version = words[1].trimmingCharacters(in: .newlines)
      #expect(heading.dropFirst(3).split { " []".contains($0) }.first.map(String.init) == version, "\(heading)")
    }
  }
}
