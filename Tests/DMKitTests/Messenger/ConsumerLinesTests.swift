import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Lines that a consumer's program prints: messages that answer events, and acknowledgements.
struct ConsumerLinesTests {
  /// Bob's bot, with messages that Alice has sent to it.
  private final class Bot {
    let store: TemporaryStore
    let alice: Messenger
    let bob: Messenger
    let cursors: [Cursor]

    init(_ texts: [String] = ["one", "two", "three"]) throws {
      store = try TemporaryStore()
      alice = try store.messenger("alice")
      bob = try store.messenger("bob")
      for text in texts { try alice.say(text, to: "bob") }
      var query = EventQuery(from: .start)
      (query.kinds, query.consumer, query.follows, query.marksDelivered) = ([.message], "bot", false, false)
      cursors = try Follower(bob, query).rest().dropLast().map { try #require($0.cursor) }
    }

    func line(
      _ text: String? = nil, _ nonce: String? = nil, to conversation: String = "alice", ack: Int? = nil
    ) throws -> ConsumerLine {
      var outgoing: Result<Outgoing, DMError>?
      do {
        if let text {
          outgoing = .success(try Outgoing(to: ConversationReference(conversation), text: text, nonce: nonce))
        }
      } catch {
        outgoing = .failure(error)
      }
      return ConsumerLine(outgoing, acknowledges: ack.map { cursors[$0] })
    }

    func send(_ lines: [ConsumerLine], skips: Bool = false) throws -> [String] {
      try bob.send(lines, as: "bot", skipsFailed: skips).map { result in
        switch result {
        case .success(.message(let message)):
          "\(message.number) \(message.text ?? "")\(message.isDuplicate ? " again" : "")"
        case .success(.acknowledged(let answer)):
          "ack \(cursors.firstIndex(of: answer.cursor).map(String.init) ?? "?") of \(answer.consumer)"
        case .failure(let error): error.code.rawValue
        }
      }
    }

    var position: Int? { get throws { cursors.firstIndex(of: try bob.consumers()[0].cursor) } }
    var skipped: Int { get throws { try bob.consumers()[0].skippedCount } }
    var said: [String?] { get throws { try alice.everything(in: "bob").dropFirst(cursors.count).map(\.text) } }
  }

  @Test func `a line sends its message and acknowledges its cursor`() throws {
    let bot = try Bot()
    #expect(try bot.send([bot.line("re: one", "n1", ack: 0)]) == ["4 re: one"])
    #expect(try bot.position == 0)
    #expect(try bot.send([bot.line("re: two", "n2", ack: 1), bot.line(ack: 2)]) == ["5 re: two", "ack 2 of bot"])
    #expect(try bot.position == 2)
    #expect(try bot.said == ["re: one", "re: two"])
  }

  @Test func `if the message or its acknowledgement fails, neither is stored`() throws {
    let bot = try Bot()
    // The acknowledgement violates this index, because another consumer already has the position.
    try bot.store.execute(
      """
      CREATE UNIQUE INDEX alone ON consumer (rev);
      INSERT INTO consumer (user, name, rev, seq, used_at, marks_delivered)
        SELECT 1, 'other', min(rev), 0, 0, 0 FROM change WHERE kind = 1
      """)
    #expect(throws: (any Error).self) { try bot.send([bot.line("re: one", "n1", ack: 0)]) }
    #expect(try bot.said == [])
    #expect(try bot.position == nil)
    try bot.store.execute("DROP INDEX alone")
    // The message fails, because it gets a number that another message has.
    try bot.store.execute("UPDATE conversation SET last_seq = last_seq - 1")
    #expect(throws: (any Error).self) { try bot.send([bot.line(ack: 0), bot.line("re: two", "n2", ack: 1)]) }
    try bot.store.execute("UPDATE conversation SET last_seq = last_seq + 1")
    #expect(try bot.said == [])
    #expect(try bot.position == nil)
  }

  @Test func `a line without an acknowledgement does not move the consumer`() throws {
    let bot = try Bot()
    #expect(try bot.send([bot.line("aside"), bot.line("more", "n")]) == ["4 aside", "5 more"])
    #expect(try bot.position == nil)
  }

  @Test func `a line with an old cursor writes nothing, and returns the message of its nonce if there is one`() throws {
    let bot = try Bot()
    _ = try bot.send([bot.line("re: one", "n1", ack: 0), bot.line("re: two", "n2", ack: 1)])
    let before = try bot.alice.here()
    #expect(
      try bot.send([
        bot.line("re: one", "n1", ack: 0), bot.line("other words", "n2", ack: 1), bot.line("never said", "n3", ack: 0),
        bot.line("no nonce", ack: 1), bot.line(ack: 0), bot.line("to nobody", "n1", to: "nobody", ack: 0),
        bot.line("", "n1", ack: 0),
      ]) == [
        "4 re: one again", "5 re: two again", "ack 1 of bot", "ack 1 of bot", "ack 1 of bot", "ack 1 of bot",
        "ack 1 of bot",
      ])
    #expect(try bot.alice.here() == before)
    #expect(try bot.position == 1)
  }

