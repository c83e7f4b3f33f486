import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// A follower from the start of the log, whose events are compared with those of the model.
final class ComparedFollower {
  let user: ReferenceModel.User
  let consumer: String?
  private let messenger: Messenger
  /// Made when it is first needed, and again after it has ended.
  private var follower: Follower?
  /// The number of entries of the model up to the position of the follower.
  var index = 0
  /// The number of entries that the consumer has acknowledged.
  var acknowledged = 0
  var cursors: [(cursor: Cursor, index: Int)] = []

  init(_ user: ReferenceModel.User, _ messenger: Messenger, consumer: String? = nil) {
    (self.user, self.messenger, self.consumer) = (user, messenger, consumer)
  }

  static let kinds = Set(MessagingEvent.Kind.allCases).subtracting([.typing, .presence])

  func following() throws -> Follower {
    if let follower { return follower }
    var query = EventQuery([], from: .start)
    query.kinds = Self.kinds
    query.signalsPresence = false
    query.marksDelivered = consumer != nil
    query.consumer = consumer
    query.heartbeat = consumer.map { _ in .seconds(1_000_000) }
    let new = try Follower(messenger, query)
    follower = new
    index = acknowledged
    return new
  }

  func end() { follower = nil }
}

/// Compares the streams of followers with those of the model.
extension RandomActs {
  /// The events that a user gets for the entries from an index on, each with the number of its entry.
  func expected(
    from index: Int, to user: User, kinds: Set<MessagingEvent.Kind> = ComparedFollower.kinds, in talks: Set<Int>? = nil,
    othersOnly: Bool = false
  ) throws -> [(event: MessagingEvent, entry: Int)] {
    // An event has the current state, which is the same for all events of a conversation.
    var cache: [Int: Conversation] = [:]
    var events: [(event: MessagingEvent, entry: Int)] = []
    for number in index..<model.entries.count {
      let entry = model.entries[number]
      guard kinds.contains(ReferenceModel.kind(entry)), talks?.contains(entry.talk) != false else { continue }
      if othersOnly {
        if model.actor(entry) == user { continue }
        if case .status(let seq, _, _, _) = entry.kind, model.talks[entry.talk].said[seq - 1].sender == user {
          continue
        }
      }
      guard let event = try model.event(entry, to: user, nowhere, &cache) else { continue }
      events.append((event, number))
    }
    return events
  }

  /// The cursor of all events when they are compared without their own cursors.
  private var nowhere: Cursor { Cursor(store: model.store, .start) }

  private func withoutCursor(_ event: MessagingEvent) -> MessagingEvent {
    switch event {
    case .message(let message, _): .message(message, nowhere)
    case .messageUpdated(let message, _): .messageUpdated(message, nowhere)
    case .messageStatus(let status, _): .messageStatus(status, nowhere)
    case .messageDeleted(let deletion, _): .messageDeleted(deletion, nowhere)
    case .reaction(let reaction, _): .reaction(reaction, nowhere)
    case .messagePin(let pin, _): .messagePin(pin, nowhere)
    case .readReceipt(let receipt, _): .readReceipt(receipt, nowhere)
    case .deliveryReceipt(let receipt, _): .deliveryReceipt(receipt, nowhere)
    case .conversationUpdated(let conversation, _): .conversationUpdated(conversation, nowhere)
    default: event
    }
  }

  /// The event, split into one event for each message if it is a change of status.
  private func parts(_ event: MessagingEvent) -> [MessagingEvent] {
    guard case .messageStatus(let status, let cursor) = event else { return [event] }
    return status.ranges.joined().map {
      .messageStatus(
        MessageStatus(
          conversationID: status.conversationID, conversationTitle: status.conversationTitle, sender: status.sender,
          status: status.status, ranges: [$0...$0], user: status.user), cursor)
    }
  }

  /// The events without their cursors, and with each run of consecutive changes of status sorted, because a follower
  /// gets those of one act sender by sender.
  private func comparable(_ events: [MessagingEvent]) -> [MessagingEvent] {
    let all = events.flatMap(parts).map(withoutCursor)
    return all.split { !$0.isStatus }.reduce(into: all) { sorted, run in
      sorted.replaceSubrange(run.indices, with: run.sorted { "\($0)" < "\($1)" })
    }
  }

