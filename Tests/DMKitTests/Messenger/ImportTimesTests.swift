import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Imported messages with the same time, such as those of one minute in a chat log that has no seconds.
struct ImportTimesTests {
  private static let minute = Timestamp(microseconds: 1_500_000_000_000_000)

  private func line(
    _ text: String, after microseconds: Int64 = 0, id: Identifier? = nil, nonce: String?, from sender: String = "ann",
    lifetime: Int64? = nil
  ) throws -> Imported {
    let time = Timestamp(microseconds: Self.minute.microseconds + microseconds)
    return .message(
      try ImportedMessage(
        group: .title("old"), id: id, sender: Handle(sender), text: text, createdAt: time, nonce: nonce,
        expiresAt: lifetime.map { Timestamp(microseconds: time.microseconds + $0) }))
  }

  /// The result of each line: the microseconds after the minute, with `duplicate` before them for a duplicate; or the
  /// code of the error.
  private func times(_ results: [Result<Imported.Outcome, DMError>]) -> [String] {
    results.map { result in
      switch result {
      case .success(.message(let message)):
        let time = "\(message.createdAt.microseconds - Self.minute.microseconds)"
        return message.isDuplicate ? "duplicate \(time)" : time
      case .failure(let error): return error.code.rawValue
      default: return "no message"
      }
    }
  }

  private func stored(_ store: TemporaryStore) throws -> [Int64] {
    try store.messenger("ann").everything(in: "+old").map { $0.createdAt.microseconds - Self.minute.microseconds }
  }

  @Test func `messages of the same time keep the order of their lines, a microsecond apart`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let results = try alice.importHistory([
      line("one", nonce: "a"), line("two", nonce: "b", from: "ben"),
      line("three", id: Identifier(at: .now), nonce: nil),
      line("four", after: 60_000_000, nonce: "d"),
    ])
    #expect(times(results) == ["0", "1", "2", "60000000"])
    #expect(try store.messenger("ann").everything(in: "+old").map(\.text) == ["one", "two", "three", "four"])
    #expect(try stored(store) == [0, 1, 2, 60_000_000])
    #expect(try store.findings() == [])
  }

  @Test(arguments: ["alice", "ann"])
  func `repeating an import of messages of the same time adds nothing`(user: String) throws {
    let store = try TemporaryStore(users: ["alice", "ann"])
    // As importer, Alice does not see the messages; Ann, who is their sender, does.
    let messenger = try store.messenger(user)
    let lines = try ["a", "b", "c"].map { try line($0, nonce: $0) }
    #expect(try times(messenger.importHistory(lines)) == ["0", "1", "2"])
    let answers = ["duplicate 0", "duplicate 1", "duplicate 2"]
    // Repeats the whole import and parts of it: the result of a line does not depend on the lines before.
    for range in [0...2, 1...2, 1...1] {
      #expect(try times(messenger.importHistory(Array(lines[range]))) == Array(answers[range]))
    }
    #expect(try stored(store) == [0, 1, 2])
  }

  @Test(arguments: ["alice", "ann"])
  func `an import that stopped among messages of the same time continues with the next message when it is repeated`(
    user: String
  )
    throws
  {
    let store = try TemporaryStore(users: ["alice", "ann"])
    let messenger = try store.messenger(user)
    let lines = try (0..<6).map { try line("\($0)", nonce: "\($0)") }
    _ = try messenger.importHistory(Array(lines.prefix(3)))
    #expect(
      try times(messenger.importHistory(lines)) == [
        "duplicate 0", "duplicate 1", "duplicate 2", "3", "4", "5",
      ])
    #expect(try times(messenger.importHistory([line("later", nonce: "later")])) == ["6"])
  }

  @Test func `an imported message that is earlier than the last one is an error, also after messages of the same time`()
    throws
  {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    _ = try alice.importHistory([
      line("one", nonce: "a"), line("two", nonce: "b"), line("three", after: 1_000_000, nonce: "c"),
      line("four", after: 1_000_000, nonce: "d"),
    ])
    let late: [Imported] = try [
      line("x", nonce: "x"), line("y", after: -1, nonce: "y"), line("z", after: 999_999, nonce: "z"),
      line("v", after: 1, nonce: "v"),
    ]
    #expect(try times(alice.importHistory(late)) == Array(repeating: "out_of_order", count: 4))
    #expect(try stored(store) == [0, 1, 1_000_000, 1_000_001])
  }

  @Test
  func `an imported message without id and nonce is refused if it has the time of the last message`()
    throws
  {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let lines = try [line("one", nonce: nil), line("two", nonce: nil)]
    #expect(try times(alice.importHistory(lines)) == ["0", "out_of_order"])
    #expect(try times(alice.importHistory(lines)) == ["out_of_order", "out_of_order"])
    #expect(try fault { try alice.importHistory([lines[1]])[0].get() }?.message.hasSuffix("a nonce") == true)
    #expect(try stored(store) == [0])
  }

  @Test func `an imported message expires when its line says, even if its time was changed`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let hour: Int64 = 3_600_000_000
    let lines = try ["a", "b"].map { try line($0, nonce: $0, lifetime: hour) }
    _ = try store.messenger("alice").importHistory(lines)
    let end = Self.minute.microseconds + hour
    #expect(try store.integers("SELECT count(*) FROM message WHERE expires_at = \(end)") == [[2]])
  }

  @Test func `an imported message with the same time as a sent message is out of order`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    _ = try alice.importHistory([line("one", nonce: "a")])
    let said = try store.messenger("ann").say("now", to: "+old").createdAt
    let distance = said.microseconds - Self.minute.microseconds
    let ann = try store.messenger("ann")
    #expect(try times(ann.importHistory([line("x", after: distance, nonce: "x")])) == ["out_of_order"])
  }
}