  @Test func `a line with an older cursor than an earlier line of its batch sends nothing`() throws {
    let bot = try Bot()
    #expect(
      try bot.send([bot.line("b", "n1", ack: 1), bot.line("a", "n2", ack: 0), bot.line("c", "n3", ack: 2)]) == [
        "4 b", "ack 1 of bot", "5 c",
      ])
    #expect(try bot.position == 2)
  }

  @Test func `for a consumer, reusing a nonce with another text returns the first message and is no error`() throws {
    let bot = try Bot()
    _ = try bot.send([bot.line("first words", "n1")])
    #expect(try bot.send([bot.line("other words", "n1", ack: 0)]) == ["4 first words again"])
    #expect(try bot.position == 0)
    #expect(try bot.said == ["first words"])
    // If the message is not for a consumer, this is a conflict.
    #expect(try code { try bot.bob.say("other words", to: "alice", nonce: "n1") } == .nonceConflict)
  }

  @Test func `the first error ends the run, and the lines before it are kept`() throws {
    let bot = try Bot()
    #expect(
      try bot.send([
        bot.line("a", ack: 0), bot.line("x", to: "nobody", ack: 1), bot.line("b", ack: 2), bot.line("c"),
      ]) == ["4 a", "unknown_user"])
    #expect(try bot.position == 0)
    #expect(try bot.said == ["a"])
    #expect(try bot.skipped == 0)
  }

  @Test(arguments: [("", DMError.Code.emptyText), (String(repeating: "x", count: 65_537), .textTooLong)])
  func `a line with an invalid text is an error like any other`(_ text: String, _ code: DMError.Code) throws {
    let bot = try Bot()
    #expect(try bot.send([bot.line(text, ack: 0), bot.line("b", ack: 1)]) == [code.rawValue])
    #expect(try bot.position == nil)
    #expect(try bot.send([bot.line(text, ack: 0), bot.line("b", ack: 1)], skips: true) == [code.rawValue, "4 b"])
  }

  @Test func `a line with a bad cursor is an error, and its message is not sent`() throws {
    let bot = try Bot()
    let line = ConsumerLine(.success(try Outgoing(to: .direct("alice"), text: "x")), acknowledges: .ofAnotherStore)
    #expect(try bot.send([bot.line("a", ack: 0), line, bot.line("b", ack: 1)]) == ["4 a", "bad_cursor"])
    #expect(try bot.said == ["a"])
  }

  @Test func `with skipping on, lines that can never succeed are counted and acknowledged`() throws {
    let bot = try Bot()
    #expect(
      try bot.send(
        [bot.line("x", to: "nobody", ack: 0), bot.line("a", ack: 1), bot.line("y", to: "+nosuch", ack: 2)], skips: true)
        == ["unknown_user", "4 a", "unknown_conversation"])
    #expect(try bot.position == 2)
    #expect(try bot.skipped == 2)
    #expect(try bot.said == ["a"])
  }

  @Test func `if all lines of a batch are skipped, their acknowledgements are stored`() throws {
    let bot = try Bot()
    #expect(try bot.send([bot.line("x", to: "nobody", ack: 1)], skips: true) == ["unknown_user"])
    #expect(try bot.position == 1)
    #expect(try bot.skipped == 1)
    // An older pipe sends the same line again: its cursor is old, so it is not counted again.
    #expect(try bot.send([bot.line("x", to: "nobody", ack: 1)], skips: true) == ["ack 1 of bot"])
    #expect(try bot.skipped == 1)
  }

  @Test func `a skipped line with a bad cursor acknowledges nothing`() throws {
    let bot = try Bot()
    let line = ConsumerLine(.success(try Outgoing(to: .direct("alice"), text: "x")), acknowledges: .ofAnotherStore)
    #expect(try bot.send([line, bot.line("a", ack: 0)], skips: true) == ["bad_cursor", "4 a"])
    #expect(try bot.position == 0)
    #expect(try bot.skipped == 1)
    #expect(try bot.said == ["a"])
  }

  @Test func `an unfinished line is not counted as skipped, because its event is delivered again`() throws {
    let bot = try Bot()
    let line = ConsumerLine(.failure(DMError(.unfinishedLine, "cut off")), acknowledges: nil)
    #expect(try bot.send([bot.line("a", ack: 0), line], skips: true) == ["4 a", "unfinished_line"])
    #expect(try bot.skipped == 0)
    #expect(try bot.send([line], skips: true) == ["unfinished_line"])
    #expect(try bot.skipped == 0)
  }

  @Test func `a batch that sends nothing writes nothing`() throws {
    let bot = try Bot()
    let before = try bot.alice.here()
    #expect(try bot.send([]).isEmpty)
    #expect(try bot.send([bot.line("x", to: "nobody")]) == ["unknown_user"])
    #expect(try bot.alice.here() == before)
    #expect(try code { try bot.bob.send([bot.line("x")], as: "bto") } == .unknownConsumer)
    #expect(try bot.said == [])
  }

  @Test func `pipes that run at the same time for one consumer together answer each event once`() throws {
    let bot = try Bot((1...40).map { "\($0)" })
    var random = SplitMix64(seed: 7)
    // Each pipe sends its lines in order and in batches, and sometimes begins again at the first event.
    var pipes = [0, 0, 0]
    while pipes.contains(where: { $0 < 40 }) {
      let pipe = random.below(3)
      let end = min(40, pipes[pipe] + 1 + random.below(4))
      guard pipes[pipe] < end else { continue }
      let lines = try (pipes[pipe]..<end).map { try bot.line("pipe \(pipe)", "n\($0)", ack: $0) }
      #expect(try bot.send(lines).count == lines.count)
      pipes[pipe] = random.chance(10) ? 0 : end
      if random.chance(5) { pipes = [40, 40, 40] }
    }
    _ = try bot.send((0..<40).map { try bot.line("at last", "n\($0 as Int)", ack: $0) })
    let numbers = try bot.said.compactMap { $0 }.count
    #expect(numbers == 40)
    #expect(try bot.position == 39)
  }
}
