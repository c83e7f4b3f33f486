package import DMModel

// Reads: hub, hub_person.
// Writes: hub, hub_person.

/// The hub of a linked store, the person who owns the store, and the state of the hub at the last comparison.
package struct Hub {
  let store: Store

  package struct Row: Equatable, Sendable {
    package let id: Identifier
    /// The person who owns the store.
    package let user: UserKey
    package let machine: Identifier
    package let joinedAt: Timestamp
    package let leftAt: Timestamp?
    /// Why the hub refuses this store, as a clause; nil if the hub does not refuse it.
    package let refusal: String?
    package let epoch: Identifier?
    package let startedAt: Timestamp?
    /// The horizon of the last comparison: a PostgreSQL transaction number (xid8) in decimal.
    package let horizon: String?
    package let peopleRev: Int64
    /// Microseconds by which the hub's clock is ahead of this machine's clock.
    package let clockOffset: Int64
    package let network: HubNetwork
    /// The maximum total size of the contents of attachments in bytes; nil for no limit.
    package let contentsLimit: Int?
    /// When the hub last had the stamp of another store, such as a copy of this store, that uses the same login.
    package let copiedAt: Timestamp?
    /// Which messages of each conversation the store keeps; nil for all messages.
    package let kept: KeptMessages?
  }

  private enum Column: Int32, QueryColumn {
    case uuid, user, machine, joinedAt, leftAt, refusal, epoch, startedAt, horizon, peopleRev, clockOffset, network
    case contentsLimit, copiedAt, messagesLimit, messagesAge
  }

  /// The row of the hub; nil if the store is not linked.
  package func row() throws -> Row? {
    guard store.isLinked else { return nil }
    var statement = try store.connection.prepare(
      """
      SELECT uuid, user, machine, joined_at, left_at, refusal, epoch, started_at, horizon, people_rev, clock_offset, network,
        contents_limit, copied_at, messages_limit, messages_age
      FROM hub
      """)
    assert(statement.has(Column.self))
    guard try statement.step() else { return nil }
    return Row(
      id: statement.identifier(Column.uuid), user: statement.userKey(Column.user),
      machine: statement.identifier(Column.machine), joinedAt: statement.timestamp(Column.joinedAt),
      leftAt: statement.optionalTimestamp(Column.leftAt), refusal: statement.optionalText(Column.refusal),
      epoch: statement.optionalIdentifier(Column.epoch.rawValue),
      startedAt: statement.optionalTimestamp(Column.startedAt), horizon: statement.optionalText(Column.horizon),
      peopleRev: statement.int64(Column.peopleRev), clockOffset: statement.int64(Column.clockOffset),
      network: HubNetwork(rawValue: statement.int64(Column.network)) ?? .normal,
      contentsLimit: statement.optionalInt(Column.contentsLimit),
      copiedAt: statement.optionalTimestamp(Column.copiedAt),
      kept: statement.optionalInt(Column.messagesLimit).map { .last($0) }
        ?? statement.optionalInt64(Column.messagesAge.rawValue).map { .youngerThan($0) })
  }

  /// Creates the additional tables of a linked store.
  package func makeTables() throws {
    for script in Migration.linked { try store.connection.execute(String(decoding: script, as: UTF8.self)) }
    store.isLinked = true
  }

  /// Links a store to a hub.
  ///
  /// The store must have no conversations.
  package func link(to hub: Identifier, as user: UserKey, machine: Identifier, at time: Timestamp) throws {
    try makeTables()
    var insert = try store.connection.prepare(
      "INSERT INTO hub (id, uuid, user, machine, joined_at) VALUES (1, ?, ?, ?, ?)")
    insert.bind(hub)
    insert.bind(user)
    insert.bind(machine)
    insert.bind(time)
    try insert.run()
    // The user may have blocked others, or changed the setting for receipts, before the store was linked. The hub must
    // get these decisions.
    try store.hubOwnStates.note(nil, by: user)
  }

  /// Records the state of the hub at the last comparison.
  package func setState(epoch: Identifier, startedAt: Timestamp, horizon: String?) throws {
    var update = try store.connection.prepare("UPDATE hub SET epoch = ?, started_at = ?, horizon = ?")
    update.bind(epoch)
    update.bind(startedAt)
    update.bind(horizon)
    try update.run()
  }

  package func set(peopleRev: Int64) throws { try set("people_rev") { $0.bind(peopleRev) } }
  package func set(clockOffset: Int64) throws { try set("clock_offset") { $0.bind(clockOffset) } }
  package func set(refusal: String?) throws { try set("refusal") { $0.bind(refusal) } }
  package func set(network: HubNetwork) throws { try set("network") { $0.bind(network.rawValue) } }
  package func set(contentsLimit: Int?) throws { try set("contents_limit") { $0.bind(contentsLimit.map(Int64.init)) } }
  package func set(kept: KeptMessages?) throws {
    var (limit, age): (Int64?, Int64?)
    switch kept {
    case .last(let count): limit = Int64(count)
    case .youngerThan(let microseconds): age = microseconds
    case nil: break
    }
    try set("messages_limit") { $0.bind(limit) }
    try set("messages_age") { $0.bind(age) }
  }

  package func set(copiedAt: Timestamp) throws { try set("copied_at") { $0.bind(copiedAt) } }

  /// Records that the store has another login, which has no stamp yet.
  package func set(machine: Identifier) throws {
    try set("machine") { $0.bind(machine) }
    try store.connection.execute("UPDATE hub SET stamp = NULL, next_stamp = NULL, copied_at = NULL")
  }

  /// The stamp that the hub last confirmed, if any, and the stamp to send next.
  ///
  /// A stamp is a random id, by which the hub and the store notice a copy of the store.
  ///
  /// - Parameter new: the stamp to send next; ignored if the hub has not yet confirmed the stamp that was chosen
  ///   before.
  package func nextStamp(orElse new: Identifier) throws -> (held: [Identifier], next: Identifier) {
    let (stamp, offered) = try stamps()
    if offered == nil { try set("next_stamp") { $0.bind(new) } }
    return (stamp.map { [$0] } ?? [], offered ?? new)
  }

  private func stamps() throws -> (stamp: Identifier?, offered: Identifier?) {
    var statement = try store.connection.prepare("SELECT stamp, next_stamp FROM hub")
    return try statement.step() ? (statement.optionalIdentifier(0), statement.optionalIdentifier(1)) : (nil, nil)
  }

  /// Records that the hub has confirmed the next stamp.
  package func keepNextStamp() throws {
    try store.connection.execute("UPDATE hub SET stamp = next_stamp, next_stamp = NULL WHERE next_stamp NOT NULL")
  }

  package func set(leftAt: Timestamp?) throws { try set("left_at") { $0.bind(leftAt) } }

  private func set(_ column: String, _ bind: (inout Statement) -> Void) throws {
    var update = try store.connection.prepare(text: "UPDATE hub SET \(column) = ?")
    bind(&update)
    try update.run()
  }

  // MARK: Persons

  /// The user who has a person number of the hub; nil if the store does not have this person.
  package func user(ofPerson person: Int64) throws -> UserKey? {
    var statement = try store.connection.prepare("SELECT user FROM hub_person WHERE id = ?")
    statement.bind(person)
    return try statement.step() ? statement.userKey(0) : nil
  }

  /// The person number of a user on the hub; nil if it is not recorded.
  package func person(of user: UserKey) throws -> Int64? {
    var statement = try store.connection.prepare("SELECT id FROM hub_person WHERE user = ?")
    statement.bind(user)
    return try statement.step() ? statement.int64(0) : nil
  }

  /// Records the person number of a user.
  ///
  /// Deletes the user's previous number, and the record of any other user with this number.
  package func set(_ person: Int64, of user: UserKey) throws {
    do {
      var delete = try store.connection.prepare("DELETE FROM hub_person WHERE user = ? OR id = ?")
      delete.bind(user)
      delete.bind(person)
      try delete.run()
    }
    var insert = try store.connection.prepare("INSERT INTO hub_person (id, user) VALUES (?, ?)")
    insert.bind(person)
    insert.bind(user)
    try insert.run()
  }
}
