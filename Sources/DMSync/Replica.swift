internal import DMKit
internal import DMStore

/// Applies the hub's logs to a linked store: makes the change of each entry in the store, in the name of the entry's
/// actor and with the entry's time.
///
/// The author of an entry cannot make this class fail, because content that cannot be read or does not fit is skipped.
/// This class throws only errors of the store and, for a log that no working hub sends, `LogFault`.
final class Replica {
  let messenger: Messenger
  let store: Store
  /// The user of the store.
  let me: UserKey
  /// Messages up to this time count as history, and not as new; nil unless the store is being filled for the first
  /// time.
  private let historyEnd: Timestamp?

  /// The floor that the current conversation had before its log was pulled again; nil if it had none.
  private(set) var floor: HubFloors.Row?

  /// The conversations that were emptied, and must be pulled again.
  var begunAnew: [Identifier] = []

  /// Thrown if the pulled entries of a conversation do not continue the log that this store has.
  struct LogFault: Error, Equatable {
    let conversation: Identifier
  }

  init(_ messenger: Messenger, _ store: Store, _ hub: Hub.Row) {
    self.messenger = messenger
    self.store = store
    me = hub.user
    historyEnd = hub.horizon == nil ? hub.joinedAt : nil
  }

  /// Applies entries of one conversation, in the order of their revs, in the current transaction.
  ///
  /// - Parameters:
  ///   - entries: the pulled entries.
  ///   - comparison: what the last comparison says about the conversation; nil if no comparison has listed the
  ///     conversation after its last pull.
  ///   - members: the hub's list of members; empty if the hub was not asked for it.
  func apply(
    _ entries: [HubEntry], to id: Identifier, _ comparison: HubComparison.Conversation?, members: [HubMember]
  ) throws {
    guard let first = entries.first else { return }
    var log = try log(of: id, first, comparison, members)
    log.leaving = entries.filter { $0.kind == .left }
    let fields = try isReplay(entries) ? store.members.ownFields(of: me, in: log.row.key) : nil
    var (hasHistory, isNew) = (false, true)
    for entry in entries where entry.rev > log.state.rev {
      guard try entry.rev == log.state.sees.next(after: log.state.rev) || isReturn(entry, in: log) else {
        throw LogFault(conversation: id)
      }
      if isFilled(by: entry) { log.state.historyUpTo = max(log.state.historyUpTo, entry.rev) }
      isNew = try isConsumed(entry).map { !$0 } ?? (entry.rev > log.state.historyUpTo)
      hasHistory = hasHistory || !isNew
      try store.logging(isNew) { try apply(entry, to: &log) }
      log.state.rev = entry.rev
      log.state.mark = entry.mark
      log.state.namedRev = max(log.state.namedRev, entry.rev)
    }
    try store.logging(isNew) { try endSending(in: &log) }
    try finish(fields, in: log)
    try store.hubConversations.write(log.state)
    // Receipts are queued after the last page, because each page may have a receipt from another machine of the user.
    if comparison.map({ log.state.rev >= $0.rev }) ?? true {
      try acknowledge(entries, in: log)
    }
    try restoreMarks(log)
    if log.seesMore { return try beginAnew(id, .seesMore, nil) }
    if let join = try entries.last(where: givesHistory)?.seq { try recordHistory(upTo: join, in: log.row.key) }
    if hasHistory { try store.changes.append(.conversation, conversation: log.row.key, at: .now) }
  }

  /// Marks messages again as they were marked before the log was pulled again.
  private func restoreMarks(_ log: Log) throws {
    for (ranges, isPrivate) in [(log.readBefore, false), (log.privatelyReadBefore, true)] where !ranges.isEmpty {
      var options = Messenger.MarkOptions()
      options.isPrivate = isPrivate
      _ = try Session(messenger, store, me).change(coalesced(ranges), options, in: log.row.key, at: .now)
    }
    // A restored hub may have lost the receipts for these messages.
    for range in coalesced(log.markedUnreadBefore) {
      try store.readState.addReceipts(range, of: me, in: log.row.key, at: .now)
      try store.hubOwnStates.note(log.row.key, by: me)
      try Session(messenger, store, me).queueReceipt(range, in: log.row.key)
    }
  }

  /// Whether the store had all messages among these entries before the log was pulled again.
  private func isReplay(_ entries: [HubEntry]) throws -> Bool {
    try entries.allSatisfy { entry in
      guard let kind = entry.kind, kind.rawValue < 16 else { return true }
      return try isBelowFloor(entry) || entry.id.map { try store.hubKnown.row($0) != nil } ?? false
    }
  }

  /// Restores fields of the user's own state; deletes the record of the old floor if the whole log was pulled again.
  private func finish(_ fields: Members.OwnFields?, in log: Log) throws {
    if let fields { try restore(fields, in: log) }
    if floor != nil, log.state.isWhole { try store.hubFloors.forgetPast(log.row.key) }
  }

