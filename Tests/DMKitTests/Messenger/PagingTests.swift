import Testing

@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// The pages of a list, one after another, are the whole list in its order.
struct PagingTests {
  private static func pages(_ messenger: Messenger, of size: Int, _ query: ListQuery) throws -> [Conversation] {
    var query = query
    query.limit = size
    var all: [Conversation] = []
    while case let page = try messenger.conversations(query), !page.isEmpty {
      #expect(page.count <= size)
      all += page
      query.after = page.last?.pageCursor
    }
    return all
  }

  /// Whether the conversations have the documented order, according to their own fields.
  private static func isInOrder(_ conversations: [Conversation]) -> Bool {
    zip(conversations, conversations.dropFirst()).allSatisfy { one, next in
      one.isPinned == next.isPinned ? one.lastActivityAt >= next.lastActivityAt : one.isPinned
    }
  }

  @Test(arguments: 1...6 as ClosedRange<UInt64>)
  func `the pages of a list together equal the whole list, whatever their size`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let crowd = (0..<(Conversations.smallGroup + 2)).map { "u\($0)" }
    let store = try TemporaryStore(users: ["alice"])
    try store.execute(
      "INSERT INTO user (handle, created_at) VALUES " + crowd.map { "('\($0)', 1)" }.joined(separator: ", "))
    let alice = try store.messenger("alice")
    for group in 0..<24 {
      // Sizes around the limit of small groups. In larger groups, the rows of participants do not have the time of the
      // last activity.
      let size = random.chance(40) ? Conversations.smallGroup - 1 + random.below(4) : random.below(4)
      _ = try alice.createGroup(titled: "g\(group)", with: crowd.prefix(size).map(Handle.init(typed:)))
    }
    for direct in 0..<6 { try alice.say("hi", to: crowd[direct]) }
    for _ in 0..<40 { try alice.say("x", to: "+g\(random.below(24))") }
    // Equal times, so that the last sort key is used, too.
    if random.chance(50) {
      try store.execute(
        """
        UPDATE conversation SET last_activity = 1000 * (last_activity / 20000000);
        UPDATE participant SET last_activity = (SELECT c.last_activity FROM conversation c WHERE c.id = conversation)
        WHERE last_activity IS NOT NULL
        """)
    }
    for conversation in 1...30 where random.chance(25) {
      try store.execute("UPDATE participant SET is_pinned = 1 WHERE user = 1 AND conversation = \(conversation)")
    }
    for conversation in 1...30 where random.chance(20) {
      try store.execute("UPDATE participant SET is_archived = 1 WHERE user = 1 AND conversation = \(conversation)")
    }
    var query = ListQuery()
    for archived in [ListQuery.Archived.included, .excluded, .only] {
      query.archived = archived
      query.limit = nil
      let whole = try alice.conversations(query)
      #expect(Self.isInOrder(whole), "seed \(seed)")
      if archived == .included { #expect(Set(whole.map(\.id)).count == 30, "seed \(seed)") }
      for size in [1, 2, 3, 7, 29, 30, 31, 50] {
        #expect(try Self.pages(alice, of: size, query) == whole, "seed \(seed), pages of \(size), \(archived)")
      }
    }
  }

  @Test func `a large group is listed by the time of its last message`() throws {
    let crowd = (0...Conversations.smallGroup).map { "u\($0)" }
    let store = try TemporaryStore(users: ["alice"])
    try store.execute(
      "INSERT INTO user (handle, created_at) VALUES " + crowd.map { "('\($0)', 1)" }.joined(separator: ", "))
    let alice = try store.messenger("alice")
    _ = try alice.createGroup(titled: "large", with: crowd.map(Handle.init(typed:)))
    _ = try alice.createGroup(titled: "small", with: [])
    #expect(try alice.conversations().map(\.title) == ["small", "large"])
    try alice.say("hi", to: "+large")
    #expect(try alice.conversations().map(\.title) == ["large", "small"])
    #expect(try store.messenger("u7").conversations().map(\.unreadCount) == [1])
    try alice.say("hi", to: "+small")
    #expect(try alice.conversations().map(\.title) == ["small", "large"])
    #expect(
      try store.integers("SELECT count(*) FROM participant WHERE conversation = 1 AND last_activity IS NULL")
        == [[Int64(crowd.count + 1)]])
  }

  @Test func `if a message arrives between two pages, no other conversation is repeated or left out`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    for title in ["a", "b", "c", "d", "e"] { _ = try alice.createGroup(titled: title, with: []) }
    var query = ListQuery()
    query.limit = 2
    let first = try alice.conversations(query)
    try alice.say("hi", to: "+a")
    query.after = first.last?.pageCursor
    query.limit = nil
    #expect(first.map(\.title) == ["e", "d"])
    #expect(try alice.conversations(query).map(\.title) == ["c", "b"])
  }
}
