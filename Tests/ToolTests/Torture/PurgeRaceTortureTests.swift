import Foundation
import Glibc
import JSONSupport
import Testing

/// Purges while other programs send, forward, attach, back up, restore, dump and follow: nothing acknowledged is lost.
@Suite(.serialized, .enabled(if: CrashTests.canTrace, "needs strace")) struct PurgeRaceTortureTests {
  private static let suite = "purge-races"

  /// A command that makes all contents old enough to be removed, so that only references keep them.
  private static let aging = "find \"$DM_STORE/attachments\" -type f -exec touch -d '2 days ago' {} + 2>/dev/null"

  /// Users who use the same few contents again and again.
  private static let writers: [(user: String, script: String)] = [
    // Prepares and sends contents that other messages also have.
    ("alice", "echo content $((n % 3)) | dm-attach --as-file --name f - --to bob | dm-send"),
    // Forwards messages of alice while alice deletes them.
    ("bob", "dm-send --forward alice:-1 carol"),
    ("carol", "dm-send bob \"text $n\"; echo $n | dm-attach --as-file --name own - --to bob | dm-send"),
    ("alice", "dm-edit delete -q --for-everyone bob:-1 >&2"),
  ]

  private func start(_ f: ToolFixture, _ writer: (user: String, script: String), _ path: String) throws
    -> ToolFixture.Running
  {
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    let loop = "n=0; while n=$((n + 1)); do \(writer.script); done"
    return try f.start("sh", ["-c", loop], as: writer.user, stdout: path)
  }

  /// The messages in a writer's output.
  private func received(_ path: String) throws -> [JSON] {
    let bytes = try #require(FileManager.default.contents(atPath: path))
    let whole = bytes[..<(bytes.lastIndex(of: 0x0A).map { $0 + 1 } ?? bytes.startIndex)]
    return try Contract.lines(of: Array(whole)).map { try JSON($0.bytes) }.filter { $0["type"]?.string == "message" }
  }

  @Test func `messages that are sent or forwarded during purges keep their attachments`() throws {
    var dice = Dice()
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol")
    try f.done("dm-send", ["-q", "bob", "hello"], as: "alice")
    let paths = Self.writers.indices.map { "\(f.directory)/told.\($0)" }
    let writers = try zip(Self.writers, paths).map { try start(f, $0, $1) }
    let purge = "while :; do \(Self.aging); dm-doctor purge; done"
    let purges = try f.start("sh", ["-c", purge], as: "alice")
    let follower = try f.start(
      "dm-tail", ["-f", "--consumer", "c", "--cursor", "start"], as: "bob", stdout: try Self.file(f, "followed"),
      validatedAs: nil)
    let all = writers + [purges, follower]
    defer { for run in all { run.process.send(SIGKILL, toGroup: true) } }
    var tries = Torture.Tries(3, seconds: 120)
    var rounds = 0
    while tries.goOn() {
      rounds += 1
      // Messages that were acknowledged before a copy began must be in the copy.
      let before = try paths.flatMap(received)
      try Torture.wait(until: "they have gone on", seconds: 60) { try paths.flatMap(received).count > before.count + 3 }
      let ids = try paths.flatMap(received).compactMap { $0["id"]?.string }
      let copy = "\(f.directory)/copy"
      if dice.happens(oneIn: 2) {
        let path = "\(f.directory)/backup"
        try f.done("dm-doctor", ["backup", "-q", "--force", path])
        try f.done("dm-doctor", ["--store", copy, "restore", "-q", path])
      } else {
        let dumped = try f.shell("dm-doctor dump | dm-doctor --store '\(copy)' restore -q")
        #expect(dumped.status == .exit(0), "\(dumped.stderr)")
      }
      try f.done("dm-doctor", ["--store", copy, "check", "--deep"])
      let kept = try f.done("sqlite3", [copy + "/dm.sqlite", "SELECT lower(hex(uuid)) FROM message"]).stdout
      let missing = Set(ids.map { $0.replacingOccurrences(of: "-", with: "") }).subtracting(
        kept.split(separator: "\n").map(String.init))
      Tally.add(.lost, missing.count, in: Self.suite)
      #expect(missing.isEmpty, "\(missing.count) of \(ids.count) are not in the copy, DM_SEED=\(dice.seed)")
      try FileManager.default.removeItem(atPath: copy)
      let check = try f.run("dm-doctor", ["check", "--deep"])
      #expect(check.status == .exit(0), "\(check.stdout)\(check.stderr), DM_SEED=\(dice.seed)")
    }
    #expect(all.allSatisfy { $0.process.isRunning })
    for run in all { run.process.send(SIGKILL, toGroup: true) }
    for run in all { _ = try run.finish() }
    try f.done("dm-doctor", ["check", "--deep"])
    let messages = try paths.flatMap(received)
    let removed = try f.sql("SELECT count(*) FROM message WHERE deleted_at IS NOT NULL")
    try checkThere(messages, f)
    let followed = try received("\(f.directory)/followed").compactMap { $0["id"]?.string }
    Tally.add(.doubled, followed.count - Set(followed).count, in: Self.suite)
    #expect(followed.count == Set(followed).count, "the follower printed a message twice")
    Tally.add(.races, messages.count, in: Self.suite)
    print("\(rounds) copies beside \(messages.count) messages, of which \(removed) were deleted")
  }

  private static func file(_ f: ToolFixture, _ name: String) throws -> String {
    let path = "\(f.directory)/\(name)"
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    return path
  }

  /// Checks that each message exists, with its attachments unless it was deleted.
  private func checkThere(_ messages: [JSON], _ f: ToolFixture) throws {
    let rows = try f.sql("SELECT lower(hex(uuid)), attachment_count, deleted_at IS NOT NULL FROM message")
    var found: [Substring: [Substring]] = [:]
    for row in rows.split(separator: "\n").map({ $0.split(separator: "|") }) { found[row[0]] = row }
    for message in messages {
      let id = try #require(message["id"]?.string).replacingOccurrences(of: "-", with: "")
      let row = found[Substring(id)]
      let count = message["attachments"]?.array.count ?? 0
      let isThere = row.map { $0[2] == "1" || Int($0[1]) == count } ?? false
      Tally.add(.lost, isThere ? 0 : 1, in: Self.suite)
      #expect(isThere, "\(id) \(row ?? []) DM_SEED=\(Dice.seed)")
    }
  }

  @Test func `a purge keeps an attachment that is sent or forwarded just before it would be removed`() throws {
    var dice = Dice(1)
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    var tries = Torture.Tries(34, seconds: 120)
    var round = 0
    var sent = 0
    while tries.goOn() {
      round += 1
      // The content belongs to a deleted message, or to a message that is deleted while bob forwards it.
      let file = "\(f.directory)/file"
      try "content \(round)".write(toFile: file, atomically: true, encoding: .utf8)
      let line = try f.done("dm-attach", ["--as-file", "--to", "bob", file], as: "alice").output
      let first = try f.done("dm-send", as: "alice", stdin: .bytes(line)).record
      let id = try #require(first["id"]?.string)
      let isForwarded = dice.happens(oneIn: 2)
      if !isForwarded { try f.done("dm-edit", ["delete", "-q", "--for-everyone", id], as: "alice") }
      try f.done("sh", ["-c", Self.aging], as: "alice")
      let (n, user) = ("n\(round)", isForwarded ? "bob" : "alice")
      let words = isForwarded ? ["--forward", id] : ["--as-file", "--attach", file]
      // The purge is delayed at a random system call, so that the other programs run between any two of its calls.
      let (call, number) = (dice.pick(["flock", "fcntl", "unlink", "getdents64", "openat"]), dice.number(1...30))
      let held = try f.meddling(call, "delay_enter=150000:when=\(number)", "dm-doctor") + ["purge", "-q"]
      let purge = try f.start("strace", held, as: "alice")
      let send = try f.start("dm-send", [user == "bob" ? "alice" : "bob", "--nonce", n] + words, as: user)
      let deletion = try isForwarded ? f.start("dm-edit", ["delete", "-q", "--for-everyone", id], as: "alice") : nil
      #expect(try purge.finish().status == .exit(0))
      let outcome = try send.finish()
      _ = try deletion?.finish()
      Tally.add(.races, in: Self.suite)
      if outcome.status == .exit(0) {
        sent += 1
        let record = try outcome.record
        let there = try #require(record["attachments"]?.array.first?["id"]?.string)
        let fetched = try f.run("dm-attach", ["--get", there, "-o", "\(f.directory)/got", "--force", "-q"], as: user)
        let isThere = try fetched.status == .exit(0) && f.run("cmp", [file, "\(f.directory)/got"]).status == .exit(0)
        Tally.add(.lost, isThere ? 0 : 1, in: Self.suite)
        #expect(isThere, "round \(round): \(fetched.stderr) DM_SEED=\(dice.seed)")
      } else {
        // The message may be deleted before it is forwarded.
        #expect(isForwarded && outcome.status == .exit(66), "round \(round): \(outcome.stderr) DM_SEED=\(dice.seed)")
      }
      if round % 10 == 0 { try f.done("dm-doctor", ["check", "--deep"]) }
    }
    #expect(sent > 0)
    try f.done("dm-doctor", ["check", "--deep"])
  }
}