  /// Restores fields of the user's own state after the log was pulled again, because each message unarchives the
  /// conversation, even if the user has had the message before.
  private func restore(_ fields: Members.OwnFields, in log: Log) throws {
    guard let now = try store.members.ownFields(of: me, in: log.row.key) else { return }
    for (state, isNew) in [
      (Members.OwnState.archived(fields.isArchived), now.isArchived != fields.isArchived),
      (.deleted(fields.isDeleted), now.isDeleted != fields.isDeleted),
      (.draft(fields.draft), now.draft != fields.draft),
    ] where isNew {
      try store.members.set(state, of: me, in: log.row.key)
    }
  }

  /// Acknowledges the messages of other users that came with these entries, or with earlier pages.
  private func acknowledge(_ entries: [HubEntry], in log: Log) throws {
    var first = 1
    if log.wasWhole {
      // The search starts at the first message of another user among these entries, because the user's own messages may
      // be many, such as those of a job that reports to a group.
      guard let seq = try entries.first(where: { try $0.kind == .message && user($0.actor) != me })?.seq else { return }
      first = seq
    }
    try Session(messenger, store, me).acknowledge(in: log.row.key, from: first)
  }

  /// A conversation to which entries are applied.
  struct Log {
    var row: Conversations.Row
    var state: HubConversations.Row
    /// The rev up to which `state.sees` already includes the user's joins and leaves.
    var named: Int64
    /// Whether the store had all entries before this pull, and so had acknowledged all messages.
    let wasWhole: Bool
    /// The messages that the user had read with a receipt before the log was pulled again.
    var readBefore: [SeqRange] = []
    /// The messages that the user had read without a receipt before the log was pulled again.
    var privatelyReadBefore: [SeqRange] = []
    /// The messages that have a receipt of the user, and that the user had marked as unread before the log was pulled
    /// again.
    var markedUnreadBefore: [SeqRange] = []
    /// The messages that the user had seen before the log was pulled again.
    var seenBefore: [SeqRange] = []
    /// The inserted messages whose effects `endSending` has not yet recorded, grouped by sender.
    var said: [UserKey: (session: Session, row: Conversations.Row, seqs: [SeqRange])] = [:]
    /// Whether the entries come without the messages between them, so that numbers may be skipped.
    var isWithoutMessages = false
    /// Whether the user can see earlier entries from now on, so that the log must be pulled again.
    var seesMore = false
    /// The hub's list of members, which may be newer than the entries; empty if the hub was not asked for it.
    let members: [HubMember]
    /// The entries of this pull by which members leave.
    var leaving: [HubEntry] = []
  }

  func log(
    of id: Identifier, _ first: HubEntry, _ comparison: HubComparison.Conversation?, _ members: [HubMember]
  ) throws -> Log {
    let row = try row(of: id, first, members)
    floor = try store.hubFloors.past(row.key)
    try repopulate(row, first, members)
    if var state = try store.hubConversations.row(row.key) {
      let wasWhole = state.rev >= state.namedRev
      if let comparison { (state.sees, state.namedRev) = (comparison.sees, max(state.namedRev, comparison.rev)) }
      return Log(row: row, state: state, named: state.namedRev, wasWhole: wasWhole, members: members)
    }
    let sees = comparison?.sees ?? VisibleRevs(from: first.rev)
    // Messages from before the user joined are history, even if the user can see them.
    let since = try members.first { try user($0.person) == me }?.since ?? 1
    return Log(
      row: row,
      state: HubConversations.Row(
        conversation: row.key, rev: (sees.first ?? 1) - 1, sees: sees, historyUpTo: since - 1,
        namedRev: comparison?.rev ?? first.rev),
      named: comparison?.rev ?? first.rev, wasWhole: false, members: members)
  }

  /// Whether an entry is from before this store joined the hub, and the store is being filled for the first time.
  func isFilled(by entry: HubEntry) -> Bool { historyEnd.map { entry.at <= $0 } ?? false }

  /// Whether an entry adds the user again, and no comparison has shown that yet.
  private func isReturn(_ entry: HubEntry, in log: Log) throws -> Bool {
    try !log.state.sees.isOpen && entry.kind == .joined && user(entry.meta.person) == me
  }

  /// Whether each consumer had received an entry before its log was pulled again; nil for an entry that this store did
  /// not have.
  private func isConsumed(_ entry: HubEntry) throws -> Bool? {
    guard let kind = entry.kind, kind.rawValue < 16, let id = entry.id else { return nil }
    return try store.hubKnown.row(id)?.isConsumed ?? (isBelowFloor(entry) ? true : nil)
  }

  /// Whether this store had the message of an entry, and removed it because the store does not keep all messages.
  ///
  /// The number alone is not enough, because a restored hub may give the same number to a new message.
  func isBelowFloor(_ entry: HubEntry) -> Bool {
    guard let floor, let seq = entry.seq else { return false }
    return seq < floor.seq && entry.at < floor.at
  }

  /// Whether this store had an entry, and each consumer had received it, before its log was pulled again.
  func wasConsumed(_ entry: HubEntry) throws -> Bool { try isConsumed(entry) == true }

