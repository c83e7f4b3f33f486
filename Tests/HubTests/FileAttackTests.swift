import Testing

@testable import DMKit
@testable import DMModel
@testable import DMPostgres
@testable import DMStore
@testable import DMSync
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Which users get files from a hub, and what they can do to the files of others.
///
/// Alice has sent Bob a file. Mallory was in a group with Alice when a file was sent there, and was removed before
/// another file was sent.
struct FileAttackTests {
  let hub: PostgresHub
  let alice: Uploader
  let bob: Uploader
  let mallory: Uploader
  let direct = Identifier.random(.direct("alice", "bob"))
  let group = Identifier.random(.group(by: "alice"))
  let secret = Identifier.random
  let seen = Identifier.random
  let unseen = Identifier.random

  /// A member with a link for files.
  struct Uploader {
    let attacker: Attacker
    let link: PQFileLink

    init(_ hub: PostgresHub, _ handle: String) throws {
      attacker = try Attacker(hub, handle)
      link = PQFileLink(attacker.settings)
      _ = try link.open()
    }

    /// Uploads a file of one chunk.
    func upload(_ file: Identifier, _ text: String) throws {
      #expect(try link.upload(file, size: text.utf8.count) == FileAnswer())
      #expect(try link.put([Array(text.utf8)], of: file, first: 0) == FileAnswer())
    }

    /// The text of a file; nil if the hub returns none.
    func text(of file: Identifier) throws -> String? {
      var bytes: [UInt8]?
      try link.fetch(file, first: 0, count: 16) { bytes = (bytes ?? []) + $0 }
      return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    func send(_ file: Identifier, in conversation: Identifier, id: Identifier = .random) throws -> String? {
      try attacker.push([.file(file, in: conversation, id: id)]).first?.fault
    }
  }

  init() throws {
    hub = try PostgresHub()
    (alice, bob, mallory) = (try Uploader(hub, "alice"), try Uploader(hub, "bob"), try Uploader(hub, "mallory"))
    let begin = HubOperation(.begin, conversation: direct, handles: ["bob"])
    let make = HubOperation(.group, conversation: group, handles: ["bob", "mallory"], payload: "{}")
    #expect(try alice.attacker.push([begin, make]).map(\.fault) == [nil, nil])
    for file in [secret, seen, unseen] { try alice.upload(file, "file") }
    #expect(try alice.send(secret, in: direct) == nil && alice.send(seen, in: group) == nil)
    let remove = HubOperation(.remove, conversation: group, handles: ["mallory"])
    #expect(try alice.attacker.push([remove]).map(\.fault) == [nil])
    #expect(try alice.send(unseen, in: group) == nil)
  }

  @Test func `only those who see a message get its file`() throws {
    #expect(try bob.text(of: secret) == "file" && bob.text(of: unseen) == "file")
    #expect(try mallory.text(of: seen) == "file")
    #expect(try mallory.text(of: secret) == nil && mallory.text(of: unseen) == nil)
    #expect(try mallory.text(of: .random) == nil)
  }

  @Test func `a file that no message has can be read only by its uploader`() throws {
    let file = Identifier.random
    try alice.upload(file, "mine")
    #expect(try alice.text(of: file) == "mine" && bob.text(of: file) == nil)
    #expect(try bob.send(file, in: direct) == "unknown_attachment")
  }

  @Test func `nobody can send, replace or extend a file that they do not see`() throws {
    #expect(try mallory.send(secret, in: group) == "not_allowed")
    let own = Identifier.random(.group(by: "mallory"))
    let make = HubOperation(.group, conversation: own, handles: [], payload: "{}")
    #expect(try mallory.attacker.push([make]).map(\.fault) == [nil])
    #expect(try mallory.send(secret, in: own) == "unknown_attachment")
    #expect(try mallory.send(.random, in: own) == "unknown_attachment")
    #expect(try mallory.link.upload(secret, size: 4).fault == "id_taken")
    #expect(try mallory.link.put([Array("evil".utf8)], of: secret, first: 0).fault == "unknown_attachment")
    #expect(try bob.link.put([Array("evil".utf8)], of: secret, first: 0).fault == "unknown_attachment")
    #expect(try bob.text(of: secret) == "file")
    // A member who sees a file may forward it without uploading it again.
    #expect(try mallory.send(seen, in: own) == nil)
    #expect(try bob.link.upload(secret, size: 4) == FileAnswer(chunks: 1, isWhole: true))
  }

