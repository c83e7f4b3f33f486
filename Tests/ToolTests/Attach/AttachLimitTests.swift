import Foundation
import Glibc
import Testing

/// The folders that `dm-attach --get` may write to, the maximum size of a file, and the folders that are synced.
struct AttachLimitTests {
  /// A store in which alice has sent bob an attachment, by default with the name of the database file.
  private func planted(_ name: String = "dm.sqlite") throws -> ToolFixture {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let line = try f.done(
      "dm-attach", ["--as-file", "--name", name, "--to", "bob", "-"], as: "alice", stdin: .bytes(Array("gone".utf8)))
    try f.done("dm-send", ["-q"], as: "alice", stdin: .bytes(line.output))
    return f
  }

  /// The files of the store, except those that SQLite creates when it reads.
  private func files(_ f: ToolFixture) throws -> String {
    try f.done("sh", ["-c", "cd \"$0\" && find . -type f ! -name '*-wal' ! -name '*-shm' | sort", f.store]).stdout
  }

  @Test(arguments: ["", "--force"], ["cd \"$DM_STORE\" &&", "-o \"$DM_STORE\"", "-o \"$DM_STORE/new\"", "link"])
  func `dm-attach --get refuses to write into the folder of the store`(force: String, way: String) throws {
    let f = try planted()
    let before = try files(f)
    symlink(f.store, f.directory + "/link")
    let fetch =
      switch way {
      case "link": "dm-attach --get alice:1 \(force) -o '\(f.directory)/link'"
      case _ where way.hasPrefix("cd"): "\(way) dm-attach --get alice:1 \(force)"
      default: "dm-attach --get alice:1 \(force) \(way)"
      }
    let outcome = try f.shell(fetch, as: "bob")
    #expect(outcome.status == .exit(73) && outcome.stderr.contains("inside a store"), "\(outcome.stderr)")
    #expect(try files(f) == before)
    try f.done("dm-doctor", ["check", "--deep"])
  }

  @Test(arguments: ["attachments", "attachments/ab", "live"])
  func `dm-attach --get refuses to write into the attachments and live folders of a store`(folder: String) throws {
    let f = try planted("x")
    try f.done("mkdir", ["-p", "\(f.store)/\(folder)"])
    let outcome = try f.run("dm-attach", ["--get", "alice:1", "-o", "\(f.store)/\(folder)"], as: "bob")
    #expect(outcome.status == .exit(73) && outcome.stderr.contains("inside a store"), "\(outcome.stderr)")
    #expect(try f.done("find", [f.store, "-name", "x"]).stdout == "")
  }

  @Test(arguments: ["dm.sqlite", "store.lock"])
  func `dm-attach --get refuses to write into another store`(mark: String) throws {
    let f = try planted("x")
    let other = f.directory + "/other"
    try f.done("sh", ["-c", "mkdir -p \"$0/notes\" && : >\"$0/\(mark)\"", other])
    #expect(try f.run("dm-attach", ["--get", "alice:1", "-o", other], as: "bob").status == .exit(73))
    // A subfolder that the store does not use may be written to.
    try f.done("dm-attach", ["--get", "alice:1", "-o", other + "/notes"], as: "bob")
  }

  @Test func `a backup refuses to write into the folder of any store`() throws {
    let f = try planted()
    let other = f.directory + "/other"
    try f.done("sh", ["-c", "mkdir \"$0\" && : >\"$0/dm.sqlite\"", other])
    for folder in [f.store, f.store + "/attachments", other] {
      let outcome = try f.run("dm-doctor", ["backup", "--force", folder + "/day"])
      #expect(outcome.status == .exit(73) && outcome.stderr.contains("inside a store"), "\(outcome.stderr)")
    }
  }

  @Test(arguments: ["--max-size 1k", "--max-size 0k --as-file", ""])
  func `a file over --max-size is refused before it is copied`(options: String) throws {
    let f = try planted()
    let size = options.isEmpty ? "4294967297" : "1025"
    try f.done("truncate", ["-s", size, f.directory + "/large"])
    let outcome = try f.shell(
      "strace -f -o '\(f.directory)/calls' -e trace=write dm-attach \(options) '\(f.directory)/large'", as: "alice",
      validatedAs: "dm-attach")
    #expect(outcome.status == .exit(65), "\(outcome.stderr)")
    #expect(outcome.stderr.contains("--max-size"), "\(outcome.stderr)")
    #expect(try f.done("sh", ["-c", "grep -c '= 262144' \"$0/calls\" || :", f.directory]).stdout == "0\n")
    #expect(try f.done("find", [f.store + "/attachments", "-name", ".work-*"]).stdout == "")
  }

  @Test func `a pipe is refused as soon as it has more than --max-size`() throws {
    let f = try planted()
    // The output of yes(1) never ends.
    let outcome = try f.shell("yes | dm-attach --max-size 1M -", as: "alice", validatedAs: "dm-attach")
    #expect(outcome.status == .exit(65) && outcome.stderr.contains("--max-size"), "\(outcome.stderr)")
    try f.done("sh", ["-c", "yes | head -c 1048576 | dm-attach --max-size 1M -"], as: "alice")
    let sent = try f.shell("yes | dm-send bob --max-size 1M --attach -", as: "alice", validatedAs: "dm-send")
    #expect(sent.status == .exit(65) && sent.stderr.contains("--max-size"), "\(sent.stderr)")
  }

  @Test(arguments: [
    "--transcode 18446744073709552M", "--transcode 9223372036854775807M", "--transcode -1M", "--transcode +1M",
    "--transcode M", "--max-size 9223372036854775807T", "--max-size 18446744073709551617k", "--max-size 5",
    "--max-size -1k", "--max-size k", "--max-size=",
  ])
  func `an invalid or too large size for --transcode or --max-size is a usage error`(options: String) throws {
    let f = try planted()
    let outcome = try f.shell("dm-attach \(options) - </dev/null", as: "alice", validatedAs: "dm-attach")
    #expect(outcome.status == .exit(64), "\(outcome.status) \(outcome.stderr)")
  }

  @Test(.enabled(if: CrashTests.canTrace, "needs strace"))
  func `a content folder left by a killed program is synced before the next program answers`() throws {
    let f = try planted()
    // Leaves the folder as a program does that was killed before syncing it. The next content is the same, so it needs
    // this folder.
    try f.done("sh", ["-c", "rm \"$0\"/attachments/*/*", f.store])
    let made = try f.done("find", [f.store + "/attachments", "-mindepth", "1", "-type", "d"]).stdout
    #expect(made.split(separator: "\n").count == 1)
    try f.done(
      "strace",
      [
        "-f", "-y", "-o", f.directory + "/calls", "-e", "trace=fsync", try ToolFixture.executable("dm-attach"),
        "--as-file", "-",
      ],
      as: "alice", stdin: .bytes(Array("gone".utf8)))
    let calls = try f.done("cat", [f.directory + "/calls"]).stdout
    for folder in [made.trimmingCharacters(in: .newlines), f.store + "/attachments", f.store] {
      #expect(calls.contains("<\(folder)>"), "\(folder) in \(calls)")
    }
  }
}
