import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// One rule decides which user sees which message, so histories, searches, streams, references, counts and consumers agree.
struct VisibilityPropertyTests {
  private static let names = ["alice", "bob", "carol", "dave"]

  private struct Run {
    let store: TemporaryStore
    let users: [Messenger]
    /// A group, which is owned by Alice and which the others join and leave; and the direct conversation of Bob and Carol.
    let talks: [ConversationReference]
    var random: SplitMix64

    init(seed: UInt64) throws {
      store = try TemporaryStore(users: names)
      users = try names.map { [store] in try store.messenger($0) }
      talks = [
        .id(try users[0].createGroup(titled: "ops", with: ["bob", "carol"]).id),
        .id(try users[1].directConversation(with: "carol").id),
      ]
      random = SplitMix64(seed: seed)
      for user in users {
        var query = EventQuery(from: .start)
        (query.consumer, query.follows, query.signalsPresence) = ("bot", false, false)
        _ = try Follower(user, query)
      }
    }

    /// Does a random act, which may be refused.
    mutating func act() throws {
      let (user, talk) = (users[random.below(users.count)], talks[random.below(talks.count)])
      let (other, seq) = (VisibilityPropertyTests.names[random.below(names.count)], 1 + random.below(40))
      do {
        switch random.below(100) {
        case 0..<45: _ = try user.send(Outgoing(to: talk, text: "word"))
        case 45..<52: try delete(seq, talk, forEveryone: true, by: user)
        case 52..<59: try delete(seq, talk, forEveryone: false, by: user)
        case 59..<65: _ = try user.setBlocked(random.chance(60), [Handle(typed: other)])
        case 65..<70: _ = try user.leave(talk)
        case 70..<76: _ = try user.add([Handle(typed: other)], to: talk, withHistory: random.chance(30))
        case 76..<80: _ = try user.remove([Handle(typed: other)], from: talk)
        case 80..<84: _ = try user.change(.deleted, in: [talk])
        case 84..<90:
          try store.execute("UPDATE message SET expires_at = 1 WHERE seq = \(seq) AND system_kind IS NULL")
        default:
          var options = Messenger.MarkOptions()
          options.act = random.chance(50) ? .read : .unread
          _ = try user.markRead(.ranges([RangeReference(from: seq, to: seq + 5)]), in: talk, options)
        }
      } catch let error as DMError where !error.code.isFatal {
        // The act was refused, for example because the user is not in the conversation.
      }
    }

    private func delete(
      _ seq: Int, _ talk: ConversationReference, forEveryone: Bool, by user: Messenger
    ) throws {
      _ = try user.edit([Edit(.number(seq, in: talk), .delete(forEveryone: forEveryone))])
    }
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `histories, searches, streams, references, counts and consumers agree on the visible messages`(_ seed: UInt64)
    throws
  {
    var run = try Run(seed: seed)
    for act in 1...120 {
      try run.act()
      if act % 10 > 0 { continue }
      for (user, name) in zip(run.users, Self.names) {
        try Self.compare(run, user, "seed \(seed), act \(act): \(name)")
      }
    }
  }

  private static func compare(_ run: Run, _ user: Messenger, _ what: Comment) throws {
    var all: [Message] = []
    for talk in run.talks {
      let seen: Conversation
      do { seen = try user.conversation(talk) } catch let error as DMError where error.code == .notAllowed { continue }
      let history = try user.messages(in: talk, limit: .max)
      all += history
      #expect(seen.lastMessage == history.last, what)
      var query = HistoryQuery(talk)
      (query.unreadOnly, query.limit) = (true, nil)
      let unread = try user.history(of: query)
      #expect(seen.unreadCount == unread.count && seen.firstUnreadSeq == unread.first?.seq, what)
      for seq in 1...60 {
        let isSeen = try code { try user.receipts(for: .number(seq, in: talk)) } == nil
        #expect(isSeen == history.contains { $0.seq == seq }, what)
      }
      for count in 1...(history.count + 1) {
        let ranges = [RangeReference(from: -count, to: -count)]
        #expect(try user.messages(in: talk, ranges) == history.dropLast(count - 1).suffix(1), what)
      }
    }
    all.sort { $0.createdAt < $1.createdAt }
    var query = HistoryQuery()
    query.limit = nil
    #expect(try user.history(of: query) == all, what)
    var request = SearchRequest("word")
    (request.newestFirst, request.limit) = (true, nil)
    let results = try user.search(request)
    var found: Set<Identifier> = []
    while case let batch = try results.next(), !batch.isEmpty { found.formUnion(batch.map(\.message.id)) }
    #expect(found == Set(all.filter { $0.systemKind == nil }.map(\.id)), what)
    var stream = EventQuery(from: .start)
    (stream.kinds, stream.marksDelivered, stream.signalsPresence) = ([.message], false, false)
    let received = try user.received(stream).compactMap { event -> Message? in
      if case .message(let message, _) = event { message } else { nil }
    }
    #expect(Set(received.map(\.id)) == Set(all.map(\.id)) && received.count == all.count, what)
    let others = all.count { $0.sender != user.identity.handle }
    #expect(try user.consumers().map(\.behindCount) == [others], what)
  }
}
