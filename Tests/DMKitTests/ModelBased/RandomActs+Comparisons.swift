@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// Compares the records that users get with those of the model.
extension RandomActs {
  /// Compares one conversation as one user sees it, or checks that the user may not see it.
  func compare(_ talk: Int, to user: User) throws {
    guard let id = model.talks[talk].id else { throw Mismatch("not learned") }
    let what = "the conversation \(talk) of \(name(user))"
    guard model.talks[talk].parts[user] != nil else {
      return try refused(what) { try messengers[user].conversation(.id(id)) }
    }
    try same(try messengers[user].conversation(.id(id)), try model.conversation(talk, to: user), what)
  }

  private func refused<T>(_ what: String, _ body: () throws -> T) throws {
    do {
      throw Mismatch("\(what) is not refused: \(try body())")
    } catch let error as DMError {
      try same(error.code, .notAllowed, what)
    }
  }

  func compareList(of user: User, _ archived: ListQuery.Archived = .excluded) throws {
    var query = ListQuery()
    (query.archived, query.limit) = (archived, nil)
    let expected = try model.list(archived, user)
    let what = "the list of \(name(user)), archived \(archived)"
    try same(try messengers[user].conversations(query), expected, what)
    try same(
      try messengers[user].unreadCount(query), expected.reduce(0) { $0 + $1.unreadCount }, "the count of \(what)")
    query.unreadOnly = true
    try same(try messengers[user].conversations(query), expected.filter { $0.unreadCount > 0 }, "unread of \(what)")
    query.limit = 3
    let page = try messengers[user].conversations(query)
    try same(page, Array(expected.filter { $0.unreadCount > 0 }.prefix(3)), "the first page of \(what)")
    query.after = page.last?.pageCursor
    if query.after != nil {
      let next = expected.filter { $0.unreadCount > 0 }.dropFirst(3).prefix(3)
      try same(try messengers[user].conversations(query), Array(next), "the second page of \(what)")
    }
  }

  /// Compares the pinned messages that a user sees in all conversations.
  func comparePins(of user: User) throws {
    let expected = try model.talks.indices.filter { model.talks[$0].parts[user] != nil }.flatMap { talk in
      try model.talks[talk].said.indices.map { $0 + 1 }.filter {
        model.talks[talk].said[$0 - 1].pin != nil && model.sees($0, talk, user)
      }.map { try model.message($0, talk, to: user) }
    }
    let actual = try messengers[user].pins()
    try same(Set(actual.map(\.id)), Set(expected.map(\.id)), "the pins of \(name(user))")
    try same(
      actual.compactMap(\.pin?.at), expected.compactMap(\.pin?.at).sorted(by: >), "when they were pinned")
  }

  /// Compares the conversations that a text matches in the title or in the handle of another participant.
  func compareMatches(of user: User) throws {
    let text = ["OP", "al", "ice", "Crowd", "海", "%"][random.below(6)]
    var query = ListQuery()
    (query.archived, query.limit, query.matching) = (.included, nil, text)
    func matches(_ words: String?) -> Bool { words?.lowercased().contains(text.lowercased()) == true }
    let expected = try model.list(.included, user).filter { seen in
      let isAlone = !seen.isGroup && seen.participants.count == 1
      return matches(seen.title) || matches(seen.ownName)
        || seen.participants.contains { matches($0.description) && (isAlone || $0 != model.handle(user)) }
    }
    let what = "what \(name(user)) finds in the list by \(text)"
    try same(try messengers[user].conversations(query), expected, what)
    try same(
      try messengers[user].unreadCount(query), expected.reduce(0) { $0 + $1.unreadCount }, "the count of \(what)")
  }

  /// Compares the other users whose presence a user may see, and the conversations in which a user may type.
  func comparePresence(to user: User) throws {
    let others = model.names.indices.filter { other in
      other != user && !model.hasBlocked(user, other)
        && model.talks.indices.contains { model.isIn(user, $0) && model.isIn(other, $0) }
    }
    let actual = try messengers[user].presence().map(\.user.description)
    try same(actual.sorted(), others.map { name($0) }.sorted(), "who may be there for \(name(user))")
    guard let talk = model.talks.indices.randomElement(using: &random), let id = model.talks[talk].id else { return }
    let what = "the typing of \(name(user)) in \(talk)"
    if model.isIn(user, talk) {
      _ = try messengers[user].typing(in: .id(id))
    } else {
      try refused(what) { try messengers[user].typing(in: .id(id)) }
    }
  }

