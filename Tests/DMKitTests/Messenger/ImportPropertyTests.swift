import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Imports the same lines into two stores: into one in batches, and into the other line by line.
@Suite struct ImportPropertyTests {
  static let users = ["importer", "ann", "ben", "cem", "dan"]

  /// A random history of texts, announcements, groups, direct conversations, mentions, replies, expiry, and lines that fail.
  struct Script {
    private var random: SplitMix64
    private var second = 0
    private var ids: [Identifier] = []
    private let pair: Identifier
    private let group: Identifier

    init(seed: UInt64) {
      random = SplitMix64(seed: seed)
      pair = Identifier(high: random.next(), low: random.next())
      group = Identifier(high: random.next(), low: random.next())
    }

    /// - Parameter start: the earliest second of the lines.
    mutating func lines(_ count: Int, from start: Int) throws -> [Imported] {
      second = start
      return try (0..<count).map { _ in try line() }
    }

    /// The lines, cut at random into batches.
    mutating func batches(_ lines: [Imported]) -> [[Imported]] {
      var result: [[Imported]] = []
      var rest = lines[...]
      while !rest.isEmpty {
        let size = 1 + random.below(random.chance(50) ? 3 : 12)
        result.append(Array(rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      return result
    }

    mutating func pick<T>(_ choices: [T]) -> T { choices[random.below(choices.count)] }

    mutating func chance(_ percent: Int) -> Bool { random.chance(percent) }

    private mutating func line() throws -> Imported {
      // Some lines are out of order, and some have the same time as the line before.
      second += random.chance(90) ? random.below(4) : -2
      if random.chance(8) { return try conversation() }
      let names: [ImportedMessage.Group] = [.title("old"), .title("new"), .id(group), .id(pair)]
      let target = pick(names)
      let sender = pick(ImportPropertyTests.users + ["eva", "fay"])
      let time = Timestamp(microseconds: Int64(second) * 1_000_000)
      let id = Identifier(high: random.next(), low: random.next())
      defer { ids.append(id) }
      if random.chance(40) {
        return .message(
          try ImportedMessage(
            group: target, id: id, sender: Handle(sender), text: nil, createdAt: time,
            systemKind: pick(Message.SystemKind.allCases.filter { $0.number != nil }), subject: "ben"))
      }
      return .message(
        try ImportedMessage(
          group: target, id: id, sender: Handle(sender), text: "hi @\(pick(ImportPropertyTests.users)) @eva",
          createdAt: time, nonce: random.chance(30) ? "n\(random.below(8))" : nil,
          replyTo: random.chance(30) && !ids.isEmpty ? .id(pick(ids)) : nil,
          expiresAt: random.chance(15) ? Timestamp(microseconds: time.microseconds + 1_000_000) : nil))
    }

    private mutating func conversation() throws -> Imported {
      let isGroup = random.chance(50)
      return .conversation(
        try ImportedConversation(
          id: isGroup ? group : pair, isGroup: isGroup, title: isGroup ? "club" : nil,
          creator: isGroup ? Handle("ann") : nil,
          participants: isGroup ? [Handle("ann"), Handle("cem")] : [Handle("ann"), Handle("importer")],
          lastActivity: Timestamp(microseconds: 1)))
    }
  }

  /// All rows that imports write, without the ids of conversations and without the times of messages sent between the imports.
  static func state(_ store: TemporaryStore) throws -> [String] {
    func rows(_ table: String, _ columns: String...) throws -> [String] {
      let values = columns.map { "'|' || quote(\($0))" }.joined(separator: " || ")
      return try store.texts("SELECT '\(table)' || \(values) FROM \(table) ORDER BY 1")
    }
    return try rows("user", "id", "handle")
      + rows("conversation", "id", "direct_low", "title", "creator", "is_imported", "last_seq", "last_message")
      + rows(
        "participant", "conversation", "user", "is_owner", "is_blocked", "read_count", "blocked_count", "mention_count",
        "left_seq", "last_activity = (SELECT last_activity FROM conversation c WHERE c.id = conversation)")
      + rows("read_range", "conversation", "user", "from_seq", "to_seq")
      + rows("hidden_range", "conversation", "user", "from_seq", "to_seq", "is_deleted", "is_unseen")
      + rows("mention", "conversation", "user", "seq") + rows("history", "conversation", "message_count", "last_seq")
      + rows(
        "message", "id", "conversation", "seq", "sender", "text", "nonce", "system_kind", "subject", "mentions",
        "hex(reply_to)", "deleted_at IS NOT NULL", "CASE WHEN created_at < 1600000000000000 THEN created_at END")
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `importing in batches gives the same store as importing line by line`(seed: UInt64) throws {
    var script = Script(seed: seed)
    let (whole, single) = (try TemporaryStore(users: Self.users), try TemporaryStore(users: Self.users))
    let blocks = (0..<3).map { _ in (script.pick(Self.users), script.pick(Self.users)) }
    for (one, other) in blocks where one != other && other != "importer" {
      for store in [whole, single] { _ = try store.messenger(one).setBlocked(true, [Handle(typed: other)]) }
    }
    var start = 1_500_000_000
    for round in 0..<3 {
      let batches = script.batches(try script.lines(40, from: start))
      var codes: [[DMError.Code?]] = [[], []]
      let (one, other) = (try whole.messenger("importer"), try single.messenger("importer"))
      for batch in batches {
        for result in try one.importHistory(batch) { codes[0].append(try code { try result.get() }) }
        for line in batch {
          for result in try other.importHistory([line]) { codes[1].append(try code { try result.get() }) }
        }
      }
      #expect(codes[0] == codes[1], "seed \(seed), round \(round)")
      // After a message that is sent now, only an owner may add to the history. The send also turns expired messages
      // into tombstones.
      let (user, conversation) = (
        script.pick(["ann", "ben", "cem"]), script.pick(["+old", "+new", "+club", "importer"])
      )
      let isRead = script.chance(30)
      for store in [whole, single] {
        _ = try store.messenger("dan").addUser(Handle("round\(round)"))
        let messenger = try store.messenger(user)
        _ = try fault { try messenger.say("now", to: conversation) }
        if isRead { _ = try fault { try messenger.markRead(.all, in: ConversationReference(conversation)) } }
      }
      start = Int(Timestamp.now.microseconds / 1_000_000) + 1000 * (round + 1)
      #expect(try Self.state(whole) == Self.state(single), "seed \(seed), round \(round)")
      for store in [whole, single] {
        let findings = try store.findings()
        #expect(findings == [], "seed \(seed), round \(round)")
      }
    }
  }
}
