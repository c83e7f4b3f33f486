import Foundation
import JSONSupport
import Testing

@testable import TestSupport

/// Many processes at once on one store.
@Suite(.serialized) struct RaceTests {
  @Test func `fifty processes that write to a new store at the same time create one store`() throws {
    let f = try ToolFixture()
    let lines = (1...50).map { JSON.line(["conversation": "zed", "text": "\($0)", "nonce": "n\($0)"]) }
    // One process creates the user, and the others find the same user.
    let runs = try lines.map { try f.start("dm-send", as: "zed", stdin: Input(lines: [$0])) }
    for run in runs {
      let outcome = try run.finish()
      #expect(outcome.status == .exit(0), "\(outcome.stderr)")
      #expect(try outcome.record["type"]?.string == "message")
    }
    #expect(try f.sql("SELECT count(*), count(DISTINCT nonce), max(seq) FROM message") == "50|50|50")
    #expect(try f.sql("SELECT (SELECT count(*) FROM store), (SELECT count(*) FROM user)") == "1|1")
    #expect(try f.sql("PRAGMA journal_mode") == "wal")
    try f.checkIntegrity()
  }

  @Test func `readers that start while the store is created find it absent, empty or complete`() throws {
    let f = try ToolFixture()
    var runs: [ToolFixture.Running] = []
    for number in 1...12 {
      runs.append(try f.start("dm-send", ["zed", "\(number)"], as: "zed"))
      runs.append(try f.start("dm-list", as: "zed"))
      runs.append(try f.start("dm-tail", ["-n", "all"], as: "zed"))
    }
    for (index, run) in runs.enumerated() {
      let outcome = try run.finish()
      if index % 3 == 0 {
        #expect(outcome.status == .exit(0), "\(outcome.stderr)")
      } else {
        // The status is 66 while the store is absent, and 67 while it has no users.
        #expect([.exit(0), .exit(66), .exit(67)].contains(outcome.status), "\(outcome.stderr)")
      }
    }
    #expect(try f.sql("SELECT count(*) FROM message") == "12")
    try f.checkIntegrity()
  }

  @Test func `twenty processes that start at the same time migrate a store of version 1 and lose nothing`() throws {
    let f = try ToolFixture()
    try FileManager.default.createDirectory(atPath: f.store, withIntermediateDirectories: false)
    _ = try f.sql(String(decoding: fixture("v1.sql"), as: UTF8.self))
    let said = try f.sql("SELECT group_concat(hex(uuid) || text, ' ') FROM message")
    let log = try f.sql("SELECT count(*) FROM change")
    var runs: [ToolFixture.Running] = []
    for number in 1...5 {
      runs.append(try f.start("dm-send", ["alice", "new \(number)"], as: "bob"))
      runs.append(try f.start("dm-list", as: "bob"))
      runs.append(try f.start("dm-tail", ["--cursor", "start", "--peek"], as: "carol"))
      runs.append(try f.start("dm-tail", ["--consumer", "bot\(number)", "--cursor", "now"], as: "bob"))
    }
    for run in runs {
      let outcome = try run.finish()
      #expect(outcome.status == .exit(0), "\(outcome.stderr)")
    }
    let new = try ToolFixture()
    try new.addUsers("alice")
    #expect(try f.sql("PRAGMA user_version") == new.sql("PRAGMA user_version"))
    #expect(try f.sql("SELECT group_concat(hex(uuid) || text, ' ') FROM message WHERE text NOT LIKE 'new%'") == said)
    #expect(try f.sql("SELECT count(*), max(seq) FROM message WHERE conversation = 1") == "8|8")
    #expect(try f.sql("SELECT count(*) FROM change") == "\(try #require(Int(log)) + 5)")
    #expect(try f.sql("SELECT count(*) FROM consumer") == "5")
    try f.checkIntegrity()
  }

  @Test func `two users who write to each other at the same time have one conversation`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let runs = try (1...20).map { number in
      let (from, to) = number % 2 == 0 ? ("alice", "bob") : ("bob", "alice")
      return try f.start("dm-send", [to, "\(number)"], as: from)
    }
    var ids: Set<String> = []
    for run in runs {
      let outcome = try run.finish()
      #expect(outcome.status == .exit(0), "\(outcome.stderr)")
      ids.insert(try #require(try outcome.record["conversation_id"]?.string))
    }
    #expect(ids.count == 1)
    #expect(try f.sql("SELECT count(*) FROM conversation") == "1")
    #expect(try f.done("dm-tail", ["bob", "-n", "all"], as: "alice").records.count == 20)
    try f.checkIntegrity()
  }