  /// The messages that a query of one conversation must return.
  private func expected(_ query: HistoryQuery, _ talk: Int, to user: User) throws -> [Message] {
    let end = model.talks[talk].end(for: user)
    var seqs = (0..<end).map { $0 + 1 }
    if let ranges = query.ranges {
      let wanted = ranges.reduce(into: Set<Int>()) { $0.formUnion(model.numbers($1, in: talk, for: user)) }
      seqs = seqs.filter(wanted.contains)
    }
    if case .time(let time)? = query.since { seqs = seqs.filter { model.talks[talk].said[$0 - 1].createdAt >= time } }
    if case .time(let time)? = query.before { seqs = seqs.filter { model.talks[talk].said[$0 - 1].createdAt < time } }
    if case .message(.number(let number, in: nil))? = query.since { seqs = seqs.filter { $0 >= number } }
    if case .message(.number(let number, in: nil))? = query.before { seqs = seqs.filter { $0 < number } }
    seqs = seqs.filter { query.includesDeleted ? model.reaches($0, talk, user) : model.sees($0, talk, user) }
    if query.unreadOnly { seqs = seqs.filter { !model.countsAsRead($0, talk, by: user) } }
    return try model.messages(Array(seqs.suffix(query.limit ?? .max)), talk, to: user)
  }

  func compareHistory(_ talk: Int, to user: User) throws {
    guard let id = model.talks[talk].id else { throw Mismatch("not learned") }
    var query = HistoryQuery(.id(id))
    query.limit = nil
    let what = "of \(talk) for \(name(user))"
    if model.talks[talk].parts[user] == nil {
      return try refused("the history \(what)") { try messengers[user].history(of: query) }
    }
    try same(try messengers[user].history(of: query), try expected(query, talk, to: user), "the history \(what)")
    query.includesDeleted = true
    try same(
      try messengers[user].history(of: query), try expected(query, talk, to: user), "the history and tombstones \(what)"
    )
    query.includesDeleted = false
    query.unreadOnly = true
    try same(try messengers[user].history(of: query), try expected(query, talk, to: user), "what is unread \(what)")
    query.unreadOnly = chance(30)
    if chance(60) { query.limit = 1 + random.below(8) }
    if chance(30) { query.ranges = (0...1).map { _ in range(in: talk, for: user) } }
    let end = model.talks[talk].end(for: user)
    if end > 0, chance(30) { query.since = bound(in: talk, upTo: end) }
    if end > 0, chance(30) { query.before = bound(in: talk, upTo: end) }
    try same(try messengers[user].history(of: query), try expected(query, talk, to: user), "\(query) \(what)")
  }

  /// A random bound: a message, or the time of a message.
  func bound(in talk: Int, upTo end: Int) -> HistoryQuery.Bound {
    let seq = 1 + random.below(end)
    return chance(50) ? .message(.number(seq, in: nil)) : .time(model.talks[talk].said[seq - 1].createdAt)
  }

  /// Compares the messages of all conversations, in the order of time.
  func compareTimeline(of user: User) throws {
    var query = HistoryQuery()
    query.limit = nil
    var all: [(message: Message, isUnread: Bool)] = []
    for talk in model.talks.indices where model.talks[talk].parts[user] != nil {
      for seq in model.visible(talk, user) {
        all.append((try model.message(seq, talk, to: user), !model.countsAsRead(seq, talk, by: user)))
      }
    }
    all.sort { $0.message.createdAt < $1.message.createdAt }
    let what = "of everything for \(name(user))"
    try same(try messengers[user].history(of: query), all.map(\.message), "the history \(what)")
    query.limit = 1 + random.below(30)
    let newest = Array(all.map(\.message).suffix(query.limit ?? 0))
    try same(try messengers[user].history(of: query), newest, "the newest \(what)")
    if let (from, to) = two(of: all.map(\.message)) {
      (query.limit, query.since, query.before) = (nil, .time(from.createdAt), .message(.id(to.id)))
      let between = all.map(\.message).filter { $0.createdAt >= from.createdAt && $0.createdAt < to.createdAt }
      try same(try messengers[user].history(of: query), between, "from \(from.number) to \(to.number) \(what)")
      (query.since, query.before) = (nil, nil)
    }
    (query.limit, query.unreadOnly) = (nil, true)
    try same(try messengers[user].history(of: query), all.filter(\.isUnread).map(\.message), "what is unread \(what)")
    let some = Set(
      (0...1).compactMap { _ in
        model.talks.indices.filter { model.talks[$0].parts[user] != nil }.randomElement(using: &random)
      })
    query.conversations = some.compactMap { model.talks[$0].id.map { .id($0) } }
    if some.count < 2 { return }
    let chosen = all.filter { pair in some.contains { model.talks[$0].id == pair.message.conversationID } }
    try same(
      try messengers[user].history(of: query), chosen.filter(\.isUnread).map(\.message), "unread of \(some) \(what)")
    query.unreadOnly = false
    try same(try messengers[user].history(of: query), chosen.map(\.message), "all of \(some) \(what)")
  }

