import DMKit
import Foundation
import Glibc
import JSONSupport
import Testing

@testable import DMCLI
@testable import TestSupport

/// The configuration file, as the programs use it.
@Suite struct ConfigurationTests {
  private func fixture(_ lines: String) throws -> ToolFixture {
    let f = try ToolFixture()
    try configure(f, lines)
    return f
  }

  private func path(_ f: ToolFixture) -> String { f.directory + "/home/.config/dm/config" }

  private func configure(_ f: ToolFixture, _ lines: String) throws {
    let folder = f.directory + "/home/.config/dm"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Data(lines.utf8).write(to: URL(filePath: path(f)))
  }

  @Test func `a section may have the name of each program`() {
    #expect(Set(SettingsFile.programs) == Set(ToolFixture.programs + ToolFixture.hubPrograms))
  }

  @Test(arguments: Setting.allCases)
  func `a program accepts each word that a setting may have, in the file and in its variable`(setting: Setting) throws {
    guard case .words(let words) = setting.kind else { return }
    for word in words {
      let f = try fixture("\(setting.name) = \(word)\n")
      #expect(try f.run("sh", ["-c", "dm-list --text"]).status == .exit(66), "\(word)")
      f.set(setting.variables[0], word)
      #expect(try f.run("sh", ["-c", "dm-list --text --no-config"]).status == .exit(66), "\(word)")
    }
  }

  @Test func `the environment wins over the file, and options win over both`() throws {
    let f = try fixture("user = bob\n[dm-list]\nuser = carol\n")
    try f.addUsers("alice", "bob", "carol")
    func user(_ program: String, _ words: String...) throws -> String? {
      try f.done(program, words).record["sender"]?.string
    }
    #expect(try user("dm-send", "alice", "hi") == "bob")
    #expect(try user("dm-send", "--as", "carol", "alice", "hi") == "carol")
    f.set("DM_USER", "alice")
    #expect(try user("dm-send", "bob", "hi") == "alice")
    f.set("DM_USER", nil)
    #expect(try f.done("dm-list").record["participants"]?.array.contains { $0.string == "carol" } == true)
    #expect(try user("dm-send", "--no-config", "--as", "bob", "alice", "hi") == "bob")
  }

