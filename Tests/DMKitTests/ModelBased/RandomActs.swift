import FoundationEssentials

@testable import DMKit
@testable import DMStore
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Five users who act at random on one store, and the model of that store.
final class RandomActs {
  typealias User = ReferenceModel.User
  typealias Address = ReferenceModel.Address

  /// The users who act.
  ///
  /// One name is the beginning of another, and one is in a script without spaces between words.
  static let names = ["alice", "al", "bob", "carol", "海"]
  /// Users who are only in one group.
  ///
  /// The group becomes large when one or two of the users who act join it.
  ///
  /// The first user of the crowd adds users who have left.
  static let crowd = (1...(Conversations.smallGroup - 3)).map { "extra\($0)" }

  let seed: UInt64
  var random: SplitMix64
  let files: TemporaryStore
  let messengers: [Messenger]
  /// A separate connection, which reads what the store decides alone, such as ids, and lets time pass.
  let store: Store
  /// Two followers, and a bot with a consumer.
  let watchers: [ComparedFollower]
  var model: ReferenceModel
  var act = 0
  private(set) var log: [String] = []

  // How much of the store the model has learned.
  private var learnedTalks = 0
  private var learnedMessages: [Int] = []
  private var learnedEntries = 0
  private var learnedChanges: Int64 = 0

  /// The number of groups from which on new groups become rare.
  let groupLimit: Int

  init(seed: UInt64, groupLimit: Int = 14, hasCrowd: Bool = false) throws {
    self.seed = seed
    self.groupLimit = groupLimit
    random = SplitMix64(seed: seed)
    let everybody = Self.names + (hasCrowd ? Self.crowd : [])
    model = ReferenceModel(names: everybody)
    files = try TemporaryStore(users: everybody)
    messengers = try everybody.prefix(Self.names.count + 1).map { [files] in try files.messenger($0) }
    guard let store = try Store.open(files.location) else { throw Mismatch("there is no store") }
    self.store = store
    watchers = try [(0, nil), (2, nil), (3, "bot")].map { [files] user, consumer in
      ComparedFollower(user, try files.messenger(Self.names[user]), consumer: consumer)
    }
    model.store = try store.uuid()
    try learn()
    if hasCrowd {
      try createGroup("crowd", with: Self.names[1...2] + Self.crowd.dropLast(Int(seed % 2)), by: 0)
      // One participant blocks another when the group becomes large.
      try setBlocked(true, [Self.names[1]], by: 0)
    }
  }

  /// If a run fails, this many of its last acts are shown; `DM_SHOWN` sets the number.
  private static let shown = ProcessInfo.processInfo.environment["DM_SHOWN"].flatMap { Int($0) } ?? 12

  /// The last acts, with numbers of conversations and messages in place of their ids.
  var ending: String {
    var text = log.suffix(Self.shown).joined(separator: "\n")
    for (number, talk) in model.talks.enumerated() {
      if let id = talk.id { text.replace(id.description, with: "#\(number)") }
      for (index, said) in talk.said.enumerated() {
        if let id = said.id { text.replace(id.description, with: "#\(number):\(index + 1)") }
      }
    }
    return text
  }

  func note(_ what: String) { log.append("\(act) \(what)") }

  func name(_ user: User) -> String { model.names[user] }

  // MARK: One act

  /// Does an act on the store and on the model, and compares the results.
  func play<Actual, Expected>(
    _ what: String, _ actual: () throws -> Actual,
    _ expected: (inout ReferenceModel) throws(ReferenceModel.Refusal) -> Expected,
    _ compare: (Actual, Expected) throws -> Void
  ) throws {
    act += 1
    note(what)
    let unnoticed = model.unnoticed.count
    let answer: Result<Actual, DMError>
    do {
      answer = .success(try actual())
    } catch let error as DMError {
      answer = .failure(error)
    }
    try observe()
    let before = model.entries.count
    let right: Result<Expected, ReferenceModel.Refusal>
    do throws(ReferenceModel.Refusal) {
      right = .success(try expected(&model))
    } catch {
      right = .failure(error)
    }
    // Checked before `learn`, which would fail here with a less clear error.
    if case (.failure(let answer), .success(let right)) = (answer, right) {
      throw Mismatch("refused with \(answer), not done: \(right)")
    }
    try learn()
    log[log.count - 1] += model.entries[before...].map { "; #\($0.talk) \($0.kind)" }.joined()
    if model.entries.count > before, unnoticed > 0, model.unnoticed.count == unnoticed {
      throw Mismatch("something was written, but what had expired is no tombstone")
    }
    switch (answer, right) {
    case (.success(let answer), .success(let right)): try compare(answer, right)
    case (.failure(let answer), .failure(let right)):
      if answer.code != right.code { throw Mismatch("refused with \(answer), not \(right.code)") }
    case (.failure(let answer), .success(let right)): throw Mismatch("refused with \(answer), not done: \(right)")
    case (.success(let answer), .failure(let right)):
      throw Mismatch("done, not refused with \(right.code): \(answer)")
    }
  }

  // MARK: Learning from the store

  /// Checks whether the store has turned expired messages into tombstones, and does the same in the model.
  func observe() throws {
    if model.unnoticed.isEmpty { return }
    var statement = try store.connection.prepare(
      "SELECT count(*) FROM message WHERE deleted_at IS NULL AND expires_at <= ?")
    statement.bind(Timestamp.now)
    guard try statement.step() else { return }
    let left = statement.int(0)
    if left > model.unnoticed.count { throw Mismatch("\(left) have expired, not \(model.unnoticed.count)") }
    model.notice(leaving: left)
  }

