@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// Acts on groups, on own state, on other users, and on the clock.
extension RandomActs {
  typealias Refusal = ReferenceModel.Refusal

  private static let titles = ["ops", "team", "naive"]

  private func check(_ actual: Conversation?, _ talk: Int?, to user: User) throws {
    try same(actual, try talk.map { try model.conversation($0, to: user) }, "the conversation")
  }

  func createGroup(by user: User) throws {
    // The number of groups is limited, so that enough happens in each.
    if model.talks.count(where: { $0.pair == nil }) >= groupLimit, chance(85) { return try add(by: user) }
    try createGroup(Self.titles[random.below(3)], with: somebody(), by: user)
  }

  func createGroup(_ title: String, with others: [String], by user: User) throws {
    try play("\(name(user)) creates \(title) with \(others)") {
      try messengers[user].createGroup(titled: title, with: others.map(Handle.init(typed:)))
    } _: { model throws(Refusal) in
      try model.createGroup(title, with: others, by: user)
    } _: { actual, talk in
      try check(actual, talk, to: user)
    }
  }

  func add(by user: User) throws {
    let isOfCrowd = hasCrowd && chance(15)
    let user = isOfCrowd ? Self.names.count : user
    let reference = isOfCrowd ? reference(0, user) : group(for: user)
    let (others, withHistory) = (somebody(), chance(35))
    try play("\(name(user)) adds \(others) to \(reference)\(withHistory ? " with history" : "")") {
      try messengers[user].add(others.map(Handle.init(typed:)), to: reference, withHistory: withHistory)
    } _: { model throws(Refusal) in
      try model.add(others, to: reference, withHistory: withHistory, by: user)
    } _: { actual, talk in
      try check(actual, talk, to: user)
    }
  }

  func remove(by user: User) throws {
    let own = model.talks.indices.filter { model.talks[$0].parts[user]?.isOwner == true }
    let reference = chance(70) ? reference(own.randomElement(using: &random), user) : group(for: user)
    // Users do not remove themselves: leaving the group is another act.
    let others = somebody().filter { $0 != name(user) }
    try play("\(name(user)) removes \(others) from \(reference)") {
      try messengers[user].remove(others.map(Handle.init(typed:)), from: reference)
    } _: { model throws(Refusal) in
      try model.remove(others, from: reference, by: user)
    } _: { actual, talk in
      try check(actual, talk, to: user)
    }
  }

  func leave(by user: User) throws {
    let reference = group(for: user)
    try play("\(name(user)) leaves \(reference)") {
      try messengers[user].leave(reference)
    } _: { model throws(Refusal) in
      try model.leave(reference, by: user)
    } _: { actual, talk in
      try check(actual, talk, to: user)
    }
  }

  /// In most cases, a group that the user is in.
  private func group(for user: User) -> ConversationReference {
    let groups = model.talks.indices.filter { model.talks[$0].pair == nil && (model.isIn(user, $0) || chance(5)) }
    return chance(93) ? reference(groups.randomElement(using: &random), user) : conversation(for: user)
  }

  func describe(by user: User) throws {
    let reference = group(for: user)
    if chance(50) {
      let title = Self.titles[random.below(3)]
      try play("\(name(user)) titles \(reference) \(title)") {
        try messengers[user].setTitle(title, of: reference)
      } _: { model throws(Refusal) in
        try model.setTitle(title, of: reference, by: user)
      } _: { actual, talk in
        try check(actual, talk, to: user)
      }
    } else {
      let url = chance(30) ? nil : "https://example.org/\(random.below(3)).png"
      try play("\(name(user)) gives \(reference) the picture \(url ?? "")") {
        try messengers[user].setAvatar(url, of: reference)
      } _: { model throws(Refusal) in
        try model.setAvatar(url, of: reference, by: user)
      } _: { actual, talk in
        try check(actual, talk, to: user)
      }
    }
  }

  func setLifetime(by user: User) throws {
    let reference = conversation(for: user)
    let lifetime: Duration? = chance(40) ? nil : .seconds(3600 * (1 + random.below(2)))
    try play("\(name(user)) has what is said in \(reference) live \(lifetime.map { "\($0)" } ?? "for ever")") {
      try messengers[user].setExpiry(lifetime, of: reference)
    } _: { model throws(Refusal) in
      try model.setLifetime(lifetime, of: reference, by: user)
    } _: { actual, talk in
      try check(actual, talk, to: user)
    }
  }

  // MARK: Own state

  private func ownChange() -> OwnChange {
    switch random.below(100) {
    case 0..<20: .pinned(chance(60))
    case 20..<45: .archived(chance(70))
    case 45..<60: .muted(for: chance(50) ? nil : .seconds(3600))
    case 60..<70: .unmuted
    case 70..<85: .deleted
    case 85..<90: .draft(nil)
    // Some of these names are also titles of groups.
    default: .named(chance(25) ? nil : (Self.titles + ["mine", "work"]).randomElement(using: &random))
    }
  }