  /// The user for a person number of the hub; nil for a number that the hub has not described.
  func user(_ person: Int64?) throws -> UserKey? { try person.flatMap(store.hub.user(ofPerson:)) }

  /// A session that acts in the name of the actor of an entry, at the time of the entry.
  func session(_ entry: HubEntry, as actor: UserKey, heir: UserKey? = nil) throws -> Session {
    let isAnnouncement = [.created, .joined, .left, .titled].contains(entry.kind)
    let id = try isAnnouncement ? entry.id.flatMap(freeID) : nil
    return Session(messenger, store, actor, order: Session.Order(id: id, at: entry.at.clamped, heir: heir))
  }

  /// The given id; nil if a message in this store has it already, because an id that is used twice must not stop a log.
  func freeID(_ id: Identifier) throws -> Identifier? { try store.messages.address(of: id) == nil ? id : nil }

  // MARK: Conversations

  /// The conversation of a log; creates it if this store does not have it.
  private func row(of id: Identifier, _ first: HubEntry, _ members: [HubMember]) throws -> Conversations.Row {
    if let row = try store.conversations.row(id) { return row }
    // The hub was restored to an earlier state, and both users have started the conversation again.
    if let row = try store.conversations.row(alias: id) { return try adopt(row, as: id) }
    // The creation is not logged, because applying the entry logs a change that reports the new conversation.
    return try store.logging(false) { try newRow(of: id, first, members) }
  }

  private func newRow(of id: Identifier, _ first: HubEntry, _ members: [HubMember]) throws -> Conversations.Row {
    let actor = try user(first.actor) ?? me
    var users = try first.meta.members.compactMap(user)
    if users.isEmpty { users = try members.compactMap { try user($0.person) } }
    let isFounder = users.contains(me)
    if !users.contains(me) { users.append(me) }
    let session = try session(first, as: actor)
    if first.kind == .begun, users.count <= 2 {
      let other = users.first { $0 != me } ?? me
      if let own = try store.conversations.direct(me, other) { return try adopt(own, as: id) }
      return try session.start(.direct(me, other), id: id, creator: actor, participants: users, at: first.at)
    }
    let group = HubPayload.group(first.payload)
    let isBeginning = first.kind == .created
    let row = try session.start(
      .group(title: group.title), id: id, creator: isBeginning ? actor : group.creator.flatMap(store.users.key),
      participants: isBeginning ? users : users.filter { $0 != me }, isOwned: isBeginning, at: first.at)
    if !isBeginning { try setOwners(of: row, members, addedBy: actor) }
    // A group that a blocked user creates is archived and muted.
    if isBeginning, isFounder, try store.blocks.hasBlocked(actor, by: me) { try session.putAside(row.key, of: me) }
    return row
  }

  /// Sets the owners of a group whose beginning the user cannot see.
  private func setOwners(of row: Conversations.Row, _ members: [HubMember], addedBy actor: UserKey) throws {
    try store.members.setOwners(members.filter(\.isOwner).compactMap { try user($0.person) }, of: row.key)
    try supplyOwner(actor, of: row)
  }

  /// Sets the members and owners of a group to those on the hub, because the user does not see the entries by which
  /// other users joined or left while the user was away.
  ///
  /// - Parameter entry: the entry by which the user returns.
  func takeMembers(_ entry: HubEntry, _ session: Session, of log: Log) throws {
    let members = try log.members.compactMap { try user($0.person) }
    guard members.contains(me) else { return }
    let staying = try members + log.leaving.filter { $0.rev > entry.rev }.compactMap { try user($0.meta.person) }
    for user in try store.members.participantKeys(of: log.row.key) where !staying.contains(user) {
      try store.members.leave(log.row, user)
    }
    for user in members where try !store.members.isParticipant(user, of: log.row.key) {
      try session.admit(user, to: log.row, announcedIn: log.row.lastSeq, withHistory: false)
    }
    try store.members.setOwners(log.members.filter(\.isOwner).compactMap { try user($0.person) }, of: log.row.key)
  }

  /// Makes a user the owner of a group that has no owner in this store: the hub does not tell a former member who the
  /// owners are.
  func supplyOwner(_ user: UserKey, of row: Conversations.Row) throws {
    if try store.members.hasOwner(row.key) { return }
    try admit(user, to: row)
    try store.members.setOwner(user, of: row.key)
  }

  /// Gives a conversation that was started in this store the id that it has on the hub.
  private func adopt(_ row: Conversations.Row, as id: Identifier) throws -> Conversations.Row {
    if row.id == id { return row }
    // The hub was restored to an earlier state, and has another log for this conversation.
    if try store.hubConversations.row(row.key) != nil { try beginAnew(row.id, .gone, nil) }
    try store.conversations.set(id, of: row.key)
    try store.conversations.insertAlias(row.id, of: row.key)
    // The conversation is not new, but it gets a new id, so the change is logged.
    try store.logging(true) { try store.changes.append(.conversation, conversation: row.key, user: me, at: .now) }
    return try store.conversations.row(id) ?? row
  }
}
