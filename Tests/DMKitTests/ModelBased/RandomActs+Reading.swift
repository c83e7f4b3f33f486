@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// Acts that mark messages as read, unread or delivered.
extension RandomActs {
  private func options() -> Messenger.MarkOptions {
    var options = Messenger.MarkOptions()
    options.act = chance(70) ? .read : chance(60) ? .unread : .delivered
    options.isDryRun = chance(8)
    options.isPrivate = options.act == .read && chance(15)
    return options
  }

  /// Marks messages in the model; returns the changed ones, and the number of unread messages after that.
  private func mark(
    _ wanted: Set<Int>, _ talk: Int, _ options: Messenger.MarkOptions, by user: User, _ model: inout ReferenceModel
  ) -> (changed: Set<Int>, unread: Int) {
    var after = model
    let changed =
      switch options.act {
      case .read: after.markRead(wanted, talk, by: user, isPrivate: options.isPrivate)
      case .unread: after.markUnread(wanted, talk, by: user)
      case .delivered: after.markDelivered(wanted.max() ?? 0, talk, to: user)
      }
    if !options.isDryRun { model = after }
    let seen = changed.filter {
      options.act != .delivered || model.sees($0, talk, user) && model.talks[talk].said[$0 - 1].sender != user
    }
    return (seen, after.unread(talk, user).count)
  }

  private func check(
    _ actual: Marked?, _ talk: Int, _ options: Messenger.MarkOptions, by user: User,
    _ expected: (changed: Set<Int>, unread: Int)
  ) throws {
    guard let actual, !expected.changed.isEmpty else {
      if actual == nil, expected.changed.isEmpty { return }
      throw Mismatch(
        "\(expected.changed.sorted()) should have changed, not \(actual.map { "\($0.ranges)" } ?? "nothing")")
    }
    guard let id = model.talks[talk].id else { throw Mismatch("not learned") }
    let marked = Marked(
      action: options.act, isDryRun: options.isDryRun, conversationID: id, conversationTitle: actual.conversationTitle,
      ranges: runs(expected.changed), unreadCount: expected.unread, at: actual.at)
    try same(actual, marked, "what was marked")
    try nearNow(actual.at)
  }

  func mark(by user: User) throws {
    let reference = conversation(for: user)
    var options = options()
    let talk: Int?
    do { talk = try model.find(reference, user) } catch { talk = nil }
    let ranges = (0...random.below(3)).map { _ in range(in: talk, for: user) }
    let kind = random.below(10)
    let bound = talk.map { message(in: $0, for: user, isAlone: true) } ?? .number(1, in: nil)
    if kind >= 7, options.act == .delivered { options.act = .read }
    let target: ReadTarget =
      kind < 7
      ? .ranges(ranges)
      : kind == 7
        ? .all
        : kind == 8
          ? .upTo(bound)
          : chance(50)
            ? .since(time(in: talk, for: user) ?? .message(bound), before: nil)
            : .before(time(in: talk, for: user) ?? .message(bound))
    try play("\(name(user)) marks \(target) of \(reference) \(options)") {
      try messengers[user].markRead(target, in: reference, options)
    } _: { model throws(Refusal) in
      let talk = try model.found(reference, user)
      let end = model.talks[talk].end(for: user)
      var wanted: Set<Int> = []
      switch target {
      case .ranges(let ranges):
        for range in ranges { wanted.formUnion(model.numbers(range, in: talk, for: user)) }
      case .all: wanted.formUnion(0..<end)
      case .upTo(let reference): wanted.formUnion(0..<(try model.address(reference, in: talk, user).seq))
      case .before(.message(let reference)):
        wanted.formUnion(0..<(try model.address(reference, in: talk, user).seq - 1))
      case .before(.time(let time)):
        wanted.formUnion((0..<end).filter { model.talks[talk].said[$0].createdAt < time })
      case .since(.time(let time), _):
        wanted.formUnion((0..<end).filter { model.talks[talk].said[$0].createdAt >= time })
      case .since(.message(let reference), _):
        wanted.formUnion((try model.address(reference, in: talk, user).seq - 1)..<end)
      }
      if case .ranges = target {} else { wanted = Set(wanted.map { $0 + 1 }) }
      return (talk, mark(wanted, talk, options, by: user, &model))
    } _: { actual, marked in
      try check(actual, marked.0, options, by: user, marked.1)
    }
  }

