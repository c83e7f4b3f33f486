import Foundation
import Glibc
import JSONSupport
import Testing

/// Tests of the checks that other tests use: each finds the faults that it is for.
@Suite struct SupportTests {
  static let user =
    #"{"type":"user","handle":"bob","shows_presence":true,"sends_read_receipts":false,"created_at":"2026-11-21T14:30:00.000000Z"}"#

  static let faulty: [(name: String, line: String)] = [
    ("an unknown member", user.replacingOccurrences(of: "true,", with: #"true,"odd":1,"#)),
    ("a missing member", user.replacingOccurrences(of: #""shows_presence":true,"#, with: "")),
    ("another type", user.replacingOccurrences(of: #""type":"user""#, with: #""type":"message""#)),
    ("an unknown type", user.replacingOccurrences(of: #""type":"user""#, with: #""type":"odd""#)),
    ("a number for a string", user.replacingOccurrences(of: #""bob""#, with: "7")),
    ("a string for a boolean", user.replacingOccurrences(of: "true", with: #""true""#)),
    ("an empty handle", user.replacingOccurrences(of: "bob", with: "")),
    ("a time of seconds", user.replacingOccurrences(of: ".000000Z", with: "Z")),
    ("a time elsewhere", user.replacingOccurrences(of: "Z", with: "+00:00")),
    (
      "another order",
      #"{"type":"user","shows_presence":true,"handle":"bob","created_at":"2026-11-21T14:30:00.000000Z"}"#
    ),
    (
      "the type not first",
      #"{"handle":"bob","type":"user","shows_presence":true,"created_at":"2026-11-21T14:30:00.000000Z"}"#
    ),
    ("a member twice", user.replacingOccurrences(of: "true,", with: #"true,"handle":"bob","#)),
    ("white space", user.replacingOccurrences(of: ",", with: ", ")),
    ("null for absent", user.replacingOccurrences(of: "true,", with: #"true,"bio":null,"#)),
    ("a raw C1", user.replacingOccurrences(of: "bob", with: "b\u{9B}b")),
    ("a raw U+2028", user.replacingOccurrences(of: "bob", with: "b\u{2028}b")),
    ("a raw U+FEFF", user.replacingOccurrences(of: "bob", with: "\u{FEFF}bob")),
    ("a raw bidi control", user.replacingOccurrences(of: "bob", with: "b\u{202E}b")),
    ("a raw tab", user.replacingOccurrences(of: "bob", with: "b\tb")),
    ("DEL", user.replacingOccurrences(of: "bob", with: "b\u{7F}b")),
    ("NUL", user.replacingOccurrences(of: "bob", with: "b\0b")),
    ("half a line", String(user.dropLast())),
    ("more after it", user + "x"),
    ("nothing", ""),
  ]

  @Test func `the validator finds no fault in a valid line`() throws {
    #expect(try Contract.faults(in: Array(Self.user.utf8), Contract.schema(of: "dm-user")).isEmpty)
  }

  @Test(arguments: faulty)
  func `the validator finds a fault in each invalid line`(name: String, line: String) throws {
    #expect(try !Contract.faults(in: Array(line.utf8), Contract.schema(of: "dm-user")).isEmpty)
  }

  @Test func `the validator reports bytes that are not UTF-8`() throws {
    let line = Array(Self.user.utf8).map { $0 == UInt8(ascii: "o") ? 0xFF : $0 }
    #expect(try !Contract.faults(in: line, Contract.schema(of: "dm-user")).isEmpty)
  }

  @Test func `the validator reports an unknown keyword in a schema`() throws {
    let schema = SchemaValidator(try JSON(Array(#"{"pattern":"x"}"#.utf8)))
    #expect(!schema.faults(in: .string("x")).isEmpty)
  }

  @Test func `the outcome of a run is its exit status, its signal, or that it did not end in time`() throws {
    let f = try ToolFixture()
    #expect(try f.shell("exit 7").status == .exit(7))
    #expect(try f.shell("kill -9 $$").status == .signal(SIGKILL))
    #expect(try f.run("cat", stdin: .file("/dev/zero"), stdout: "/dev/null", seconds: 0.2).status == .overdue)
    #expect(try f.shell("echo out; echo err >&2").stdout == "out\n")
    #expect(try f.shell("head -c 300000 /dev/zero | tr '\\0' x").output.count == 300_000)
    #expect(
      try f.shell("env").stdout.split(separator: "\n").allSatisfy { line in
        ["PATH=", "HOME=", "DM_STORE=", "TZ=", "LC_ALL=", "PWD=", "_=", "SHLVL=", "OLDPWD="].contains {
          line.hasPrefix($0)
        }
      })
  }

  @Test func `the integrity check finds a gap in the message numbers`() throws {
    let f = try ToolFixture.filled()
    try f.checkIntegrity()
    _ = try f.sql("UPDATE message SET seq = 3 WHERE seq = 2")
    #expect(try f.integrity().contains("hole in"))
  }
}
