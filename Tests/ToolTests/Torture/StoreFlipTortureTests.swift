import Foundation
import Glibc
import JSONSupport
import Testing

/// Random damage to the files of a store: no essential data changes, or the damage is found.
@Suite(.serialized) struct StoreFlipTortureTests {
  private static let suite = "flips"

  /// A store with each kind of data, the newest only in the WAL, and what its users see.
  private static let scene = Result {
    let f = try ToolFixture()
    try f.addUsers("alice", "bob", "carol", "dave")
    try f.done("dm-user", ["set", "-q", "--display-name", "Alice", "--bio", "there"], as: "alice")
    for size in [3, 9000] {
      try f.done("sh", ["-c", "head -c \(size) /dev/urandom >'\(f.directory)/data.\(size)'"])
      try f.done("dm-send", ["-q", "bob", "--as-file", "--attach", "\(f.directory)/data.\(size)"], as: "alice")
    }
    try f.done("dm-conversation", ["create", "-q", "--title", "all", "bob", "carol", "dave"], as: "alice")
    let lines = (1...12).flatMap { number in
      ["bob", "+all"].map { JSON.line(["conversation": $0, "text": "word \(number) @bob", "nonce": "n\(number)"]) }
    }
    try f.done("dm-send", ["-q"], as: "alice", stdin: Input(lines: lines))
    try f.done("dm-edit", ["text", "-q", "bob:4", "edited"], as: "alice")
    try f.done("dm-edit", ["delete", "-q", "--for-everyone", "bob:5"], as: "alice")
    try f.done("dm-edit", ["delete", "-q", "+all:4"], as: "bob")
    try f.done("dm-edit", ["react", "-q", "👍", "alice", "3..7"], as: "bob")
    try f.done("dm-edit", ["report", "-q", "+all:5", "--reason", "bad"], as: "carol")
    try f.done("dm-conversation", ["remove", "-q", "+all", "dave"], as: "alice")
    try f.done("dm-conversation", ["draft", "-q", "bob", "unsaid"], as: "alice")
    try f.done("dm-conversation", ["pin", "-q", "+all"], as: "bob")
    try f.done("dm-conversation", ["expire", "-q", "+all", "30d"], as: "alice")
    try f.done("dm-user", ["block", "-q", "dave"], as: "carol")
    try f.done("dm-tail", ["--consumer", "c", "--cursor", "start"], as: "bob")
    try f.done("dm-read", ["-q", "alice", "--up-to", "6"], as: "bob")
    // A killed writer leaves its WAL.
    let writer = try LiveProcess(f, "dm-send", as: "alice")
    for number in 1...40 {
      try writer.send(JSON.line(["conversation": number % 2 == 0 ? "bob" : "+all", "text": "log \(number)"]))
      _ = try writer.line()
    }
    writer.process.send(SIGKILL)
    _ = writer.finish()
    let files = try f.done("find", [f.store, "-type", "f", "-printf", "%P\\n"]).stdout.split(separator: "\n")
    try #require(files.contains("dm.sqlite-wal"))
    return (f: f, files: files.map(String.init).sorted(), seen: try Self.look(ToolFixture(copyOf: f)))
  }

  private static let readers: [(program: String, arguments: [String], user: String)] = [
    ("dm-list", ["--all"], "alice"), ("dm-list", ["--all"], "bob"),
    ("dm-tail", ["bob", "-n", "all", "--peek"], "alice"),
    ("dm-tail", ["+all", "-n", "all", "--peek"], "carol"), ("dm-search", ["word", "-n", "all"], "bob"),
    ("dm-user", ["list"], "carol"), ("dm-doctor", ["dump"], "alice"),
  ]

  /// What each reader prints; nil if it fails.
  private static func look(_ f: ToolFixture, _ fault: (String) -> Void = { _ in }) throws -> [[String]?] {
    try readers.map { reader in
      // Run through env(1), so that its records are not validated, because damaged data may be invalid.
      let outcome = try f.run("env", [reader.program] + reader.arguments, as: reader.user, seconds: 30)
      let isWell = [0, 66, 67, 74, 75, 78].contains { outcome.status == .exit($0) }
      if !isWell { fault("\(reader.program) \(reader.arguments): \(outcome.status) \(outcome.stderr)") }
      guard outcome.status == .exit(0) else { return nil }
      let lines = outcome.stdout.split(separator: "\n").map(String.init)
      return reader.arguments == ["dump"] ? Array(lines.dropFirst()) : lines
    }
  }

  private struct Flip {
    let file: String
    let what: String
    let bytes: Data
  }