  @Test func `an uploader cannot add chunks out of order, of a wrong size, or after the end`() throws {
    let (file, chunk) = (Identifier.random, [UInt8](repeating: 7, count: 262_144))
    #expect(try alice.link.upload(file, size: 2 * chunk.count) == FileAnswer())
    #expect(try alice.link.put([chunk], of: file, first: 1).fault == "bad_request")
    #expect(try alice.link.put([Array(chunk.dropLast())], of: file, first: 0).fault == "bad_request")
    #expect(try alice.link.put([chunk + [7]], of: file, first: 0).fault == "bad_request")
    #expect(try alice.send(file, in: direct) == "unknown_attachment")
    #expect(try alice.link.put([chunk], of: file, first: 0) == FileAnswer())
    #expect(try alice.link.upload(file, size: 2 * chunk.count) == FileAnswer(chunks: 1))
    #expect(try alice.link.upload(file, size: chunk.count).fault == "id_taken")
    // Sends the first chunk again, as if its answer had been lost.
    #expect(try alice.link.put([chunk, chunk], of: file, first: 0) == FileAnswer())
    #expect(try alice.link.put([chunk], of: file, first: 2).fault == "bad_request")
    #expect(try alice.link.upload(file, size: 2 * chunk.count) == FileAnswer(chunks: 2, isWhole: true))
    for size in [-1, 1 << 40] { #expect(try alice.link.upload(.random, size: size).fault == "bad_request") }
  }

  @Test func `a message can name at most 64 files, each by its id`() throws {
    let many = "[\((0..<65).map { _ in "\"\(Identifier.random)\"" }.joined(separator: ","))]"
    for (files, expected) in [
      (many, "bad_request"), ("{}", "bad_request"), ("[\"\(Identifier.random)\"]", "unknown_attachment"),
    ] {
      let say = """
        [{"op":"say","nonce":"\(Identifier.random)","conv":"\(direct)","id":"\(Identifier.random)","payload":"e30=",
          "files":\(files)}]
        """
      #expect(try alice.attacker.answers(to: say).map(\.fault) == [expected])
    }
  }

  @Test func `the file of a deleted message is erased, unless another message has it`() throws {
    let (first, second) = (Identifier.random, Identifier.random)
    let file = Identifier.random
    try alice.upload(file, "twice")
    #expect(try alice.send(file, in: direct, id: first) == nil && alice.send(file, in: group, id: second) == nil)
    try delete(first, in: direct)
    #expect(try bob.text(of: file) == "twice")
    try delete(second, in: group)
    #expect(try bob.text(of: file) == nil)
    // The next push of any member erases the file.
    #expect(try mallory.attacker.push([HubOperation(.profile, conversation: nil, payload: "{}")]).map(\.fault) == [nil])
    #expect(try hub.query("SELECT count(*) FROM dm.file WHERE id = '\(file)'") == ["0"])
    #expect(try hub.query("SELECT count(*) FROM dm.chunk WHERE file = '\(file)'") == ["0"])
  }

  private func delete(_ id: Identifier, in conversation: Identifier) throws {
    let entry = try #require(try alice.attacker.pull(conversation).first { $0.id == id })
    let delete = HubOperation(.delete, nonce: .random, conversation: conversation, id: id, seq: entry.seq)
    #expect(try alice.attacker.push([delete]).map(\.fault) == [nil])
  }

  @Test func `an abandoned upload is erased after a week, and a resumed one is kept`() throws {
    let (old, new, chunk) = (Identifier.random, Identifier.random, [UInt8](repeating: 7, count: 262_144))
    for file in [old, new] {
      #expect(try alice.link.upload(file, size: 40 * chunk.count) == FileAnswer())
      #expect(try alice.link.put(Array(repeating: chunk, count: 20), of: file, first: 0) == FileAnswer())
    }
    _ = try hub.query("UPDATE dm.file SET unused_at = now() - interval '8 days' WHERE id IN ('\(old)', '\(new)')")
    // While other calls erase an upload, the uploader can continue after the chunks that are left.
    #expect(try bob.link.upload(.random, size: 1) == FileAnswer())
    for file in [old, new] {
      let count = try alice.link.upload(file, size: 40 * chunk.count).chunks
      #expect(count <= 20)
      #expect(try alice.link.put([chunk], of: file, first: count) == FileAnswer())
      #expect(try alice.link.upload(file, size: 40 * chunk.count) == FileAnswer(chunks: count + 1))
    }
    _ = try hub.query("UPDATE dm.file SET unused_at = now() - interval '8 days' WHERE id = '\(old)'")
    #expect(try hub.administrator.sweep() == 0)
    #expect(try hub.query("SELECT id FROM dm.file WHERE id IN ('\(old)', '\(new)')") == ["\(new)"])
  }

  @Test func `a member who keeps a file locked stops no push, and concurrent uploads cannot evade the limit`()
    throws
  {
    let message = Identifier.random
    let file = Identifier.random
    let old = Identifier.random
    try alice.upload(file, "held")
    #expect(try alice.link.upload(old, size: 7) == FileAnswer())
    #expect(try alice.send(file, in: direct, id: message) == nil)
    _ = try hub.query("UPDATE dm.file SET unused_at = now() - interval '8 days' WHERE id = '\(old)' RETURNING 1")
    try alice.attacker.connection.execute("BEGIN")
    // The hub refuses each chunk, and the open transaction keeps the lock of the file.
    for file in [file, old] { #expect(try alice.attacker.state(of: "SELECT dm1.put('\(file)', 9, 'x')") == "ok") }
    _ = try hub.query("UPDATE dm.entry SET expires_at = now() - interval '1 day' WHERE id = '\(message)' RETURNING 1")
    let start = monotonicMicroseconds()
    for _ in 0..<3 { #expect(try mallory.attacker.push([.say("x", in: group)]).map(\.fault) == ["not_allowed"]) }
    #expect(try bob.attacker.push([.say("hello", in: direct)]).map(\.fault) == [nil])
    // This is less than the three seconds for which one push would wait for a lock.
    #expect(monotonicMicroseconds() - start < 2_000_000)
    #expect(try bob.text(of: file) == nil)
    try alice.attacker.connection.execute("COMMIT")
    for _ in 0..<2 { #expect(try bob.attacker.push([.say("hello", in: direct)]).map(\.fault) == [nil]) }
    #expect(try hub.query("SELECT count(*) FROM dm.file WHERE id = '\(file)'") == ["0"])
    // Chunks count against the limit when they arrive, not when the upload is complete.
    let (first, second, chunk) = (Identifier.random, Identifier.random, [UInt8](repeating: 7, count: 262_144))
    try hub.administrator.limit([.fileBytesPerHour((1 << 20) + 4096)])
    for file in [first, second] { #expect(try alice.link.upload(file, size: 4 * chunk.count) == FileAnswer()) }
    #expect(try alice.link.put([chunk, chunk], of: first, first: 0) == FileAnswer())
    #expect(try alice.link.put([chunk, chunk], of: second, first: 0) == FileAnswer())
    #expect(try alice.link.put([chunk], of: first, first: 2).fault == "over_quota")
  }

  @Test func `uploads count against the hourly limit and against the person's limit of stored bytes`() throws {
    // Each file counts a little more than its size.
    try hub.administrator.limit([.fileBytesPerHour((1 << 20) + 2000)])
    let (file, chunk) = (Identifier.random, [UInt8](repeating: 7, count: 262_144))
    #expect(try bob.link.upload(file, size: 8 * chunk.count) == FileAnswer())
    let answer = try bob.link.put(Array(repeating: chunk, count: 8), of: file, first: 0)
    let retryAt = try #require(answer.retryAt)
    #expect(answer.fault == "over_quota" && retryAt > .now)
    #expect(try bob.link.upload(file, size: 8 * chunk.count).chunks == 4)
    // Messages have a limit of their own.
    #expect(try bob.attacker.push([.say("hello", in: direct)]).map(\.fault) == [nil])
    try hub.administrator.limit([.bytesPerPerson(3 << 20), .fileBytesPerHour(1 << 30)])
    #expect(try bob.link.upload(.random, size: 2 << 20).fault == "over_quota")
    #expect(try bob.link.upload(.random, size: 1 << 19).fault == nil)
    #expect(try alice.link.upload(.random, size: 2 << 20).fault == nil)
  }

  @Test func `a hub that moved accepts no uploads, and a revoked member can fetch no files`() throws {
    try hub.administrator.move(to: HubAddress("elsewhere.example"), authority: nil)
    let moved = Result { try alice.link.upload(.random, size: 1) }
    #expect(throws: HubFault.self) { try moved.get() }
    try hub.administrator.move(to: nil, authority: nil)
    _ = try hub.administrator.revoke("bob")
    #expect(throws: HubFault.self) { try bob.text(of: secret) }
  }
}

extension HubOperation {
  fileprivate static func file(_ file: Identifier, in conversation: Identifier, id: Identifier) -> HubOperation {
    var operation = HubOperation.say("a file", in: conversation, id: id)
    operation.arguments.files = [file]
    return operation
  }
}