  /// Lets a follower read all events up to the end of the log, and compares them.
  func poll(_ watcher: ComparedFollower) throws {
    note("\(name(watcher.user)) \(watcher.consumer ?? "follows")")
    let follower = try watcher.following()
    // Creating the consumer was a write.
    try observe()
    try learn()
    var right = try expected(from: watcher.index, to: watcher.user)
    var actual: [MessagingEvent] = []
    let deadline = monotonicMicroseconds() + testTimeout
    while try .cursor(follower.cursor) != messengers[watcher.user].here(),
      monotonicMicroseconds() < deadline
    {
      actual += (try follower.next(within: .milliseconds(5)) ?? []).filter {
        if case .caughtUp = $0 { false } else { true }
      }
    }
    // A follower turns expired messages into tombstones, in most cases after it has read the earlier changes.
    let before = model.entries.count
    try observe()
    try learn()
    let what = "what \(name(watcher.user)) gets from \(watcher.index) on"
    if model.entries.count > before {
      let late = try expected(from: watcher.index, to: watcher.user)
      right += try expected(from: before, to: watcher.user)
      if comparable(actual) == comparable(late.map(\.event)) { right = late }
    }
    try compare(actual, right, what)
    var count = 0
    for (index, event) in actual.enumerated() {
      count += parts(event).count
      // If one act changed the status of messages of several senders, a cursor between two of these senders is not a
      // position in the log of the model.
      if event.isStatus, index + 1 < actual.count, actual[index + 1].isStatus { continue }
      let next = right[count - 1].entry + 1
      if let cursor = event.cursor, isPosition(cursor, next) { watcher.cursors.append((cursor, next)) }
    }
    watcher.index = model.entries.count
    watcher.cursors.append((follower.cursor, watcher.index))
    let cursors = actual.compactMap(\.cursor) + [follower.cursor]
    guard zip(cursors, cursors.dropFirst()).allSatisfy({ $0 <= $1 }) else { throw Mismatch("\(what): cursors go back") }
  }

  /// Whether the entries of the model before this index are exactly those before the cursor, whatever the user sees later.
  ///
  /// The follower gets the changes of status of one act sender by sender, in the order of each sender's first message,
  /// but the model has them by number. Therefore a cursor between these changes is such a position only if, for each
  /// sender, all changes are before the cursor or all are after it. This includes senders whose changes the follower
  /// does not get now, because they block somebody: they may unblock that user later.
  private func isPosition(_ cursor: Cursor, _ index: Int) -> Bool {
    let within = cursor.position.seq
    guard within > 0, case .status(_, let status, let reader, _) = model.entries[index - 1].kind else { return true }
    let talk = model.entries[index - 1].talk
    func part(_ entry: ReferenceModel.Entry) -> (seq: Int, sender: User)? {
      guard entry.talk == talk, case .status(let seq, status, by: reader, _) = entry.kind else { return nil }
      return (seq, model.talks[talk].said[seq - 1].sender)
    }
    let before = Array(model.entries[..<index].reversed().lazy.map(part).prefix { $0 != nil }.compactMap(\.self))
    let after = Array(model.entries[index...].lazy.map(part).prefix { $0 != nil }.compactMap(\.self))
    let first = Dictionary((before + after).map { ($0.sender, $0.seq) }, uniquingKeysWith: min)
    func beginsWithin(_ part: (seq: Int, sender: User)) -> Bool { first[part.sender, default: 0] <= within }
    return before.allSatisfy(beginsWithin) && !after.contains(where: beginsWithin)
  }

  private func compare(
    _ actual: [MessagingEvent], _ right: [(event: MessagingEvent, entry: Int)], _ what: String
  ) throws {
    let (actual, events) = (comparable(actual), comparable(right.map(\.event)))
    do {
      try same(actual, events, what)
    } catch let mismatch as Mismatch {
      let difference = zip(actual, events).enumerated().first { $0.element.0 != $0.element.1 }?.offset
      let entry = (difference ?? actual.count) < right.count ? right[difference ?? actual.count].entry : nil
      throw Mismatch("\(mismatch), of \(entry.map { "\(model.entries[$0])" } ?? "nothing")")
    }
  }