  private static func flip(_ dice: inout Dice) throws -> Flip {
    let scene = try Self.scene.get()
    let (rare, contents) = (
      ["store.lock", "bell", "dm.sqlite-shm"], scene.files.filter { $0.hasPrefix("attachments") }
    )
    let file =
      switch dice.number(1...10) {
      case 1: dice.pick(rare.filter(scene.files.contains))
      case 2: dice.pick(contents)
      case 3...5: "dm.sqlite-wal"
      default: "dm.sqlite"
      }
    var bytes = try Data(contentsOf: URL(filePath: "\(scene.f.store)/\(file)"))
    guard !bytes.isEmpty else {
      return Flip(file: file, what: "a byte more", bytes: Data([UInt8(dice.number(0...255))]))
    }
    var offset = dice.number(0...(bytes.count - 1))
    // Much of a page is unused, so bytes that are 0 are mostly skipped.
    for _ in 0..<20 where bytes[offset] == 0 { offset = dice.number(0...(bytes.count - 1)) }
    switch dice.number(1...20) {
    case 1:
      let page = offset / 4096 * 4096
      for byte in page..<min(page + 4096, bytes.count) { bytes[byte] = 0 }
      return Flip(file: file, what: "page \(offset / 4096) zeroed", bytes: bytes)
    case 2: return Flip(file: file, what: "cut to \(offset)", bytes: bytes.prefix(offset))
    case 3...6:
      bytes[offset] = bytes[offset] &+ UInt8(dice.number(1...255))
      return Flip(file: file, what: "byte \(offset)", bytes: bytes)
    default:
      let bit = dice.number(0...7)
      bytes[offset] ^= 1 << UInt8(bit)
      return Flip(file: file, what: "bit \(bit) of byte \(offset)", bytes: bytes)
    }
  }

  /// The tables whose rows differ.
  private static func kinds(_ before: [[String]?], _ after: [[String]?]) -> [String] {
    guard let old = before.last ?? nil, let new = after.last ?? nil else { return ["the dump"] }
    let rows = Set(old).symmetricDifference(new)
    let tables = Set(rows.compactMap { $0.firstMatch(of: /"table":"([a-z_]+)"/)?.1 }.map(String.init))
    return tables.isEmpty ? ["what is printed"] : tables.sorted()
  }

  /// - Returns: the tables that changed although no damage was found; nil if there are none.
  private func attempt(_ flip: Flip) throws -> [String]? {
    let scene = try Self.scene.get()
    let what = "\(flip.file), \(flip.what)"
    func fault(_ text: String) {
      Tally.add(.failures, in: Self.suite)
      Issue.record("\(what): \(text) DM_SEED=\(Dice.seed)")
    }
    let checked = try ToolFixture(copyOf: scene.f)
    let read = try ToolFixture(copyOf: scene.f)
    for f in [checked, read] { try flip.bytes.write(to: URL(filePath: "\(f.store)/\(flip.file)")) }
    Tally.add(.flips, in: Self.suite)
    let check = try checked.run("env", ["dm-doctor", "check", "--deep"], seconds: 30)
    if ![0, 66, 74, 78].contains(where: { check.status == .exit($0) }) {
      fault("check: \(check.status) \(check.stderr)")
    }
    let seen = try Self.look(read, fault)
    let send = try read.run("env", ["dm-send", "bob", "later"], as: "alice", seconds: 30)
    let isWell = [0, 66, 67, 74, 75, 77, 78].contains { send.status == .exit($0) }
    if !isWell { fault("dm-send: \(send.status) \(send.stderr)") }
    if seen == scene.seen {
      Tally.add(.harmless, in: Self.suite)
    } else if check.status != .exit(0) {
      Tally.add(.detected, in: Self.suite)
    } else {
      Tally.add(.undetected, in: Self.suite)
      return Self.kinds(scene.seen, seen)
    }
    return nil
  }

  @Test func `random damage to the files of a store changes no essential data or is found`()
    async throws
  {
    _ = try Self.scene.get()
    let halves = await Torture.both { worker in
      var dice = Dice(worker)
      var undetected: [String: [String]] = [:]
      var tries = Torture.Tries(50, seconds: 420)
      while tries.goOn() {
        do {
          let flip = try Self.flip(&dice)
          guard let kinds = try attempt(flip) else { continue }
          let kind = "\(flip.file.hasPrefix("dm.sqlite") ? flip.file : "contents"): \(kinds.joined(separator: ", "))"
          undetected[kind, default: []].append(flip.what)
        } catch { Issue.record(error, "DM_SEED=\(Dice.seed)") }
      }
      return undetected
    }
    for (kind, flips) in halves[0].merging(halves[1], uniquingKeysWith: +).sorted(by: { $0.key < $1.key }) {
      Issue.record("\(flips.count) changed and not found in \(kind): \(flips.prefix(3)) DM_SEED=\(Dice.seed)")
    }
    Tally.add(.undetected, 0, in: Self.suite)
  }
}