  private func time(in talk: Int?, for user: User) -> HistoryQuery.Bound? {
    guard let talk, chance(50), model.talks[talk].end(for: user) > 0 else { return nil }
    return bound(in: talk, upTo: model.talks[talk].end(for: user))
  }

  func range(in talk: Int?, for user: User) -> RangeReference {
    guard let talk else { return RangeReference(from: 1, to: 3) }
    let end = max(1, model.talks[talk].end(for: user))
    let from = number(in: talk, for: user)
    switch random.below(10) {
    case 0: return RangeReference(from: from, to: nil)
    case 1: return RangeReference(from: nil, to: from)
    case 2: return RangeReference(from: -1 - random.below(4), to: -1)
    default: return RangeReference(from: from, to: chance(10) ? end + 2 : from + random.below(6))
    }
  }

  /// Marks single messages of several conversations.
  func markMessages(by user: User) throws {
    let options = options()
    let named = (0...random.below(6)).compactMap { _ -> (talk: Int, id: Identifier, seq: Int)? in
      let own = model.talks.indices.filter { chance(3) || model.talks[$0].parts[user] != nil }
      guard let talk = own.randomElement(using: &random), let id = model.talks[talk].id else { return nil }
      return (talk, id, number(in: talk, for: user) + (chance(3) ? 1 : 0))
    }
    let messages = named.map { Messenger.MarkedMessage(conversation: $0.id, seq: $0.seq) }
    try play("\(name(user)) marks \(named.map { "\($0.talk):\($0.seq)" }) \(options)") {
      try messengers[user].markRead(messages, options)
    } _: { model -> ([Int: DMError.Code], [(Int, (changed: Set<Int>, unread: Int))]) in
      var codes: [Int: DMError.Code] = [:]
      var order: [Int] = []
      var wanted: [Int: Set<Int>] = [:]
      for (index, message) in named.enumerated() {
        do throws(Refusal) {
          let talk = try model.found(.id(message.id), user)
          let address = try model.address(.number(message.seq, in: nil), in: talk, user)
          if wanted[talk] == nil { order.append(talk) }
          wanted[talk, default: []].insert(address.seq)
        } catch {
          codes[index] = error.code
        }
      }
      let marked = order.map { ($0, mark(wanted[$0] ?? [], $0, options, by: user, &model)) }
      return (codes, marked.filter { !$0.1.changed.isEmpty })
    } _: { actual, expected in
      try same(actual.errors.mapValues(\.code), expected.0, "the errors")
      try same(actual.marked.count, expected.1.count, "records")
      for (actual, marked) in zip(actual.marked, expected.1) {
        try check(actual, marked.0, options, by: user, marked.1)
      }
    }
  }

  func markEverywhere(by user: User) throws {
    var options = options()
    if options.act == .delivered { options.act = .read }
    try play("\(name(user)) marks all everywhere \(options)") {
      try messengers[user].markReadEverywhere(.all, options)
    } _: { model in
      let own = model.talks.indices.filter { model.talks[$0].parts[user] != nil }
      let marked = own.map { talk in
        (talk, mark(Set((0..<model.talks[talk].end(for: user)).map { $0 + 1 }), talk, options, by: user, &model))
      }
      return marked.filter { !$0.1.changed.isEmpty }
    } _: { actual, expected in
      try same(actual.count, expected.count, "records")
      for (actual, marked) in zip(actual, expected) { try check(actual, marked.0, options, by: user, marked.1) }
    }
  }
}
