import Testing

@testable import DMKit
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Four users act at random, while followers with random queries read at random times and begin again at cursors that
/// they have received.
///
/// Each follower must get the events of the reference model, in the same order, with the current state.
struct FollowerPropertyTests {
  private static let users = ["alice", "bob", "carol", "dave"]
  /// A group of all four users, a group without Alice, and two direct conversations.
  private static let participants = [users, ["bob", "carol", "dave"], ["alice", "bob"], ["carol", "dave"]]

  private final class Watcher {
    let filter: StreamModel.Filter
    let follower: Follower
    /// The number of entries of the model up to the position of the follower.
    var index: Int
    /// The last status that the follower received for each message.
    var statuses: [String: Message.Status] = [:]
    let beginning: Int

    init(_ filter: StreamModel.Filter, _ follower: Follower, at index: Int) {
      (self.filter, self.follower, self.index, beginning) = (filter, follower, index, index)
    }
  }

  private final class Run {
    let seed: UInt64
    let store: TemporaryStore
    let messengers: [String: Messenger]
    var references: [String: [ConversationReference?]] = [:]
    var ids: [Identifier: Int] = [:]
    var model = StreamModel(participants: participants)
    var random: SplitMix64
    var watchers: [Watcher] = []
    /// The received cursors, each with the number of entries of the model before it.
    var cursors: [(cursor: Cursor, index: Int)] = []
    var log: [String] = []

    init(seed: UInt64) throws {
      self.seed = seed
      random = SplitMix64(seed: seed)
      store = try TemporaryStore(users: users)
      messengers = try [String: Messenger](
        uniqueKeysWithValues: users.map { [store] in ($0, try store.messenger($0)) })
      let bob = try messenger("bob")
      let all = try bob.createGroup(titled: "all", with: ["alice", "carol", "dave"]).id
      let some = try bob.createGroup(titled: "some", with: ["carol", "dave"]).id
      ids[try bob.directConversation(with: "alice").id] = 2
      (ids[all], ids[some]) = (0, 1)
      for number in 0...1 { model.createGroup(number, by: "bob") }
      model.create(2, by: "bob")
      for user in users {
        let pairs = [["alice", "bob"], ["carol", "dave"]].map { pair in
          pair.contains(user) ? pair.first { $0 != user }.map { ConversationReference.direct(Handle(typed: $0)) } : nil
        }
        references[user] = [.id(all), user == "alice" ? nil : .id(some)] + pairs
      }
    }

    func messenger(_ user: String) throws -> Messenger { try #require(messengers[user]) }

    func reference(_ conversation: Int, _ user: String) throws -> ConversationReference {
      try #require(references[user]?[conversation])
    }

    var comment: Comment { "seed \(seed): \(log.suffix(12).joined(separator: "; "))" }
  }

  @Test(arguments: 1...16 as ClosedRange<UInt64>)
  func `every follower gets the events of the reference model, from whatever cursor it starts`(_ seed: UInt64) throws {
    let run = try Run(seed: seed)
    for _ in 1...4 { try Self.begin(run) }
    for act in 1...150 {
      switch run.random.below(100) {
      case 0..<70: try Self.act(act, run)
      case 70..<92: try Self.read(run.watchers[run.random.below(run.watchers.count)], run)
      default: try Self.begin(run)
      }
    }
    for watcher in run.watchers {
      try Self.read(watcher, run)
      try Self.compareStatuses(watcher, run)
    }
  }

