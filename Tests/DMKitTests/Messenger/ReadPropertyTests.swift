import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// The users of one conversation act at random.
///
/// After each act, every view of the store must agree with a model of plain sets.
struct ReadPropertyTests {
  private struct Run {
    let users: [String]
    let store: TemporaryStore
    let messengers: [String: Messenger]
    let group: ConversationReference
    let id: Identifier
    var model = ReadModel()
    var random: SplitMix64
    /// The time of each act, as the store returned it.
    var times: [Int: Timestamp] = [:]

    /// - Parameter isDirect: whether the conversation is a direct one of two users. Otherwise it is a group, whose
    ///   first message is an announcement and counts as read.
    init(seed: UInt64, isDirect: Bool) throws {
      users = isDirect ? ["alice", "bob"] : ["alice", "bob", "carol"]
      store = try TemporaryStore(users: users)
      messengers = try [String: Messenger](
        uniqueKeysWithValues: users.map { [store] in ($0, try store.messenger($0)) })
      let alice = try #require(messengers["alice"])
      id =
        try isDirect
        ? alice.directConversation(with: "bob").id : alice.createGroup(titled: "ops", with: ["bob", "carol"]).id
      group = .id(id)
      random = SplitMix64(seed: seed)
      if !isDirect { model.announce("alice", to: users) }
    }