  /// Begins a stream at a random cursor with a random query, and reads it to its end.
  func replay(_ user: User, fromStart: Bool = false) throws {
    let cursors = watchers.first { $0.user == user }?.cursors ?? []
    let begin = fromStart ? nil : start(among: cursors)
    let kinds = Set(
      MessagingEvent.Kind.allCases.filter { ComparedFollower.kinds.contains($0) && (fromStart || chance(60)) })
    let othersOnly = !fromStart && chance(30)
    let own = model.talks.indices.filter { model.talks[$0].parts[user] != nil }
    let talks = fromStart || chance(60) ? [] : Set((0...3).compactMap { _ in own.randomElement(using: &random) })
    note("\(name(user)) replays from \(begin?.index ?? 0) \(kinds.map(\.rawValue).sorted()), \(talks), \(othersOnly)")
    var query = EventQuery(
      talks.compactMap { model.talks[$0].id.map { .id($0) } },
      from: begin.map { .cursor($0.cursor) } ?? .start)
    (query.kinds, query.othersOnly, query.signalsPresence, query.marksDelivered) = (kinds, othersOnly, false, false)
    let right = try expected(
      from: begin?.index ?? 0, to: user, kinds: kinds, in: talks.isEmpty ? nil : talks, othersOnly: othersOnly)
    let actual = try messengers[user].received(query)
    try compare(actual, right, "what \(name(user)) gets again from \(begin?.index ?? 0) on")
  }

  /// A received cursor: in most cases a late one, or one between the messages whose status one receipt changed.
  private func start(among cursors: [(cursor: Cursor, index: Int)]) -> (cursor: Cursor, index: Int)? {
    let within = cursors.filter { $0.cursor.position.seq > 0 }
    if chance(40), !within.isEmpty { return within.randomElement(using: &random) }
    return cursors.suffix(chance(70) ? 80 : .max).randomElement(using: &random)
  }

  // MARK: The consumer

  /// Acknowledges a received cursor, which may be an old one, alone or together with an answer.
  func acknowledge(_ watcher: ComparedFollower) throws {
    guard let name = watcher.consumer else { return }
    guard let (cursor, index) = start(among: Array(watcher.cursors.suffix(chance(80) ? 20 : 400))) else { return }
    let user = watcher.user
    let isNew = index > watcher.acknowledged
    var wish = chance(40) ? wish(by: user) : nil
    wish?.nonce = nil
    let lines = [
      ConsumerLine(try wish.map { .success(try $0.outgoing()) }, acknowledges: cursor)
    ]
    try play("\(self.name(user)) acknowledges \(index) with \(wish.map { "\($0)" } ?? "nothing")") {
      if wish == nil, chance(50) {
        return .acknowledged(try messengers[user].acknowledge(cursor, for: name))
      }
      guard let answer = try messengers[user].send(lines, as: name).first else { throw Mismatch("no answer") }
      return try answer.get()
    } _: { model throws(Refusal) -> Address? in
      if !isNew { return nil }
      var said: Address?
      if let wish { said = try model.send(wish, by: user).address }
      let delivered = model.messagesOfOthers(model.entries[watcher.acknowledged..<index], user).last
      for (talk, seq) in delivered.sorted(by: { $0.key < $1.key }) { _ = model.markDelivered(seq, talk, to: user) }
      watcher.acknowledged = index
      return said
    } _: { (actual: Messenger.ConsumerAnswer, said) in
      switch (actual, said) {
      case (.message(let message), .some(let address)): try check(message, address, false, to: user)
      case (.acknowledged(let actual), nil):
        if isNew { try same(actual.cursor, cursor, "where the consumer stands") }
      default: throw Mismatch("answered \(actual)")
      }
    }
  }

  func compareConsumer(_ watcher: ComparedFollower) throws {
    guard let consumer = try messengers[watcher.user].consumers().first else { return }
    let behind = model.messagesOfOthers(model.entries[watcher.acknowledged...], watcher.user).count
    try same(consumer.behindCount, behind, "how many messages the consumer has before it")
  }

  /// A random follower reads, or its consumer acknowledges.
  func follow() throws {
    let watcher = watchers[random.below(watchers.count)]
    switch watcher.consumer == nil ? 0 : random.below(100) {
    case 0..<55: try poll(watcher)
    case 55..<85: try acknowledge(watcher)
    case 85..<95: try compareConsumer(watcher)
    default:
      note("the consumer begins again")
      watcher.end()
    }
  }
}
