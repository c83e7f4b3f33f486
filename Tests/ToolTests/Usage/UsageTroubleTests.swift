import Foundation
import JSONSupport
import Testing

/// A usage log that several programs write, or that cannot be written.
@Suite struct UsageTroubleTests {
  private func fixture() throws -> (f: ToolFixture, log: String) {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let log = f.directory + "/usage.log"
    f.set("DM_USAGE_LOG", log)
    return (f, log)
  }

  @Test func `lines that several programs append at once are whole, and none is lost`() throws {
    let (f, log) = try fixture()
    let loop = "for n in 1 2 3 4 5 6 7 8 9 10; do dm-list --count --as alice; done"
    let outcome = try f.shell("for n in 1 2 3 4 5 6; do (\(loop)) & done; wait")
    #expect(outcome.stderr == "")
    let lines = Contract.lines(of: try Array(Data(contentsOf: URL(filePath: log))))
    #expect(try lines.count == 60 && lines.allSatisfy { try JSON($0.bytes)["act"]?.string == "opened" })
  }

  @Test(.enabled(if: ToolFixture.has("strace"), "needs strace"))
  func `a line is one write to the end of the file, and costs four system calls`() throws {
    let (f, log) = try fixture()
    /// The calls of `dm-list` on files and descriptors.
    func calls() throws -> [Substring] {
      let trace = f.directory + "/trace"
      try f.done(
        "strace", ["-f", "-s", "1000", "-o", trace, "-e", "trace=%file,%desc", "dm-list", "--count"], as: "alice")
      return try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    }
    let calls = (try calls(), f.set("DM_USAGE_LOG", nil), try calls())
    let writes = calls.0.filter { $0.contains("write(") && $0.contains(#"\"duration_us\""#) }
    #expect(
      writes.count == 1 && writes[0].contains(#""{\"type\":\"usage\""#) && writes[0].contains(#"}\n""#), "\(writes)")
    let opened = calls.0.filter { $0.contains("\"\(log)\"") }
    #expect(opened.count == 1 && opened[0].contains("O_APPEND"), "\(opened)")
    // The line costs an open, a stat, a write and a close.
    #expect(calls.0.count == calls.2.count + 4)
  }

  @Test func `a new log can be accessed only by its owner, and a log is never emptied`() throws {
    let (f, log) = try fixture()
    for _ in 1...2 { try f.done("dm-list", as: "alice") }
    #expect(try f.done("stat", ["-c", "%a", log]).stdout == "600\n")
    #expect(try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").count == 2)
  }

  @Test(arguments: [
    ("a folder that does not exist", "DM_USAGE_LOG=$D/none/log", "No such file or directory"),
    ("a folder", "mkdir $D/folder; DM_USAGE_LOG=$D/folder", "Is a directory"),
    ("a symbolic link", "ln -s target $D/link; DM_USAGE_LOG=$D/link", "Too many levels of symbolic links"),
    ("a FIFO that nobody reads", "mkfifo $D/fifo; DM_USAGE_LOG=$D/fifo", "No such device or address"),
    ("a FIFO", "mkfifo $D/fifo; exec 9<>$D/fifo; DM_USAGE_LOG=$D/fifo", "is not a regular file"),
    ("a device", "DM_USAGE_LOG=/dev/full", "is not a regular file"),
    // The limit of the size of files stands for a full disk. The store stays below the limit.
    ("a full disk", "DM_USAGE_LOG=$D/log; truncate -s 8M $D/log; ulimit -f 8192", "File too large"),
    ("a name that is not UTF-8", "DM_USAGE_LOG=$(printf '$D/\\377')", "is not UTF-8"),
  ])
  func `a log that cannot be written causes one warning, and changes no result`(
    trouble: (name: String, script: String, reason: String)
  ) throws {
    let (f, _) = try fixture()
    f.set("DM_USAGE_LOG", nil)
    f.set("D", f.directory)
    let script = "\(trouble.script); export DM_USAGE_LOG; "
    let sent = try f.shell(script + "dm-send bob hello", as: "alice", validatedAs: "dm-send")
    #expect(try sent.status == .exit(0) && sent.record["text"]?.string == "hello")
    // This run has two acts.
    let read = try f.shell("rm -rf $D/folder $D/link $D/fifo; " + script + "dm-tail --unread --read", as: "bob")
    #expect(try read.status == .exit(0) && read.record["text"]?.string == "hello")
    for (program, outcome) in [("dm-send", sent), ("dm-tail", read)] {
      #expect(outcome.stderr.split(separator: "\n").count == 1, "\(outcome.stderr)")
      #expect(outcome.stderr.hasPrefix("\(program): ") && outcome.stderr.contains(trouble.reason), "\(outcome.stderr)")
    }
    let failed = try f.shell(script + "dm-send nobody hello", as: "alice")
    #expect(failed.status == .exit(67))
    #expect(!FileManager.default.fileExists(atPath: f.directory + "/target"))
  }

  @Test(.enabled(if: ToolFixture.has("script"), "needs script"))
  func `the warning of a window is printed after the window has closed`() throws {
    let (f, _) = try fixture()
    f.set("DM_USAGE_LOG", f.directory + "/none/log")
    f.set("TERM", "xterm")
    let script = "printf 'hello\\r\\004' | script -qec 'dm-chat bob' /dev/null"
    // The window ends by turning off bracketed paste.
    let parts = try f.shell(script, as: "alice").stdout.components(separatedBy: "\u{1B}[?2004l")
    #expect(parts.dropLast().allSatisfy { !$0.contains("usage log") })
    #expect(parts.last?.components(separatedBy: "dm-chat: cannot write the usage log").count == 2, "\(parts)")
  }
}
