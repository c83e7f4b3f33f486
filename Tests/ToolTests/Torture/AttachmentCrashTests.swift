import Foundation
import Glibc
import Testing

/// Purges, backups and restores, killed at their system calls: no content that a row names is lost, and a repetition succeeds.
@Suite(.enabled(if: CrashTests.canTrace, "needs strace")) struct AttachmentCrashTests {
  static let calls =
    ["unlink", "rename", "fdatasync"]
    + (Torture.isLong ? ["fsync", "pwrite64", "write", "openat", "mkdir", "ftruncate", "syncfs", "flock", "link"] : [])

  /// A store with the contents of two messages, of a deleted message and of an unsent attachment, and with a work
  /// folder that a killed process left.
  private static let template = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    for (name, bytes) in [("one", 300_000), ("two", 10), ("three", 20)] {
      try f.done("sh", ["-c", "head -c \(bytes) /dev/urandom >'\(f.directory)/\(name)'"])
      let line = try f.done("dm-attach", ["--as-file", "--to", "bob", "\(f.directory)/\(name)"], as: "alice").output
      try f.done("dm-send", ["-q"], as: "alice", stdin: .bytes(line))
    }
    try f.done("dm-edit", ["delete", "-q", "--for-everyone", "bob", "3"], as: "alice")
    try f.done("dm-attach", ["--as-file", "/etc/hostname"], as: "alice")
    _ = try f.sql("UPDATE attachment SET created_at = 1 WHERE message IS NULL")
    // The digest of this row is wrong now, but the row will be removed.
    try f.done(
      "sh", ["-c", "mkdir '\(f.store)/attachments/.work-dead00' && date >'\(f.store)/attachments/.work-dead00/source'"])
    return f
  }

  private func filled() throws -> ToolFixture {
    let f = try ToolFixture(copyOf: Self.template.get())
    try f.age()
    return f
  }

  private func contents(_ f: ToolFixture, _ store: String? = nil) throws -> Int {
    let found = try f.done("find", ["\(store ?? f.store)/attachments", "-type", "f", "-not", "-path", "*/.work-*"])
      .stdout
    return found.split(separator: "\n").count
  }

  /// Runs dm-doctor again and again, killed at its first call, then at its second, until it runs to its end.
  private func killed(
    _ call: String, _ arguments: (ToolFixture) -> [String], on filled: () throws -> ToolFixture,
    then check: (ToolFixture, String) throws -> Void
  ) throws {
    var number = 0
    var isWhole = false
    while !isWhole {
      number += 1
      try #require(number < 3000, "\(call) has no end")
      let f = try filled()
      let words = try f.meddling(call, "signal=SIGKILL:when=\(number)", "dm-doctor") + arguments(f)
      isWhole = try f.run("strace", words, validatedAs: "dm-doctor").status == .exit(0)
      Tally.add(.kills, isWhole ? 0 : 1, in: "doctor")
      try check(f, "\(call) \(number)")
      // Many calls write pages, so only every seventh is tried.
      if call == "pwrite64" { number += 6 }
    }
    print("killed '\(arguments(try filled()).joined(separator: " "))' at \(number - 1) calls of \(call)")
  }

  @Test(arguments: calls)
  func `a killed purge removes no content that is in use, and the next purge removes the rest`(call: String)
    throws
  {
    try killed(call, { _ in ["purge"] }, on: filled) { f, label in
      // The unsent attachment has a wrong time, so its digest is wrong.
      _ = try f.sql("DELETE FROM attachment WHERE message IS NULL")
      try f.done("dm-doctor", ["check", "--deep"])
      try f.done("dm-doctor", ["purge"])
      #expect(try contents(f) == 2, "\(label)")
      #expect(!FileManager.default.fileExists(atPath: f.store + "/attachments/.work-dead00"), "\(label)")
    }
  }

  @Test(arguments: calls)
  func `a killed backup leaves either the previous backup or a complete new one`(call: String) throws {
    let backedUp = {
      let f = try filled()
      _ = try f.sql("DELETE FROM attachment WHERE message IS NULL")
      try f.done("dm-doctor", ["backup", f.directory + "/day"])
      return f
    }
    try killed(call, { ["backup", $0.directory + "/day"] }, on: backedUp) { f, label in
      try f.done("dm-doctor", ["check", "--deep"])
      let copy = f.directory + "/copy"
      try f.done("dm-doctor", ["--store", copy, "restore", f.directory + "/day"])
      try f.done("dm-doctor", ["--store", copy, "check", "--deep"])
      #expect(try contents(f, copy) == 2, "\(label)")
      try f.done("dm-doctor", label.hasSuffix("1") ? ["purge"] : ["backup", f.directory + "/day"])
      try expectNothingLeft(f, label)
    }
  }

  @Test(arguments: calls, [false, true])
  func `a killed restore leaves either a complete store or none`(call: String, isThere: Bool) throws {
    let backup = {
      let f = try filled()
      _ = try f.sql("DELETE FROM attachment WHERE message IS NULL")
      try f.done("dm-doctor", ["backup", f.directory + "/day"])
      try FileManager.default.removeItem(atPath: f.store)
      guard isThere else { return f }
      try f.done("dm-user", ["add", "dave"], as: "dave")
      try f.makeEmpty()
      return f
    }
    try killed(call, { ["restore", $0.directory + "/day"] }, on: backup) { f, label in
      let isAbsent = !FileManager.default.fileExists(atPath: f.store + "/dm.sqlite")
      // The folder of the store is created first.
      let isEmpty = try isAbsent && f.done("find", [f.directory, "-path", "*/store/*"]).stdout.isEmpty
      #expect(isEmpty == isAbsent, "\(label)")
      if !isAbsent { try f.done("dm-doctor", ["check", "--deep"]) }
      if try isAbsent || f.sql("SELECT count(*) FROM message") == "0" {
        try f.done("dm-doctor", ["restore", f.directory + "/day"])
        try f.done("dm-doctor", ["check", "--deep"])
      }
      #expect(try f.sql("SELECT count(*) FROM message") == "3", "\(label)")
      #expect(try contents(f) == 2, "\(label)")
      try f.done("dm-doctor", ["purge"])
      try expectNothingLeft(f, label)
    }
  }

  /// Checks that no temporary folder of a backup or restore is left, and no link to one.
  private func expectNothingLeft(_ f: ToolFixture, _ label: String) throws {
    #expect(try f.done("find", [f.directory, "-name", ".dm-*", "-o", "-name", ".trace-*"]).stdout == "", "\(label)")
  }
}

extension ToolFixture {
  /// Makes all contents two days old.
  func age() throws {
    try done("find", [store + "/attachments", "-type", "f", "-exec", "touch", "-d", "2 days ago", "{}", "+"])
  }
}
