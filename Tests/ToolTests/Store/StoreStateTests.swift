import Foundation
import Glibc
import JSONSupport
import Testing

/// Stores that are absent, invalid, too new, read-only or on a network file system.
@Suite struct StoreStateTests {
  /// Calls that read or write a store.
  static let calls: [(program: String, arguments: [String])] = [
    ("dm-list", []), ("dm-list", ["--count"]), ("dm-tail", []), ("dm-tail", ["bob"]), ("dm-read", ["bob", "--all"]),
    ("dm-send", ["bob", "text"]), ("dm-user", ["list"]), ("dm-user", ["add", "dave"]),
    ("dm-conversation", ["show", "bob"]),
  ]

  private func expectRefusal(_ f: ToolFixture, _ status: Int32, at location: SourceLocation = #_sourceLocation) throws {
    for call in Self.calls {
      let outcome = try f.run(call.program, call.arguments, as: "alice")
      #expect(outcome.status == .exit(status), "\(call): \(outcome.stderr)", sourceLocation: location)
      #expect(outcome.output.isEmpty, sourceLocation: location)
      #expect(outcome.stderr.hasPrefix("\(call.program): "), sourceLocation: location)
    }
  }

  @Test func `an absent default store counts as empty, and a write creates it for its owner only`() throws {
    let f = try ToolFixture()
    f.set("DM_STORE", nil)
    #expect(try f.done("dm-list").output.isEmpty)
    #expect(try f.done("dm-list", ["--count"]).stdout == "0\n")
    #expect(try f.done("dm-tail").output.isEmpty)
    #expect(try f.done("dm-user", ["list"]).output.isEmpty)
    let folder = f.directory + "/home/.local/share/dm"
    #expect(!FileManager.default.fileExists(atPath: folder), "reading creates nothing")
    try f.done("dm-send", ["root", "note"], as: "root")
    let files = ["dm.sqlite", "dm.sqlite-wal", "store.lock"].map { "\(folder)/\($0)" }
    let modes = try f.done("stat", ["-c", "%a %n", folder] + files)
    #expect(modes.stdout.split(separator: "\n").map { $0.prefix(3) } == ["700", "600", "600", "600"])
  }

  @Test func `XDG_DATA_HOME sets the folder of the default store, unless it is a relative path`() throws {
    let f = try ToolFixture()
    f.set("DM_STORE", nil)
    f.set("XDG_DATA_HOME", f.directory + "/data")
    try f.done("dm-user", ["add", "bob"])
    #expect(FileManager.default.fileExists(atPath: f.directory + "/data/dm/dm.sqlite"))
    f.set("XDG_DATA_HOME", "data")
    try f.done("dm-user", ["add", "bob"])
    #expect(FileManager.default.fileExists(atPath: f.directory + "/home/.local/share/dm/dm.sqlite"))
  }

  @Test(arguments: ["000", "022", "077"])
  func `only the owner can access a store, whatever the umask`(mask: String) throws {
    let f = try ToolFixture()
    #expect(try f.shell("umask \(mask); dm-user add alice", as: "alice").status == .exit(0))
    let modes = try f.shell("stat -c %a '\(f.store)' '\(f.store)'/*").stdout.split(separator: "\n")
    #expect(modes.first == "700")
    #expect(modes.dropFirst().allSatisfy { $0 == "600" }, "\(modes)")
  }

  @Test func `an absent named store is created only by writing`() throws {
    let reading = [
      ("dm-list", []), ("dm-list", ["--count"]), ("dm-tail", []), ("dm-user", ["list"]), ("dm-tail", ["bob"]),
    ]
    for call in reading {
      let f = try ToolFixture()
      let outcome = try f.run(call.0, call.1, as: "alice")
      #expect(outcome.status == .exit(66), "\(call): \(outcome.stderr)")
      #expect(outcome.output.isEmpty)
      #expect(!FileManager.default.fileExists(atPath: f.store))
    }
    let writing = [
      ("dm-send", ["alice", "note"]), ("dm-user", ["add", "bob"]), ("dm-conversation", ["create", "alice"]),
    ]
    for call in writing {
      let f = try ToolFixture()
      try f.done(call.0, call.1, as: "alice")
      #expect(FileManager.default.fileExists(atPath: f.store + "/dm.sqlite"))
    }
  }

  @Test func `a store of a newer version is refused and not changed`() throws {
    let f = try ToolFixture.filled()
    #expect(try f.sql("PRAGMA user_version = 99") == "")
    try expectRefusal(f, 78)
    #expect(try f.sql("PRAGMA user_version; SELECT count(*) FROM message") == "99\n2")
  }