  func changeOwn(by user: User) throws {
    let change = ownChange()
    let references = (0...(chance(80) ? 0 : 2)).map { _ in conversation(for: user) }
    try play("\(name(user)) changes \(references): \(change)") {
      try messengers[user].change(change, in: references)
    } _: { model throws(Refusal) -> [Int] in
      let before = model
      do throws(Refusal) {
        var changed: [Int] = []
        for reference in references {
          let talk = try model.found(reference, user)
          if try model.change(change, in: talk, by: user) { changed.append(talk) }
        }
        return changed
      } catch {
        model = before
        throw error
      }
    } _: { actual, talks in
      try learnMutes(of: user, talks)
      // If a conversation is listed twice, its first result may have an intermediate state, which is not compared.
      let expected = try talks.map { try model.conversation($0, to: user) }
      if Set(talks).count == talks.count { try same(actual, expected, "the conversations") }
    }
  }

  private func learnMutes(of user: User, _ talks: [Int]) throws {
    for talk in talks where model.talks[talk].parts[user]?.mutedUntil?.microseconds == 0 {
      let actual = try messengers[user].conversation(.id(model.talks[talk].id ?? Identifier(high: 0, low: 0)))
      guard let end = actual.mutedUntil else { throw Mismatch("\(talk) is not muted") }
      try nearNow(end, after: 3600)
      model.talks[talk].parts[user]?.mutedUntil = end
    }
  }

  func block(by user: User) throws {
    let isBlocked = chance(42)
    let blocked = model.blocks[user].map { name($0) }
    let others =
      !isBlocked && chance(80) && !blocked.isEmpty
      ? [blocked[random.below(blocked.count)]] : somebody().filter { $0 != name(user) || chance(10) }
    try setBlocked(isBlocked, others, by: user)
  }

  func setBlocked(_ isBlocked: Bool, _ others: [String], by user: User) throws {
    try play("\(name(user)) \(isBlocked ? "blocks" : "unblocks") \(others)") {
      try messengers[user].setBlocked(isBlocked, others.map(Handle.init(typed:)))
    } _: { model throws(Refusal) in
      try model.setBlocked(isBlocked, others, by: user)
    } _: { actual, users in
      try same(actual.map(\.handle), users.map(model.handle), "those who were not blocked, or not unblocked, before")
    }
  }

  // MARK: Time

  /// Lets some messages expire, or some mutes end.
  func passTime() throws {
    var addresses: [Address] = []
    for talk in model.talks.indices {
      for (index, said) in model.talks[talk].said.enumerated()
      where said.expiresAt != nil && said.deletedAt == nil && !said.hasExpired {
        addresses.append((talk, index + 1))
      }
    }
    act += 1
    if chance(20) { try endMutes() }
    let chosen = addresses.shuffled(using: &random).prefix(1 + random.below(3))
    if chosen.isEmpty { return }
    note("expires \(chosen)")
    let transaction = try store.connection.begin(.write)
    for (number, address) in chosen.enumerated() {
      let time = Timestamp(microseconds: Timestamp.now.microseconds - 1_000_000 + Int64(number))
      var update = try store.connection.prepare(
        "UPDATE message SET expires_at = ? WHERE conversation = ? AND seq = ? RETURNING id")
      update.bind(time)
      update.bind(address.talk + 1)
      update.bind(address.seq)
      guard try update.step() else { throw Mismatch("the message \(address) is not there") }
      let key = update.messageKey(0)
      _ = try update.step()
      try store.writeDigest(of: key, in: .message)
      model.expire(address, at: time)
    }
    try transaction.commit()
    // A follower may turn expired messages into tombstones before any other write.
    if chance(30) {
      let unnoticed = model.unnoticed.count
      _ = try messengers[anybody()].deleteExpired()
      try observe()
      try learn()
      if model.unnoticed.count == unnoticed { throw Mismatch("what had expired is no tombstone") }
    }
  }

  private func endMutes() throws {
    note("ends silences")
    var update = try store.connection.prepare("UPDATE participant SET muted_until = ?1 WHERE muted_until < ?2")
    update.bind(Timestamp(microseconds: Timestamp.now.microseconds - 1))
    update.bind(Timestamp.forever)
    try update.run()
    // Writes the digests again, because the changed rows stand for time that has passed, not for damage.
    for table in DigestedTable.all { try table.store(table.digest(in: store.connection), in: store.connection) }
    for talk in model.talks.indices {
      for (user, part) in model.talks[talk].parts where part.mutedUntil != .forever {
        model.talks[talk].parts[user]?.mutedUntil = nil
      }
    }
  }
}