  @Test func `text is the form in a pipe if the file or the environment says so`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    try configure(f, "pipe = text\n")
    _ = try f.shell("dm-send alice lunch", as: "bob")
    #expect(try f.shell("dm-tail bob --peek | grep -c lunch", as: "alice").stdout == "1\n")
    #expect(try f.shell("dm-tail bob --peek", as: "alice").stdout.contains("{") == false)
    #expect(try f.shell("dm-tail bob --peek --json", as: "alice").stdout.hasPrefix("{\"type\":\"message\""))
    f.set("DM_PIPE", "json")
    #expect(try f.shell("dm-tail bob --peek", as: "alice").stdout.hasPrefix("{\"type\":\"message\""))
    try configure(f, "")
    f.set("DM_PIPE", "text")
    #expect(try f.shell("dm-tail bob --peek", as: "alice").stdout.contains("{") == false)
    f.set("DM_PIPE", "xml")
    let wrong = try f.shell("dm-tail bob --peek", as: "alice")
    #expect(wrong.status == .exit(64), "\(wrong.stderr)")
    #expect(wrong.stderr == "dm-tail: 'xml' is not a value of DM_PIPE; write json or text, or leave it out\n")
  }

  @Test func `a program that cron or systemd starts sees the file`() throws {
    let f = try ToolFixture()
    try configure(f, "user = bob\nstore = ~/messages\n")
    let run = "env -i HOME='\(f.directory)/home' PATH=\"$PATH\""
    let sent = try f.shell("\(run) dm-user add bob -q && \(run) dm-send bob note | jq -r .sender")
    #expect(sent.stdout == "bob\n", "\(sent.stderr)")
    #expect(FileManager.default.fileExists(atPath: f.directory + "/home/messages/dm.sqlite"))
    // Without HOME, the path is that of the account. The file may exist there, and its lines do not matter here.
    let home = try #require(getpwuid(geteuid()).map { String(cString: $0.pointee.pw_dir) })
    let first = try f.shell("env -i PATH=\"$PATH\" dm config --text 2>/dev/null | head -n 1").stdout
    #expect(first.contains("\(home)/.config/dm/config"), "\(first)")
  }

  @Test func `colors of the file are used in a pipe, unless the environment or an option decides`() throws {
    let f = try fixture("color = always\ntheme = mono\n")
    try f.addUsers("alice", "bob")
    try f.done("dm-send", ["alice", "lunch"], as: "bob")
    func isColored(_ words: String) throws -> Bool {
      try f.shell("\(words) dm-tail bob --peek --text", as: "alice").stdout.contains("\u{1B}[")
    }
    #expect(try isColored(""))
    #expect(try !isColored("NO_COLOR=1"))
    #expect(try !f.shell("dm-tail bob --peek --text --color auto", as: "alice").stdout.contains("\u{1B}["))
    try configure(f, "color = never")
    #expect(try isColored("CLICOLOR_FORCE=1"))
  }

  @Test(arguments: [
    (0o666, "can be written by every user; remove that with 'chmod o-w'"), (0o002, "can be written by every user"),
  ])
  func `a file that every user can write is refused`(row: (mode: mode_t, reason: String)) throws {
    let f = try fixture("user = bob\n")
    chmod(path(f), row.mode)
    let outcome = try f.run("dm-list")
    #expect(outcome.status == .exit(64) && outcome.stderr.contains("dm-list: '\(path(f))' \(row.reason)"))
    #expect(try f.run("dm-list", ["--no-config"], as: "bob").status == .exit(66))
    chmod(path(f), 0o644)
    #expect(try f.run("dm-list").status == .exit(66))
  }

  @Test(.enabled(if: geteuid() == 0, "needs root")) func `a file of another account is refused`() throws {
    let f = try fixture("user = bob\n")
    chown(path(f), 12345, 12345)
    let outcome = try f.run("dm-list")
    #expect(outcome.status == .exit(64) && outcome.stderr.contains("belongs to another user"), "\(outcome.stderr)")
  }

  @Test func `an error about an option of the file names its line`() throws {
    let f = try fixture("[dm-read]\nall = on\n")
    let outcome = try f.run("dm-read", ["bob", "1"], as: "alice")
    #expect(outcome.status == .exit(64), "\(outcome.stderr)")
    #expect(outcome.stderr.contains("; '--all' is from line 2 of '\(path(f))'"), "\(outcome.stderr)")
  }

  @Test func `a wrong line is an error with its number, except for help, versions and completions`() throws {
    let f = try fixture("user = alice\n\nstroe = /srv/dm\n")
    for program in ToolFixture.programs + ToolFixture.hubPrograms {
      let outcome = try f.run(program, [], stdin: .none)
      #expect(outcome.status == .exit(64), "\(program)")
      let isAction = outcome.stderr.contains("missing action")
      let text = "\(program): line 3 of '\(path(f))': there is no setting 'stroe'; did you mean 'store'?\n"
      #expect(isAction || outcome.stderr == text, "\(outcome.stderr)")
      for word in ["--help", "--version", "--schema"] { try f.done(program, [word]) }
    }
    #expect(try f.done("dm-list", ["--complete", "fish", "--unr"]).stdout.contains("--unread"))
    #expect(try f.done("dm", ["--help"]).stdout.contains("config"))
  }

  @Test func `completions are those of the user and the store of the file`() throws {
    let f = try fixture("user = bob\nstore = ~/messages\n")
    f.set("DM_STORE", nil)
    try f.addUsers("bob", "carol")
    try f.done("dm-send", ["carol", "hi"])
    #expect(try f.done("dm-tail", ["--complete", "fish", ""]).stdout.hasPrefix("words\ncarol\t"))
  }

  @Test func `a program reads the file with one open and one read`() throws {
    let f = try fixture("user = bob\npipe = text\n[dm-list]\nlimit = 5\n")
    let trace = f.directory + "/trace"
    let outcome = try f.shell("strace -f -o '\(trace)' dm-list --count 2>&1 || true")
    guard FileManager.default.fileExists(atPath: trace) else {
      print("skipped: there is no strace here: \(outcome.stdout)")
      return
    }
    let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    let opened = try #require(calls.firstIndex { $0.contains("/.config/dm/config\"") })
    #expect(calls.count { $0.contains("/.config/dm/config\"") } == 1)
    let closed = try #require(calls[opened...].firstIndex { $0.contains("close(") })
    #expect(calls[opened...closed].count { $0.contains("read") } == 1, "\(calls[opened...closed])")
    // The others are fstat(2) and geteuid(2).
    #expect(closed - opened <= 4, "\(calls[opened...closed])")
  }
}