  @Test func `twenty concurrent sends with the same nonce make one message`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let runs = try (1...20).map { _ in
      try f.start("dm-send", ["bob", "--nonce", "same", "text"], as: "alice")
    }
    let records = try runs.map { try $0.finish().record }
    #expect(Set(records.compactMap { $0["id"]?.string }).count == 1)
    #expect(records.filter { $0["duplicate"]?.bool == true }.count == 19)
    try f.checkIntegrity()
  }

  @Test func `with eight concurrent writers and four readers, no message is lost or duplicated`() throws {
    let f = try ToolFixture()
    let writers = (1...8).map { "w\($0)" }
    for writer in writers { try f.done("dm-user", ["add", writer], as: writer) }
    try f.done("dm-conversation", ["create", "--title", "all"] + writers.dropFirst(), as: "w1")
    let perWriter = 2000

    // Readers are started again and again until the writers are done.
    let stop = f.directory + "/stop"
    let readers = try (1...4).map { number in
      let call = number % 2 == 0 ? "dm-tail +all -n 200" : "dm-list"
      return try f.start(
        "sh", ["-c", "while [ ! -e '\(stop)' ]; do \(call) || exit; done"], as: "w\(number)",
        validatedAs: number % 2 == 0 ? "dm-tail" : "dm-list")
    }
    var runs: [(writer: String, run: ToolFixture.Running)] = []
    for (index, writer) in writers.enumerated() {
      let lines = (1...perWriter).map {
        JSON.line(["conversation": "+all", "text": "\(writer) \($0)", "nonce": "\(writer)-\($0)"])
      }
      // The last two writers first send 50 messages one by one, and then the rest as lines.
      let singles = index >= 6 ? 50 : 0
      let file = "\(f.directory)/\(writer).jsonl"
      try lines.dropFirst(singles).map { $0 + "\n" }.joined().write(toFile: file, atomically: true, encoding: .utf8)
      let script = """
        i=0
        while [ $i -lt \(singles) ]; do
          i=$((i+1)); dm-send +all --nonce "\(writer)-$i" "\(writer) $i" || exit
        done
        dm-send <'\(file)'
        """
      runs.append((writer, try f.start("sh", ["-c", script], as: writer, validatedAs: "dm-send")))
    }
    for (writer, run) in runs {
      let outcome = try run.finish(seconds: 120)
      #expect(outcome.status == .exit(0), "\(writer): \(outcome.stderr.prefix(300))")
      let records = try outcome.records
      #expect(records.compactMap { $0["text"]?.string } == (1...perWriter).map { "\(writer) \($0)" })
      let numbers = records.compactMap { $0["seq"]?.int }
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "each sender's order is kept")
    }
    try f.done("touch", [stop])
    for reader in readers {
      let outcome = try reader.finish()
      #expect(outcome.status == .exit(0), "\(outcome.stderr.prefix(300))")
      #expect(!outcome.output.isEmpty)
    }
    let total = perWriter * writers.count
    // The first message is the announcement of the group.
    let last = total + 1
    #expect(try f.sql("SELECT count(*), count(DISTINCT nonce), max(seq) FROM message") == "\(last)|\(total)|\(last)")
    try f.checkIntegrity()
    let history = try f.done("dm-tail", ["+all", "-n", "all", "--peek"], as: "w1").records
    #expect(history.compactMap { $0["seq"]?.int } == Array(1...last))
    for writer in writers {
      let own = history.filter { $0["sender"]?.string == writer }.compactMap { $0["text"]?.string }
      #expect(own == (1...perWriter).map { "\(writer) \($0)" })
      // Each writer has read only their own messages.
      #expect(try f.done("dm-list", ["--count"], as: writer).stdout == "\(total - perWriter)\n")
    }
  }

  @Test func `concurrent dm-read calls count each message once`() throws {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob")
    let lines = (1...200).map { JSON.line(["conversation": "alice", "text": "\($0)"]) }
    try f.done("dm-send", as: "bob", stdin: Input(lines: lines))
    let runs = try (0..<20).map { index in
      try f.start("dm-read", ["bob", "\(index * 9 + 1)..\(index * 9 + 29)"], as: "alice")
    }
    for run in runs { #expect(try run.finish().status == .exit(0)) }
    #expect(try f.done("dm-list", ["--count"], as: "alice").stdout == "0\n")
    #expect(try f.sql("SELECT sum(to_seq - from_seq + 1) FROM receipt") == "200")
    try f.checkIntegrity()
  }
}