  private static func act(_ act: Int, _ run: Run) throws {
    let conversation = run.random.below(participants.count)
    let user = participants[conversation][run.random.below(participants[conversation].count)]
    let messenger = try run.messenger(user)
    let reference = try run.reference(conversation, user)
    let last = run.model.conversations[conversation].last
    var options = Messenger.MarkOptions()
    switch last == 0 ? 0 : run.random.below(100) {
    case 0..<35:
      let count = run.random.chance(4) ? 400 : 1
      run.log.append("\(user) sends \(count) to \(conversation)")
      let sent = try messenger.send((1...count).map { try Outgoing(to: reference, text: "\(act).\($0)") })
      run.ids[try #require(sent.first).get().conversationID] = conversation
      for _ in 1...count { run.model.send(user, in: conversation) }
    case 35..<60:
      let seq = 1 + run.random.below(last)
      run.log.append("\(user) gets \(seq) of \(conversation)")
      options.act = .delivered
      _ = try messenger.markRead(.ranges([RangeReference(from: 1, to: seq)]), in: reference, options)
      run.model.deliver(seq, to: user, in: conversation)
    default:
      var wanted: Set<Int> = []
      let ranges = (0...run.random.below(3)).map { _ -> RangeReference in
        let lower = 1 + run.random.below(last)
        let upper = run.random.chance(10) ? last : min(last, lower + run.random.below(6))
        wanted.formUnion(lower...upper)
        return RangeReference(from: lower, to: upper)
      }
      options.act = run.random.chance(25) ? .unread : .read
      run.log.append(
        "\(user) marks \(ranges.map { "\($0.from ?? 0)-\($0.to ?? 0)" }) of \(conversation) \(options.act)")
      _ = try messenger.markRead(.ranges(ranges), in: reference, options)
      if options.act == .read {
        run.model.mark(wanted, by: user, in: conversation, act: act)
      } else {
        run.model.unmark(wanted, by: user, in: conversation)
      }
    }
  }

  /// Adds a follower that begins at the start, now, or at any received cursor.
  private static func begin(_ run: Run) throws {
    let user = users[run.random.below(users.count)]
    let kinds = Set(
      [MessagingEvent.Kind.message, .messageStatus, .readReceipt, .deliveryReceipt, .conversationUpdated].filter { _ in
        run.random.chance(65)
      })
    let othersOnly = run.random.chance(25)
    var named: [Int]?
    if run.random.chance(50) {
      named = participants.indices.filter { participants[$0].contains(user) && run.random.chance(60) }
      if named?.isEmpty == true { named = nil }
    }
    let filter = StreamModel.Filter(user: user, kinds: kinds, conversations: named, othersOnly: othersOnly)
    var query = EventQuery(try (named ?? []).map { try run.reference($0, user) })
    (query.kinds, query.othersOnly) = (kinds, filter.othersOnly)
    (query.marksDelivered, query.signalsPresence) = (false, false)
    query.beginsCaughtUp = run.random.chance(30)
    var index = run.model.entries.count
    switch run.random.below(run.cursors.isEmpty ? 2 : 6) {
    case 0: query.start = .now
    case 1: (query.start, index) = (.start, 0)
    default:
      let cursor = run.cursors[run.random.below(run.cursors.count)]
      (query.start, index) = (.cursor(cursor.cursor), cursor.index)
    }
    // The follower shares the connection of the user's acts, or has its own.
    let messenger = try run.random.chance(50) ? run.messenger(user) : run.store.messenger(user)
    let watcher = Watcher(filter, try Follower(messenger, query), at: index)
    run.log.append("\(user) follows \(named ?? []) from \(index)")
    run.watchers.append(watcher)
    if run.watchers.count > 6 { try read(run.watchers.removeFirst(), run) }
    if run.random.chance(50) { try read(watcher, run) }
  }

  private static func read(_ watcher: Watcher, _ run: Run) throws {
    let (filter, follower) = (watcher.filter, watcher.follower)
    run.log.append("\(filter.user) reads \(filter)")
    let end = try run.messenger(filter.user).here()
    let deadline = monotonicMicroseconds() + testTimeout
    var events: [MessagingEvent] = []
    while .cursor(follower.cursor) != end, monotonicMicroseconds() < deadline {
      events += try #require(try follower.next(within: .microseconds(20_000)))
    }
    events = events.filter { if case .caughtUp = $0 { false } else { true } }
    let expected = (watcher.index..<run.model.entries.count).filter { run.model.isSelected($0, by: filter) }
    // The stream returns the changes of status of one act sender by sender, so both lists are sorted before they are compared.
    let received = inOrder(events.flatMap { texts(of: $0, run) })
    let right = inOrder(expected.map { (run.model.text(of: $0, to: filter.user), run.model.isStatus($0)) })
    try #require(received == right, run.comment)
    watcher.index = run.model.entries.count
    var count = 0
    for (index, event) in events.enumerated() {
      count += texts(of: event, run).count
      if !event.isStatus || index + 1 == events.count || !events[index + 1].isStatus {
        run.cursors.append((try #require(event.cursor), expected[count - 1] + 1))
      }
      switch event {
      case .message(let message, _): watcher.statuses["\(message.conversationID):\(message.number)"] = message.status
      case .messageStatus(let status, _):
        for seq in status.ranges.joined() { watcher.statuses["\(status.conversationID):\(seq)"] = status.status }
      default: break
      }
    }
    run.cursors.append((follower.cursor, watcher.index))
    let cursors = events.compactMap(\.cursor) + [follower.cursor]
    #expect(zip(cursors, cursors.dropFirst()).allSatisfy { $0 <= $1 }, run.comment)
  }

  /// The texts, with each run of consecutive status texts sorted.
  private static func inOrder(_ texts: [(text: String, isStatus: Bool)]) -> [String] {
    texts.split { !$0.isStatus }.reduce(into: texts.map(\.text)) { sorted, run in
      sorted.replaceSubrange(run.indices, with: run.map(\.text).sorted())
    }
  }

  private static func texts(of event: MessagingEvent, _ run: Run) -> [(text: String, isStatus: Bool)] {
    guard case .messageStatus(let status, _) = event else { return [(text(of: event, run), false)] }
    return status.ranges.joined().map {
      ("\(run.ids[status.conversationID] ?? -1): \($0) \(status.sender) \(status.status) by \(status.user)", true)
    }
  }

  private static func text(of event: MessagingEvent, _ run: Run) -> String {
    let conversation = event.conversationID.flatMap { run.ids[$0] } ?? -1
    switch event {
    case .message(let message, _): return "\(conversation): new \(message.number) \(message.sender) \(message.status)"
    case .readReceipt(let receipt, _):
      return "\(conversation): \(receipt.user) read \(receipt.ranges[0])"
    case .deliveryReceipt(let receipt, _): return "\(conversation): \(receipt.user) got \(receipt.ranges[0])"
    case .conversationUpdated(let seen, _):
      return "\(conversation): \(seen.unreadCount) unread of \(seen.lastMessage?.seq ?? 0)"
    default: return event.summary
    }
  }

  /// Checks that the last status that a follower received for each message is its status in the history.
  private static func compareStatuses(_ watcher: Watcher, _ run: Run) throws {
    guard watcher.filter.kinds.isSuperset(of: [.message, .messageStatus]), !watcher.filter.othersOnly else { return }
    var query = HistoryQuery()
    query.limit = nil
    for message in try run.messenger(watcher.filter.user).history(of: query) {
      guard let received = watcher.statuses["\(message.conversationID):\(message.number)"] else { continue }
      #expect(received == message.status, run.comment)
    }
  }
}