  @Test func `a running program does not write to its store after the store got a newer version`() throws {
    let f = try ToolFixture.filled()
    let live = try LiveProcess(f, "dm-send", as: "alice")
    try live.send(JSON.line(["conversation": "bob", "text": "before"]))
    #expect(try live.record()["seq"]?.int == 3)
    _ = try f.sql("PRAGMA user_version = 99")
    try live.send(JSON.line(["conversation": "bob", "text": "after"]))
    #expect(live.finish().status == .exit(78))
    #expect(try f.sql("SELECT count(*) FROM message") == "3")
  }

  @Test(arguments: ["a text that is no database\n", "SQLite format 4"])
  func `a file that is not a database is refused and not changed`(beginning: String) throws {
    let content = beginning + String(repeating: "\0", count: 4096)
    let f = try ToolFixture()
    try f.done("mkdir", [f.store])
    let path = f.store + "/dm.sqlite"
    try content.write(toFile: path, atomically: true, encoding: .utf8)
    try expectRefusal(f, 78)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == content)
  }

  @Test(
    arguments: ["PRAGMA application_id = 42; CREATE TABLE t (a);", "CREATE TABLE t (a);", "PRAGMA user_version = 1;"])
  func `the database of another program is refused and not changed`(sql: String) throws {
    let f = try ToolFixture()
    try f.done("mkdir", [f.store])
    _ = try f.sql(sql)
    let before = try Data(contentsOf: URL(fileURLWithPath: f.store + "/dm.sqlite"))
    try expectRefusal(f, 78)
    #expect(try Data(contentsOf: URL(fileURLWithPath: f.store + "/dm.sqlite")) == before)
  }

  @Test func `a store whose folder is a file, or whose database is a folder or a pipe, is refused`() throws {
    let f = try ToolFixture()
    try "x".write(toFile: f.store, atomically: true, encoding: .utf8)
    try expectRefusal(f, 78)
    for command in ["mkdir", "mkfifo"] {
      let g = try ToolFixture()
      try g.done("mkdir", [g.store])
      try g.done(command, [g.store + "/dm.sqlite"])
      try expectRefusal(g, 78)
    }
  }

  /// The types of NFS, SMB, CIFS and 9P in statfs(2).
  static let remote = [0x6969, 0x517B, 0xFF53_4D42, 0x0102_1997]

  @Test(.enabled(if: ToolFixture.has("cc"), "needs a C compiler"), arguments: remote)
  func `a network file system is refused`(kind: Int) throws {
    let f = try ToolFixture.filled()
    let source = f.directory + "/shim.c"
    try """
    #include <stddef.h>
    #include <sys/statfs.h>
    #include <string.h>
    int statfs(const char *p, struct statfs *s) { memset(s, 0, sizeof *s); s->f_type = \(kind); return 0; }
    int statfs64(const char *p, struct statfs64 *s) { return statfs(p, (struct statfs *)s); }
    """.write(toFile: source, atomically: true, encoding: .utf8)
    try f.done("cc", ["-shared", "-fPIC", "-D_GNU_SOURCE", "-o", f.directory + "/shim.so", source])
    f.set("LD_PRELOAD", f.directory + "/shim.so")
    try expectRefusal(f, 78)
    f.set("DM_STORE", f.directory + "/new")
    #expect(try f.run("dm-send", ["bob", "text"], as: "alice").status == .exit(78))
    #expect(!FileManager.default.fileExists(atPath: f.directory + "/new/dm.sqlite"))
  }

  /// Whether the tests can run a program as a user who may not write to a store.
  static let canBecomeNobody = geteuid() == 0 && ToolFixture.has("setpriv")

  private func nobody(_ f: ToolFixture, _ program: String, _ arguments: [String]) throws -> Outcome {
    let copy = "\(f.directory)/\(program)"
    if !FileManager.default.fileExists(atPath: copy) {
      try f.done("install", ["-m", "755", "\(ToolFixture.binaries)/\(program)", copy])
    }
    return try f.run(
      "setpriv", ["--reuid", "65534", "--regid", "65534", "--clear-groups", copy] + arguments, as: "alice",
      validatedAs: arguments.contains("--count") ? nil : program)
  }

  /// Makes a store read-only for all users.
  ///
  /// - Returns: a writer that opened the store before, so that its shared memory file exists.
  private func readOnly(_ f: ToolFixture) throws -> LiveProcess {
    try f.done("chmod", ["755", f.directory])
    let writer = try LiveProcess(f, "dm-send", as: "alice")
    try writer.send(JSON.line(["conversation": "bob", "text": "three"]))
    _ = try writer.record()
    try f.done("chmod", ["-R", "a+rX,a-w", f.store])
    return writer
  }

  @Test(.enabled(if: canBecomeNobody, "needs root and setpriv"))
  func `a read-only store can be read, and writing to it gives an error that says so`() throws {
    let f = try ToolFixture.filled()
    let writer = try readOnly(f)
    #expect(try nobody(f, "dm-list", []).record["unread_count"]?.int == 2)
    #expect(try nobody(f, "dm-list", ["--count"]).stdout == "2\n")
    let tail = try nobody(f, "dm-tail", ["bob"])
    #expect(tail.status == .exit(0), "\(tail.stderr)")
    #expect(try tail.records.count == 3)
    let writing = [("dm-send", ["bob", "text"]), ("dm-read", ["bob", "--all"]), ("dm-user", ["add", "dave"])]
    for (program, arguments) in writing {
      let outcome = try nobody(f, program, arguments)
      #expect(outcome.status == .exit(74), "\(program): \(outcome.stderr)")
      #expect(outcome.stderr.contains("permission") || outcome.stderr.contains("Permission"), "\(outcome.stderr)")
      #expect(outcome.output.isEmpty)
    }
    #expect(writer.finish().status == .exit(0))
    #expect(try f.sql("SELECT count(*) FROM message") == "3")
  }

  @Test(.enabled(if: canBecomeNobody, "needs root and setpriv"))
  func `reading a read-only store without its shared memory file gives an error that says what to do`() throws {
    let f = try ToolFixture.filled()
    try f.done("chmod", ["755", f.directory])
    try f.done("rm", ["-f", f.store + "/dm.sqlite-shm"])
    try f.done("chmod", ["-R", "a+rX,a-w", f.store])
    let outcome = try nobody(f, "dm-list", [])
    #expect(outcome.status == .exit(74), "\(outcome.stderr)")
    #expect(outcome.stderr.contains("open it once where it can be written"), "\(outcome.stderr)")
  }

  @Test(.enabled(if: canBecomeNobody, "needs root and setpriv"))
  func `a dump of a read-only store uses TMPDIR and says so, and fails without TMPDIR`() throws {
    let f = try ToolFixture.filled()
    let writer = try readOnly(f)
    let refused = try nobody(f, "dm-doctor", ["dump"])
    #expect(refused.status == .exit(73), "\(refused.stderr)")
    #expect(refused.stderr.contains("TMPDIR") && refused.output.isEmpty, "\(refused.stderr)")
    let spare = f.directory + "/spare"
    try f.done("mkdir", ["-m", "777", spare])
    f.set("TMPDIR", spare)
    let dumped = try nobody(f, "dm-doctor", ["dump"])
    #expect(dumped.status == .exit(0), "\(dumped.stderr)")
    #expect(dumped.stderr.contains("'\(spare)'"), "\(dumped.stderr)")
    #expect(try dumped.records.last?["type"]?.string == "dump_end")
    #expect(try FileManager.default.contentsOfDirectory(atPath: spare) == [])
    #expect(writer.finish().status == .exit(0))
  }

  @Test(.enabled(if: CrashTests.canTrace, "needs strace"))
  func `stats, purge and restore fail if the folder of the contents cannot be read`() throws {
    let f = try ToolFixture.filled()
    try f.done("sh", ["-c", "echo content | dm-send bob --attach -"], as: "alice")
    let backup = f.directory + "/backup"
    try f.done("dm-doctor", ["backup", backup])
    for action in ["stats", "purge"] {
      let words = try f.meddling("getdents64", "error=EIO", "dm-doctor") + [action]
      #expect(try f.run("strace", words, validatedAs: "dm-doctor").status == .exit(74), "\(action)")
    }
    // A restore into an empty store copies the contents one by one.
    try FileManager.default.removeItem(atPath: f.store)
    try f.done("dm-user", ["add", "dave"], as: "dave")
    try f.makeEmpty()
    let words = try f.meddling("getdents64", "error=EIO", "dm-doctor") + ["restore", backup]
    let outcome = try f.run("strace", words, validatedAs: "dm-doctor")
    #expect(outcome.status == .exit(74), "\(outcome.stderr)")
    #expect(try f.sql("SELECT count(*) FROM message") == "0")
    try f.done("dm-doctor", ["restore", backup])
    try f.done("dm-doctor", ["check", "--deep"])
  }
}