    func messenger(_ user: String) throws -> Messenger { try #require(messengers[user]) }

    mutating func number() -> Int { 1 + random.below(max(model.last, 1)) }
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `read marks, counts and receipts equal those of a model that uses plain sets`(_ seed: UInt64) throws {
    var run = try Run(seed: seed, isDirect: seed % 2 == 0)
    for act in 1...300 {
      let user = run.users[run.random.below(run.users.count)]
      let what = try Self.act(act, user, &run)
      let message: Comment = "seed \(seed), act \(act): \(user) \(what)"
      try Self.compare(run, user, message)
      if act % 50 == 0 { for user in run.users { try Self.compare(run, user, message) } }
      if act % 25 == 0 { try Self.compareRows(run, message) }
    }
  }

  private static func act(_ act: Int, _ user: String, _ run: inout Run) throws -> String {
    let messenger = try run.messenger(user)
    let last = run.model.last
    var options = Messenger.MarkOptions()
    options.act = run.random.chance(35) ? .unread : .read
    options.isDryRun = run.random.chance(8)
    switch last == 0 ? 0 : run.random.below(100) {
    case 0..<25:
      _ = try messenger.send(Outgoing(to: run.group, text: "\(act)"))
      run.model.send(user)
      return "sent"
    case 25..<32:
      let seq = run.number()
      try messenger.markDelivered(upTo: [run.id: seq])
      run.model.delivered[user] = max(run.model.delivered[user] ?? 0, seq)
      return "got \(seq)"
    case 32..<45:
      let seqs = (0...run.random.below(5)).map { _ in run.number() }
      let mentioned = seqs.map { Messenger.MarkedMessage(conversation: run.id, seq: $0) }
      let (receipts, errors) = try messenger.markRead(mentioned, options)
      #expect(errors.isEmpty && receipts.count <= 1)
      try expect(receipts.first, Set(seqs), user, act, options, &run)
      return "marked \(seqs), \(options.act)"
    case 45..<55:
      let seq = run.number()
      let reference = MessageReference.number(run.random.chance(50) ? seq : seq - last - 1, in: nil)
      let receipt = try messenger.markRead(.upTo(reference), in: run.group, options)
      try expect(receipt, Set(1...seq), user, act, options, &run)
      return "marked up to \(seq), \(options.act)"
    case 55..<60:
      let receipt = try messenger.markRead(.all, in: run.group, options)
      try expect(receipt, Set(1...last), user, act, options, &run)
      return "marked all, \(options.act)"
    case 60..<63:
      let receipts = try messenger.markReadEverywhere(.all, options)
      #expect(receipts.count <= 1)
      try expect(receipts.first, Set(1...last), user, act, options, &run)
      return "marked all everywhere, \(options.act)"
    default:
      var wanted: Set<Int> = []
      let references = (0...run.random.below(3)).map { _ -> RangeReference in
        let lower = run.number()
        let upper = min(last, lower + run.random.below(6))
        wanted.formUnion(lower...upper)
        return RangeReference(from: lower, to: upper)
      }
      let receipt = try messenger.markRead(.ranges(references), in: run.group, options)
      try expect(receipt, wanted, user, act, options, &run)
      return "marked \(wanted.sorted()), \(options.act)"
    }
  }

  /// Applies an act to the model, and compares the store's result with that of the model.
  private static func expect(
    _ marked: Marked?, _ wanted: Set<Int>, _ user: String, _ act: Int, _ options: Messenger.MarkOptions,
    _ run: inout Run
  ) throws {
    var next = run.model
    let changed = options.act == .unread ? next.unmark(wanted, user) : next.mark(wanted, user, act: act)
    let ranges = ReadModel.ranges(changed).map { Int($0[0])...Int($0[1]) }
    #expect(marked?.ranges ?? [] == ranges && marked?.count ?? 0 == changed.count)
    #expect(marked?.unreadCount == (changed.isEmpty ? nil : next.unread(user).count))
    #expect(marked.map { $0.action == options.act && $0.isDryRun == options.isDryRun } != false)
    if options.isDryRun { return }
    run.model = next
    run.times[act] = marked?.at
  }

  private static func compare(_ run: Run, _ user: String, _ message: Comment) throws {
    let messenger = try run.messenger(user)
    let conversation = try messenger.conversation(run.group)
    let unread = run.model.unread(user)
    #expect(conversation.unreadCount == unread.count, message)
    #expect(conversation.firstUnreadSeq == unread.first, message)
    #expect(conversation.lastReadSeq == run.model.read[user]?.max(), message)
    #expect(try messenger.unreadCount() == unread.count, message)
    var query = HistoryQuery(run.group)
    query.limit = nil
    let all = try messenger.history(of: query)
    #expect(all.map(\.seq) == Array(1...run.model.last), message)
    #expect(all.map(\.status) == all.map { run.model.status($0.number) }, message)
    func expectFlags(_ shown: [Message], _ view: String) {
      #expect(shown.filter(\.isUnread).map(\.number) == unread, "\(message) in \(view)")
    }
    expectFlags(all, "the history")
    var request = SearchRequest()
    (request.conversations, request.newestFirst, request.limit) = ([run.group], true, nil)
    let results = try messenger.search(request)
    var found: [Message] = []
    while case let batch = try results.next(), !batch.isEmpty { found += batch.map(\.message) }
    expectFlags(found.reversed(), "the search")
    query.unreadOnly = true
    #expect(try messenger.history(of: query).map(\.seq) == unread, message)
    query.conversations = []
    #expect(try messenger.history(of: query).map(\.seq) == unread, message)
    query.unreadOnly = false
    expectFlags(try messenger.history(of: query), "everything")
    let seq = 1 + unread.count % run.model.last
    let receipts = try messenger.receipts(for: .number(seq, in: run.group))
    let expected = run.model.readers(seq)
    #expect(receipts.map(\.user.description) == expected.map(\.user), message)
    #expect(receipts.map(\.at) == expected.map { run.times[$0.act] }, message)
    #expect(receipts.allSatisfy { $0.ranges == [seq...seq] }, message)
  }

  /// Compares the rows with the model: stored ranges are disjoint and not adjacent, and the counts are right.
  private static func compareRows(_ run: Run, _ message: Comment) throws {
    for (key, user) in run.users.enumerated() {
      let read = run.model.read[user] ?? []
      let rows = try run.store.integers(
        "SELECT from_seq, to_seq FROM read_range WHERE user = \(key + 1) ORDER BY from_seq", columns: 2)
      #expect(rows == ReadModel.ranges(read), message)
      #expect(
        try run.store.integers("SELECT read_count FROM participant WHERE user = \(key + 1)") == [[Int64(read.count)]],
        message)
      var counted: Set<Int> = []
      for row in try run.store.integers("SELECT from_seq, to_seq FROM receipt WHERE user = \(key + 1)", columns: 2) {
        let range = try Int(#require(row[0]))...Int(#require(row[1]))
        #expect(counted.isDisjoint(with: range), message)
        counted.formUnion(range)
      }
      #expect(counted == Set((run.model.receipts[user] ?? [:]).keys), message)
    }
    let marks = try run.store.integers("SELECT from_seq, to_seq, reader FROM read_mark ORDER BY to_seq", columns: 3)
    var readers: [Int: Int64?] = [:]
    var before: [Int64?] = []
    for mark in marks {
      let range = try Int(#require(mark[0]))...Int(#require(mark[1]))
      for seq in range {
        #expect(readers[seq] == nil, message)
        readers[seq] = .some(mark[2])
      }
      if !before.isEmpty, before[1] == mark[0].map({ $0 - 1 }) { #expect(before[2] != mark[2], message) }
      before = mark
    }
    var expected: [Int: Int64?] = [:]
    for (key, user) in run.users.enumerated() {
      for seq in (run.model.receipts[user] ?? [:]).keys {
        expected[seq] = .some(expected[seq] == nil ? Int64(key + 1) : nil)
      }
    }
    #expect(readers == expected, message)
  }
}
