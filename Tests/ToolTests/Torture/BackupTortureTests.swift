import Foundation
import Glibc
import JSONSupport
import Testing

/// Backups of a store that others write to.
@Suite struct BackupTortureTests {
  /// The ids of the messages in the complete lines of a writer's output.
  private func acknowledged(_ path: String) throws -> Set<String> {
    let bytes = try #require(FileManager.default.contents(atPath: path))
    let whole = bytes[..<(bytes.lastIndex(of: 0x0A) ?? bytes.startIndex)]
    let parts = String(decoding: whole, as: UTF8.self).components(separatedBy: "{\"type\":\"message\",\"id\":\"")
    return Set(parts.dropFirst().map { String($0.prefix(36)) })
  }

  @Test func `a backup has every message that was acknowledged before the backup began`() throws {
    let f = try ToolFixture()
    let writers = (1...4).map { "w\($0)" }
    for writer in writers { try f.done("dm-user", ["add", writer], as: writer) }
    try f.done("dm-conversation", ["create", "--title", "all"] + writers.dropFirst(), as: "w1")
    let files = writers.map { "\(f.directory)/\($0).jsonl" }
    for file in files { #expect(FileManager.default.createFile(atPath: file, contents: nil)) }
    // Two writers send single messages, and two send batches.
    let runs = try zip(writers, files).enumerated().map { index, writer in
      let script =
        index < 2
        ? "n=0; while n=$((n + 1)); do dm-send +all \"$n \(writer.0)\"; done"
        : "while :; do seq 1 20 | dm-send --lines +all; done"
      return try f.start("sh", ["-c", script], as: writer.0, stdout: writer.1)
    }
    defer { for run in runs { run.process.send(SIGKILL, toGroup: true) } }
    var sizes: [Int] = []
    for number in 1...Torture.size(4, long: 20) {
      let before = sizes.last ?? 0
      try Torture.wait(until: "the writers have gone on", seconds: 60) {
        try files.reduce(0) { $0 + (try acknowledged($1).count) } > before + 50
      }
      let ids = try files.reduce(into: Set<String>()) { $0.formUnion(try acknowledged($1)) }
      let path = "\(f.directory)/backup.\(number)"
      let record = try f.done("dm-doctor", ["backup", path]).record
      sizes.append(ids.count)
      #expect(try #require(record["message_count"]?.int) >= ids.count)
      let kept = try f.done("sqlite3", [path, "PRAGMA integrity_check; SELECT lower(hex(uuid)) FROM message"])
      let lines = kept.stdout.split(separator: "\n").map(String.init)
      #expect(lines.first == "ok")
      let missing = Set(ids.map { $0.replacingOccurrences(of: "-", with: "") }).subtracting(lines)
      #expect(missing.isEmpty, "backup \(number) lacks \(missing.count) of \(ids.count)")
      // The backup can be restored, and has no faults.
      let copy = "\(f.directory)/copy.\(number)"
      try f.done("dm-doctor", ["--store", copy, "restore", path])
      try f.done("dm-doctor", ["--store", copy, "check", "--deep"])
      #expect(try f.run("dm-list", ["--store", copy], as: "w1").status == .exit(0))
      try FileManager.default.removeItem(atPath: copy)
      try FileManager.default.removeItem(atPath: path)
    }
    #expect(runs.allSatisfy { $0.process.isRunning }, "a writer has ended")
    for run in runs { run.process.send(SIGKILL, toGroup: true) }
    for run in runs { _ = try run.finish() }
    try f.done("dm-doctor", ["check", "--deep"])
  }

  @Test func `a backup has all sent attachments, whatever is attached, deleted and purged meanwhile`() throws {
    let f = try ToolFixture()
    let writers = (1...4).map { "w\($0)" }
    for writer in writers { try f.done("dm-user", ["add", writer], as: writer) }
    try f.done("dm-conversation", ["create", "--title", "all"] + writers.dropFirst(), as: "w1")
    let runs = try writers.enumerated().map { index, writer in
      // Two writers attach new contents, and two attach one of the same five; every third message is deleted.
      let file = index < 2 ? "head -c 3000 /dev/urandom" : "echo $((n % 5))"
      let script = """
        n=0; while n=$((n + 1)); do \(file) | dm-attach --as-file --name f - --to +all | dm-send | cut -d '"' -f 8 >'\(f.directory)/\(writer)'; [ $((n % 3)) -gt 0 ] ||
        dm-edit delete -q --for-everyone "$(cat '\(f.directory)/\(writer)')"; done
        """
      return try f.start("sh", ["-c", script], as: writer)
    }
    // Makes all contents old enough to be removed, so that only the correct order of steps protects the contents in
    // use.
    let purge = """
      while :; do find '\(f.store)/attachments' -type f -exec touch -d '2 days ago' {} + 2>/dev/null; dm-doctor purge; done
      """
    let purges = try f.start("sh", ["-c", purge])
    defer { for run in runs + [purges] { run.process.send(SIGKILL, toGroup: true) } }
    try Torture.wait(until: "the first have said something", seconds: 60) {
      try f.sql("SELECT count(*) FROM attachment") > "3"
    }
    for number in 1...Torture.size(2, long: 25) {
      let path = "\(f.directory)/backup.\(number)"
      try f.done("dm-doctor", ["backup", path])
      let copy = "\(f.directory)/copy.\(number)"
      try f.done("dm-doctor", ["--store", copy, "restore", path])
      try f.done("dm-doctor", ["--store", copy, "check", "--deep"])
      try FileManager.default.removeItem(atPath: copy)
      let dumped = try f.shell("dm-doctor dump | dm-doctor --store '\(copy)' restore")
      #expect(dumped.status == .exit(0), "\(dumped.stderr)")
      try f.done("dm-doctor", ["--store", copy, "check", "--deep"])
      // The test goes on after a finding, so that the last check shows whether the store has that fault at rest.
      let check = try f.run("dm-doctor", ["check", "--deep"])
      #expect(check.status == .exit(0), "\(check.stdout)\(check.stderr)")
      try FileManager.default.removeItem(atPath: copy)
      try FileManager.default.removeItem(atPath: path)
    }
    #expect((runs + [purges]).allSatisfy { $0.process.isRunning })
    for run in runs + [purges] { run.process.send(SIGKILL, toGroup: true) }
    for run in runs { _ = try run.finish() }
    let removed = try purges.finish().stdout.matches(of: /"contents_count":([0-9]+)/).reduce(0) {
      $0 + (Int($1.1) ?? 0)
    }
    #expect(removed > 0, "the purges removed nothing")
    #expect(try f.sql("SELECT count(*) > 0 FROM message WHERE deleted_at IS NOT NULL") == "1")
    print("purges removed \(removed) contents beside \(try f.sql("SELECT count(*) FROM message")) messages")
    try f.done("dm-doctor", ["check", "--deep"])
  }

  @Test func `a check and a dump are not disturbed by concurrent writers`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let script = "while :; do seq 1 20 | dm-send -q --lines bob; dm-read --as bob -q alice --all; done"
    let writer = try f.start("sh", ["-c", script], as: "alice")
    defer { writer.process.send(SIGKILL, toGroup: true) }
    try Torture.wait(until: "there is something to look at") {
      try f.run("dm-list", ["--count"], as: "bob").stdout != "0\n"
    }
    for _ in 0..<Torture.size(5, long: 20) {
      let check = try f.run("dm-doctor", ["check", "--deep"])
      #expect(check.status == .exit(0), "\(check.stdout)\(check.stderr)")
      let copy = "\(f.directory)/copy"
      let restored = try f.shell("dm-doctor dump | dm-doctor --store '\(copy)' restore")
      #expect(restored.status == .exit(0), "\(restored.stderr)")
      try f.done("dm-doctor", ["--store", copy, "check", "--deep"])
      try FileManager.default.removeItem(atPath: copy)
    }
    #expect(writer.process.isRunning)
  }
}