  /// Copies the ids and times of everything new from the store to the model.
  func learn() throws {
    while learnedTalks < model.talks.count {
      var statement = try store.connection.prepare("SELECT uuid, created_at FROM conversation WHERE id = ?")
      statement.bind(learnedTalks + 1)
      guard try statement.step() else { throw Mismatch("the conversation \(learnedTalks) is not there") }
      model.talks[learnedTalks].id = statement.identifier(0)
      model.talks[learnedTalks].createdAt = statement.timestamp(1)
      learnedMessages.append(0)
      learnedTalks += 1
    }
    var times = try changeTimes()
    let newEntries = learnedEntries..<model.entries.count
    learnedEntries = newEntries.upperBound
    for number in newEntries {
      let (talk, kind) = (model.entries[number].talk, model.entries[number].kind)
      var key: [Int64]?
      switch kind {
      case .message(let seq), .edited(let seq), .deleted(let seq): try learn(seq, talk)
      case .reaction(let seq, let user): key = [Changes.Kind.reaction.rawValue, Int64(user + 1), Int64(seq)]
      case .pinned(let seq, let user): key = [Changes.Kind.pinned.rawValue, Int64(user + 1), Int64(seq)]
      case .read(let range, let user):
        key = [Changes.Kind.readReceipt.rawValue, Int64(user + 1), Int64(range.lowerBound)]
      case .got(let range, let user):
        key = [Changes.Kind.deliveryReceipt.rawValue, Int64(user + 1), Int64(range.lowerBound)]
      case .conversation, .own, .hidden, .status: break
      }
      guard let key else { continue }
      // A user may react to the same message twice in a transaction.
      guard let at = times[[Int64(talk + 1)] + key]?.popFirst() else {
        throw Mismatch("\(kind) of \(talk) was not logged")
      }
      model.entries[number].at = at
      if case .pinned(let seq, let user) = kind, model.talks[talk].said[seq - 1].pin?.user == user {
        model.talks[talk].said[seq - 1].pin?.at = at
      }
      if case .read = kind, let index = model.talks[talk].receipts.firstIndex(where: { $0.at == nil }) {
        model.talks[talk].receipts[index].at = at
      }
    }
  }

  private func learn(_ seq: Int, _ talk: Int) throws {
    var statement = try store.connection.prepare(
      """
      SELECT uuid, created_at, expires_at, edited_at, deleted_at FROM message WHERE conversation = ? AND seq = ?
      """)
    statement.bind(talk + 1)
    statement.bind(seq)
    guard try statement.step() else { throw Mismatch("the message \(seq) of \(talk) is not there") }
    var said = model.talks[talk].said[seq - 1]
    if said.id == nil {
      said.id = statement.identifier(0)
      said.createdAt = statement.timestamp(1)
      said.expiresAt = said.lifetime.map { Timestamp(microseconds: said.createdAt.microseconds + $0.microseconds) }
      let isLater = seq == 1 || model.talks[talk].said[seq - 2].createdAt < said.createdAt
      if !isLater { throw Mismatch("the message \(seq) of \(talk) is not later than the one before") }
      try nearNow(said.createdAt)
      try same(statement.optionalTimestamp(2), said.expiresAt, "when \(seq) of \(talk) expires")
    }
    said.editedAt = statement.optionalTimestamp(3)
    if said.deletedAt?.microseconds == 0 {
      guard let time = statement.optionalTimestamp(4) else { throw Mismatch("\(seq) of \(talk) is not a tombstone") }
      try nearNow(time)
      said.deletedAt = time
    }
    model.talks[talk].said[seq - 1] = said
  }

  func nearNow(_ time: Timestamp, after seconds: Int64 = 0) throws {
    let distance = time.microseconds - Timestamp.now.microseconds - seconds * 1_000_000
    if abs(distance) > 60_000_000 { throw Mismatch("\(time) is not now") }
  }

  /// The times of the changes since the last call, by conversation, kind, user and first message number.
  private func changeTimes() throws -> [[Int64]: ArraySlice<Timestamp>] {
    var statement = try store.connection.prepare(
      "SELECT rev, conversation, kind, user, from_seq, at FROM change WHERE rev > ? ORDER BY rev")
    statement.bind(learnedChanges)
    var times: [[Int64]: ArraySlice<Timestamp>] = [:]
    while try statement.step() {
      learnedChanges = statement.int64(0)
      times[(1...4).map { statement.int64($0) }, default: []].append(statement.timestamp(5))
    }
    return times
  }

  // MARK: Comparing

  func same<T: Equatable>(_ actual: T, _ expected: T, _ what: @autoclosure () -> String) throws {
    if actual == expected { return }
    throw Mismatch("\(what()) should be\n  \(expected), but is\n  \(actual)")
  }

  func same<T: Equatable>(_ actual: [T], _ expected: [T], _ what: @autoclosure () -> String) throws {
    if actual == expected { return }
    let index = zip(actual, expected).enumerated().first { $0.element.0 != $0.element.1 }?.offset
    let count = min(actual.count, expected.count)
    func element(_ list: [T]) -> String {
      let index = index ?? count
      return index < list.count ? "\(list[index])" : "nothing more"
    }
    throw Mismatch(
      """
      \(what()): \(actual.count) instead of \(expected.count); number \(index ?? count) should be
        \(element(expected)), but is
        \(element(actual))
      """)
  }
}
