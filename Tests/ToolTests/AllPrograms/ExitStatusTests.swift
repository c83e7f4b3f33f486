import Foundation
import JSONSupport
import Testing

/// A call, and the status with which it ends in the store of `ExitStatusTests.template`.
struct StatusRow: Sendable, CustomTestStringConvertible {
  let status: Int32
  let program: String
  let arguments: [String]
  let user: String
  let input: String

  init(_ status: Int32, _ program: String, _ arguments: [String], as user: String = "alice", _ input: String = "") {
    (self.status, self.program, self.arguments, self.user, self.input) = (status, program, arguments, user, input)
  }

  var testDescription: String { "\(status): \(program) \(arguments.joined(separator: " "))" }
}

@Suite struct ExitStatusTests {
  /// A call for each exit status, except 69, which needs a hub, and 70, which would be a bug.
  ///
  /// Busy stores (75), gaps (76), unwritable output (74) and unusable stores (74, 78) have suites of their own.
  static let rows: [StatusRow] = [
    StatusRow(0, "dm-list", []),
    StatusRow(0, "dm-list", ["--match", "nobody is called like this"]),
    StatusRow(0, "dm-tail", ["bob", "900..999"]),
    StatusRow(0, "dm-read", ["bob", "900..999"]),
    StatusRow(0, "dm-read", ["--everywhere", "--all"]),
    StatusRow(1, "dm-send", [], "no JSON\n"),
    StatusRow(1, "dm-import", [], "no JSON\n"),
    StatusRow(1, "dm-read", [], "no JSON\n"),
    StatusRow(1, "dm-send", ["--lines", "bob"], "\n"),
    StatusRow(1, "dm-preview", [], "no JSON\n"),
    StatusRow(1, "dm-preview", [], #"{"text":"http://127.0.0.1/"}"# + "\n"),
    StatusRow(1, "dm-send", [], #"{"ack":"c1-1"}"# + "\n"),
    StatusRow(64, "dm-list", ["--no-such-option"]),
    StatusRow(67, "dm-list", ["one", "two"]),
    StatusRow(64, "dm-list", ["--limit", "many"]),
    StatusRow(64, "dm-list", ["--archived", "--all"]),
    StatusRow(64, "dm-tail", ["-n"]),
    StatusRow(64, "dm-read", ["--all"]),
    StatusRow(64, "dm-read", ["bob"]),
    StatusRow(64, "dm-read", ["bob", "1", "--all"]),
    StatusRow(64, "dm-read", ["--everywhere"]),
    StatusRow(64, "dm-read", ["bob", "one"]),
    StatusRow(64, "dm-user", []),
    StatusRow(64, "dm-user", ["remove"]),
    StatusRow(64, "dm-user", ["set"]),
    StatusRow(64, "dm-user", ["list", "--bio", "x"]),
    StatusRow(64, "dm-conversation", ["name", "bob"]),
    StatusRow(64, "dm-send", ["--nonce", "n"]),
    StatusRow(64, "dm-import", ["file", "other"]),
    StatusRow(64, "dm-tail", ["-f", "bob", "1..2"]),
    StatusRow(64, "dm-tail", ["-f", "--events", "mesage"]),
    StatusRow(64, "dm-tail", ["--consumer", "new"]),
    StatusRow(64, "dm-tail", ["--ack", "c1-1"]),
    StatusRow(64, "dm-send", ["--skip-failed"]), StatusRow(64, "dm-send", ["--stop-at-failed"]),
    StatusRow(64, "dm-send", ["--consumer", "new", "bob", "text"]),
    StatusRow(0, "dm-usage", ["-"]), StatusRow(1, "dm-usage", [], "no JSON\n"),
    StatusRow(64, "dm-usage", ["FILE", "FILE"]), StatusRow(64, "dm-usage", ["--since", "57"]),
    StatusRow(65, "dm-usage", ["--since", "noon"]), StatusRow(66, "dm-usage", ["/nonexistent"]),
    StatusRow(0, "dm-export", ["bob", "--to", "json", "-"]), StatusRow(64, "dm-export", ["bob", "folder"]),
    StatusRow(64, "dm-export", ["bob", "--to", "html"]), StatusRow(64, "dm-export", ["--to", "pdf", "bob", "-"]),
    StatusRow(64, "dm-export", ["--all", "--to", "html", "bob", "-"]),
    StatusRow(64, "dm-export", ["bob", "--to", "html", "--max-bytes", "1k", "-"]),
    StatusRow(65, "dm-export", ["bob", "--to", "html", "--since", "noon", "-"]),
    StatusRow(66, "dm-export", ["+nowhere", "--to", "html", "-"]),
    StatusRow(67, "dm-export", ["bobo", "--to", "html", "-"]),
    StatusRow(73, "dm-export", ["bob", "--to", "html", "FILE"]),
    StatusRow(73, "dm-export", ["bob", "--to", "html", "/proc/x"]),
    StatusRow(77, "dm-export", ["UUID", "--to", "html", "-"], as: "carol"),
    StatusRow(64, "dm-typing", []),
    StatusRow(64, "dm-preview", ["http://127.0.0.1/"]),
    StatusRow(64, "dm-typing", ["bob", "--", "no-such-command"]),
    StatusRow(64, "dm-read", ["bob", "--all", "--unread", "--delivered"]),
    StatusRow(64, "dm-attach", []),
    StatusRow(64, "dm-attach", ["-", "-"]),
    StatusRow(64, "dm-attach", ["--text", "hi", "-"]),
    StatusRow(64, "dm-attach", ["--name", "a", "FILE", "FILE"]),
    StatusRow(64, "dm-attach", ["--as-file", "--voice", "-"]),
    StatusRow(64, "dm-attach", ["--transcode", "fast", "-"]),
    StatusRow(64, "dm-attach", ["-o", "x", "-"]),
    StatusRow(64, "dm-attach", ["--get", "UUID", "FILE"]),
    StatusRow(64, "dm-attach", ["--get", "UUID", "--list", "bob"]),
    StatusRow(64, "dm-attach", ["--get", "bob:1", "--open", "-o", "x"]),
    StatusRow(64, "dm-attach", ["--list", "bob", "--as-file"]),
    StatusRow(64, "dm-send", ["--attach", "FILE"]),
    StatusRow(64, "dm-send", ["bob", "--as-file", "text"]),
    StatusRow(64, "dm-send", ["bob", "--attach", "FILE", "--draft"]),
    StatusRow(64, "dm-doctor", []),
    StatusRow(64, "dm-doctor", ["heal"]),
    StatusRow(64, "dm-doctor", ["check", "now"]),
    StatusRow(64, "dm-doctor", ["stats", "--deep"]),
    StatusRow(64, "dm-doctor", ["backup"]),
    StatusRow(65, "dm-send", ["", "text"]),
    StatusRow(65, "dm-send", ["bob", ""]),
    StatusRow(73, "dm-send", ["bob", "--nonce", "taken", "another text"]),
    StatusRow(65, "dm-send", ["bob", "--reply-to", "nothing", "text"]),
    StatusRow(65, "dm-user", ["add", "two words"]),
    StatusRow(65, "dm-user", ["add", "@@bob"]),
    StatusRow(65, "dm-list", [], as: "two words"),
    StatusRow(65, "dm-list", ["--after", "nonsense"]),
    StatusRow(65, "dm-tail", ["--since", "nonsense"]),
    StatusRow(65, "dm-tail", ["--cursor", "c1-1"]),
    StatusRow(65, "dm-tail", ["--cursor", "nonsense"]),
    StatusRow(65, "dm-tail", ["--consumer", "bot", "--ack", "nonsense"]),
    StatusRow(65, "dm-tail", ["--consumer", "", "--cursor", "now"]),
    StatusRow(65, "dm-tail", ["-f", "--heartbeat", "soon"]),
    StatusRow(65, "dm-read", ["--everywhere", "--before", "nonsense"]),
    StatusRow(65, "dm-attach", ["--get", "nothing"]),
    StatusRow(65, "dm-attach", ["--to", "", "FILE"]),
    StatusRow(65, "dm-attach", ["/dev/null"]),
    StatusRow(65, "dm-attach", ["/"]),
    StatusRow(65, "dm-send", ["bob", "--attach", "/dev/null"]),
    StatusRow(66, "dm-attach", ["/nonexistent/file"]),
    StatusRow(66, "dm-import", ["/nonexistent/file"]),
    StatusRow(66, "dm-attach", ["--to", "bob", "FILE", "/nonexistent/file"]),
    StatusRow(1, "dm-attach", ["FILE", "/nonexistent/file"]),
    StatusRow(66, "dm-send", ["bob", "--attach", "/nonexistent/file", "text"]),
    StatusRow(66, "dm-attach", ["--get", "01938a00-0000-7000-8000-000000000000"]),
    StatusRow(66, "dm-attach", ["--get", "UUID"]),
    StatusRow(66, "dm-attach", ["--get", "bob:1"]),
    StatusRow(66, "dm-attach", ["--get", "bob:99"]),
    StatusRow(66, "dm-attach", ["--list", "+nowhere"]),
    StatusRow(67, "dm-attach", ["--list", "bobo"]),
    StatusRow(67, "dm-attach", ["FILE"], as: "stranger"),
    StatusRow(77, "dm-attach", ["--list", "UUID"], as: "carol"),
    StatusRow(66, "dm-doctor", ["check", "--store", "/nonexistent/store"]),
    StatusRow(66, "dm-doctor", ["restore", "--store", "/tmp/nonexistent/store", "/nonexistent/file"]),
    StatusRow(73, "dm-doctor", ["restore"], #"{"type":"dump","schema":3}"# + "\n"),
    StatusRow(73, "dm-doctor", ["backup", "/nonexistent/folder/file"]),
    StatusRow(66, "dm-tail", ["+nowhere"]),
    StatusRow(66, "dm-tail", ["+twin"]),
    StatusRow(66, "dm-tail", ["carol"]),
    StatusRow(66, "dm-tail", ["01938a00-0000-7000-8000-000000000000"]),
    StatusRow(66, "dm-send", ["+nowhere", "text"]),
    StatusRow(66, "dm-send", ["bob", "--reply-to", "99", "text"]),
    StatusRow(66, "dm-read", ["--receipts", "bob:99"]),
    StatusRow(66, "dm-conversation", ["show", "+nowhere"]),
    StatusRow(66, "dm-list", ["--store", "/nonexistent/store"]),
    StatusRow(66, "dm-tail", ["--forget", "nobody"]),
    StatusRow(66, "dm-tail", ["--consumer", "nobody", "--ack", "c1-1"]),
    StatusRow(66, "dm-tail", ["-f", "+nowhere"]),
    StatusRow(66, "dm-send", ["--consumer", "nobody"], "{}\n"),
    StatusRow(66, "dm-typing", ["+nowhere", "--on"]),
    StatusRow(67, "dm-send", ["bobo", "text"]),
    StatusRow(67, "dm-tail", ["bobo"]),
    StatusRow(67, "dm-list", [], as: "stranger"),
    StatusRow(67, "dm-send", ["bob", "text"], as: "stranger"),
    StatusRow(67, "dm-user", ["show", "stranger"]),
    StatusRow(67, "dm-user", ["presence", "stranger"]),
    StatusRow(67, "dm-typing", ["bobo"]),
    StatusRow(67, "dm-conversation", ["create", "--title", "x", "stranger"]),
    StatusRow(73, "dm-user", ["add", "bob"]),
    StatusRow(73, "dm-send", ["--store", "/dev/null/store", "alice", "text"]),
    StatusRow(73, "dm-send", ["--store", "/proc/store", "alice", "text"]),
    StatusRow(77, "dm-tail", ["UUID"], as: "carol"),
    StatusRow(77, "dm-send", ["UUID", "text"], as: "carol"),
    StatusRow(77, "dm-read", ["UUID", "--all"], as: "carol"),
    StatusRow(77, "dm-tail", ["-f", "UUID"], as: "carol"),
    StatusRow(77, "dm-typing", ["UUID", "--on"], as: "carol"),
    StatusRow(77, "dm-user", ["presence", "alice"], as: "carol"),
    StatusRow(77, "dm-conversation", ["show", "dm:UUID"], as: "carol"),
    StatusRow(78, "dm-list", ["--store", "/dev/null"]),
  ]

  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    for _ in 1...2 { try f.done("dm-conversation", ["create", "--title", "twin"], as: "alice") }
    try f.done("dm-send", ["bob", "--nonce", "taken", "first"], as: "alice")
    return f
  }

  @Test(arguments: rows)
  func `each call in the table exits with its status`(row: StatusRow) throws {
    let f = try ToolFixture(copyOf: Self.template.get())
    let id = try f.done("dm-conversation", ["show", "bob"], as: "alice").record["id"]?.string ?? ""
    let file = f.directory + "/file"
    try "a file".write(toFile: file, atomically: true, encoding: .utf8)
    let arguments = row.arguments.map {
      $0.replacingOccurrences(of: "UUID", with: id).replacingOccurrences(of: "FILE", with: file)
    }
    let before = try f.sql("SELECT count(*), (SELECT max(rev) FROM change) FROM message")
    let outcome = try f.run(row.program, arguments, as: row.user, stdin: row.input.isEmpty ? .none : Input(row.input))
    #expect(outcome.status == .exit(row.status), "\(outcome.stderr)")
    if row.status != 0 {
      let lines = outcome.stderr.split(separator: "\n")
      #expect(lines.count == 1, "\(outcome.stderr)")
      #expect(outcome.stderr.hasPrefix("\(row.program): "))
      #expect(row.status == 1 || outcome.output.isEmpty)
      #expect(try f.sql("SELECT count(*), (SELECT max(rev) FROM change) FROM message") == before)
    }
  }
}
