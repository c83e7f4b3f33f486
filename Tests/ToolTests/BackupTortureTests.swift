import Foundation
import Glibc
import Testing

/// Backups of a store that others write to.
@Suite struct BackupTortureTests {
  /// The ids that a writer was told of, as far as whole lines go.
  private func acknowledged(_ path: String) throws -> Set<String> {
    let bytes = try #require(FileManager.default.contents(atPath: path))
    let whole = bytes[..<(bytes.lastIndex(of: 0x0A) ?? bytes.startIndex)]
    let parts = String(decoding: whole, as: UTF8.self).components(separatedBy: "{\"type\":\"message\",\"id\":\"")
    return Set(parts.dropFirst().map { String($0.prefix(36)) })
  }

  @Test func `a backup holds every message that was acknowledged before it began`() throws {
    let f = try ToolFixture()
    let writers = (1...4).map { "w\($0)" }
    for writer in writers { try f.done("dm-user", ["add", writer], as: writer) }
    try f.done("dm-conversation", ["create", "--title", "all"] + writers.dropFirst(), as: "w1")
    let files = writers.map { "\(f.directory)/\($0).jsonl" }
    for file in files { #expect(FileManager.default.createFile(atPath: file, contents: nil)) }
    // Lone sends, and batches of many.
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
      let known = try files.reduce(into: Set<String>()) { $0.formUnion(try acknowledged($1)) }
      let path = "\(f.directory)/backup.\(number)"
      let record = try f.done("dm-doctor", ["backup", path]).record
      sizes.append(known.count)
      #expect(try #require(record["message_count"]?.int) >= known.count)
      let kept = try f.done("sqlite3", [path, "PRAGMA integrity_check; SELECT lower(hex(uuid)) FROM message"])
      let lines = kept.stdout.split(separator: "\n").map(String.init)
      #expect(lines.first == "ok")
      let missing = Set(known.map { $0.replacingOccurrences(of: "-", with: "") }).subtracting(lines)
      #expect(missing.isEmpty, "backup \(number) lacks \(missing.count) of \(known.count)")
      // It opens, and nothing is wrong with it.
      let copy = "\(f.directory)/copy.\(number)"
      try f.done("dm-doctor", ["--store", copy, "restore", path])
      try f.done("dm-doctor", ["--store", copy, "check", "--deep"])
      #expect(try f.run("dm-list", ["--store", copy], as: "w1").status == .exit(0))
      try FileManager.default.removeItem(atPath: copy)
      try FileManager.default.removeItem(atPath: path)
    }
    #expect(runs.allSatisfy { $0.process.isRunning }, "the writers wrote all the time")
    for run in runs { run.process.send(SIGKILL, toGroup: true) }
    for run in runs { _ = try run.finish() }
    try f.done("dm-doctor", ["check", "--deep"])
  }

  @Test func `a check is not confused by those who write, nor a dump`() throws {
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
