import Foundation
import Testing

@testable import TestSupport

/// The files that `make install` installs, and `dm`, the one executable that contains all programs.
@Suite struct InstallationTests {
  @Test(arguments: ToolFixture.programs + ToolFixture.hubPrograms)
  func `dm with an action runs the program of that action`(program: String) throws {
    let f = try ToolFixture()
    let action = String(program.dropFirst(3))
    #expect(try f.done("dm", [action, "--version"]).stdout == f.done(program, ["--version"]).stdout)
    #expect(try f.done("dm", [action, "--help"]).stdout == f.done(program, ["--help"]).stdout)
  }

  @Test func `dm exits with the status and error of the program that it runs`() throws {
    let wrong = try ToolFixture().run("dm", ["sync", "status"])
    #expect(wrong.status == .exit(66) && wrong.stderr.hasPrefix("dm-sync: "), "\(wrong.stderr)")
  }

  @Test func `dm lists every program, and suggests the right action for a misspelled one`() throws {
    let f = try ToolFixture()
    let list = try f.done("dm").stdout
    for program in ToolFixture.programs + ToolFixture.hubPrograms {
      #expect(list.contains("\n  dm \(program.dropFirst(3)) "), "\(program)")
    }
    let wrong = try f.run("dm", ["sned", "bob", "hi"])
    #expect(wrong.status == .exit(64) && wrong.stderr == "dm: unknown action 'sned'; did you mean 'send'?\n")
    let late = try f.run("dm", ["--text", "send", "bob", "hi"])
    #expect(late.status == .exit(64) && late.stderr.contains("comes first"), "\(late.stderr)")
  }

  @Test func `arguments reach a program through dm byte for byte`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let text = "$(touch x) `y` \u{1F44D} 'quoted' -- --text"
    let sent = try f.shell("dm send bob --json -- '\(text.replacingOccurrences(of: "'", with: #"'\''"#))'", as: "alice")
    #expect(sent.status == .exit(0), "\(sent.stderr)")
    #expect(try f.sql("SELECT text FROM message") == text)
    let broken = try f.shell("dm send bob \"$(printf 'a\\377')\"", as: "alice")
    #expect(broken.status == .exit(65) && broken.stderr.contains("the argument 2 is not UTF-8"), "\(broken.stderr)")
  }

  @Test func `dm tour runs to its end, keeps its store, and runs again only with --again`() throws {
    let f = try ToolFixture()
    f.set("DM_USER", "somebody")
    let first = try f.run("dm", ["tour"])
    #expect(first.status == .exit(0), "\(first.stderr)")
    #expect(first.stdout.contains("$ dm-list --as bob --count\n3\n") && first.stdout.contains("it is "))
    #expect(first.stdout.contains("export DM_STORE=") && !first.stdout.contains(" --text\n"))
    #expect(try !FileManager.default.fileExists(atPath: f.store) && f.count(in: f.store + "-tour") == "3")
    let second = try f.run("dm", ["tour"])
    #expect(second.status == .exit(73) && second.stderr.contains("dm tour --again"), "\(second.stderr)")
    #expect(try f.run("dm", ["tour", "--again"]).status == .exit(0))
  }

  @Test func `the output of each command suggests the next command, until a first message is answered`() throws {
    let f = try ToolFixture()
    f.set("DM_STORE", nil)
    let outcome = try f.run("\(repository)/Tests/packages/first-answer")
    #expect(outcome.status == .exit(0), "\(outcome.stdout)\(outcome.stderr)")
    #expect(outcome.stdout.hasSuffix("5 commands\n"))
  }

  @Test func `dm help shows the manual page of a program`() throws {
    let f = try ToolFixture()
    f.set("MANPATH", nil)
    let shown = try f.shell("man() { echo \"page $*\"; }; dm help nothing")
    #expect(shown.status == .exit(64) && shown.stderr.contains("there is no program 'nothing'"), "\(shown.stderr)")
    let bin = f.directory + "/bin"
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(atPath: bin + "/man", withDestinationPath: "/bin/echo")
    for (words, page) in [("send", "1 dm-send"), ("dm-hub", "8 dm-hub"), ("tutorial", "7 dm-tutorial"), ("", "7 dm")] {
      #expect(try f.shell("PATH='\(bin)':$PATH dm help \(words)").stdout == page + "\n")
    }
  }

  private static let isBuilt = FileManager.default.fileExists(atPath: "\(repository)/bin/dm")

  @Test(.enabled(if: isBuilt, "there is no bin/; 'make build' makes one"))
  func `an installation works, takes under 15 MB, and is completely removed by uninstall`() throws {
    let f = try ToolFixture()
    let root = f.directory + "/root"
    func make(_ target: String) throws {
      try f.done("make", ["-s", "-C", repository, target, "DESTDIR=\(root)", "PREFIX=/usr"])
    }
    try make("install")
    let kibibytes = try f.done("du", ["-sk", root]).stdout.prefix { $0.isNumber }
    #expect(try #require(Int(kibibytes)) * 1024 < 15_000_000)
    for program in ToolFixture.programs + ToolFixture.hubPrograms {
      #expect(try f.done("\(root)/usr/bin/\(program)", ["--version"]).stdout.hasPrefix("\(program) "))
      #expect(FileManager.default.fileExists(atPath: "\(root)/usr/share/\(pagePath(program))"))
    }
    try make("uninstall")
    #expect(try f.shell("find '\(root)' ! -type d").stdout == "")
  }

  private func pagePath(_ program: String) -> String {
    let page = ToolFixture.page(of: program)
    return "man/man\(page.suffix(1))/" + page.dropFirst("man/".count) + ".gz"
  }
}

extension ToolFixture {
  fileprivate func count(in store: String) throws -> String {
    try done("sqlite3", [store + "/dm.sqlite", "SELECT count(*) FROM user"]).stdout
      .trimmingCharacters(in: .newlines)
  }
}