  private func two(of messages: [Message]) -> (Message, Message)? {
    guard let one = messages.randomElement(using: &random), let other = messages.randomElement(using: &random) else {
      return nil
    }
    return (one, other)
  }

  func compareReceipts(for user: User) throws {
    let reference = message(for: user)
    let actual: Result<[Receipt], any Error> = Result { try messengers[user].receipts(for: [.message(reference)]) }
    let what = "who has received and read \(reference), as \(name(user)) sees it"
    switch (actual, Result { () throws(Refusal) in try model.seen(reference, user) }) {
    case (.success(let actual), .success(let address)):
      try same(actual, try model.receipts(address.seq, address.talk, to: user), what)
    case (.failure(let fault as DMError), .failure(let refusal)): try same(fault.code, refusal.code, what)
    case (_, let right): throw Mismatch("\(what): \(actual), not \(right)")
    }
  }

  func compareBlocks(of user: User) throws {
    try same(
      try messengers[user].blockedUsers().map(\.handle), model.blocks[user].map(model.handle),
      "those that \(name(user)) blocks")
  }

  func compareReports() throws {
    let actual = try files.texts(
      """
      SELECT m.conversation || ' ' || m.seq || ' ' || r.reporter || ' ' || coalesce(r.reason, '-') || ' ' || coalesce(r.text, '-')
      FROM report r JOIN message m ON m.id = r.message
      """)
    let expected = model.reports.map {
      "\($0.talk + 1) \($0.seq) \($0.reporter + 1) \($0.reason ?? "-") \($0.text ?? "-")"
    }
    try same(actual.sorted(), expected.sorted(), "the reports")
  }

  /// Compares one random view of a user.
  func look(by user: User) throws {
    note("\(name(user)) looks")
    guard let talk = model.talks.indices.randomElement(using: &random) else { return }
    switch random.below(18) {
    case 17: try comparePins(of: user)
    case 14: try compareMatches(of: user)
    case 15: try comparePresence(to: user)
    case 10...: try compareSearch(of: user)
    case 0..<4: try compareHistory(talk, to: user)
    case 4..<7: try compareReceipts(for: user)
    case 7: try compareList(of: user, chance(50) ? .only : .included)
    case 8: try compareBlocks(of: user)
    default: try compareTimeline(of: user)
    }
  }

  /// Compares all views of all users.
  func compareEverything() throws {
    for user in Self.names.indices {
      for archived in [ListQuery.Archived.excluded, .only, .included] { try compareList(of: user, archived) }
      for talk in model.talks.indices {
        try compare(talk, to: user)
        try compareHistory(talk, to: user)
      }
      try compareTimeline(of: user)
      try compareBlocks(of: user)
      try compareMatches(of: user)
      try comparePins(of: user)
      try comparePresence(to: user)
      for _ in 1...10 { try compareReceipts(for: user) }
      for _ in 1...5 { try compareSearch(of: user) }
    }
    for watcher in watchers { try watcher.consumer == nil ? poll(watcher) : compareConsumer(watcher) }
    try compareReports()
    try compareUpkeep()
  }
}

extension RandomActs {
  /// Compares what the last act may have changed.
  func compareNow() throws {
    guard let talk = model.entries.last?.talk else { return }
    try compare(talk, to: anybody())
    if chance(8) { try compareList(of: anybody()) }
    if chance(10) { try follow() }
    if chance(2), chance(60) { try replay(anybody()) }
    if chance(3) { try compareHistory(talk, to: anybody()) }
    if chance(1), chance(5) { try compareEverything() }
  }
}
