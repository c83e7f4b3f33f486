package import DMModel
internal import DMStore

extension Messenger {
  /// Imports lines of history in one transaction, in order.
  ///
  /// Missing users and groups are created. All imported messages count as read. While a group has only imported
  /// messages, the sender of each imported message joins the group, and sees all its messages. After the first other
  /// message, only a participant can import into the group, and the import is announced in it. A message that the store
  /// already has, with the same id or with the same sender and nonce, is returned as a duplicate.
  ///
  /// - Returns: the result of each line.
  package func importHistory(_ batch: [Imported]) throws -> [Result<Imported.Outcome, DMError>] {
    try perform(batch) { session in
      if session.destination == .hub {
        throw DMError(.notAllowed, "history cannot be imported into a store that is linked to a hub")
      }
      return try ImportBatch(session)
    }
  }

  /// Whether the files of a message need not be prepared, because the store has the message already, or because a
  /// linked store imports nothing.
  ///
  /// - Throws: the errors that the import of the message throws before it uses the files.
  package func needsNoFiles(_ message: ImportedMessage) throws -> Bool {
    var needsNone = false
    try lookAhead { needsNone = try $0.destination == .hub || ImportBatch($0).has(message) }
    return needsNone
  }
}

/// The part of an import that one transaction does.
final class ImportBatch: Batch {
  let session: Session
  let store: Store
  let rules: ImportRules
  /// A viewer that sees all messages, for finding stored messages; answers contain only what the user sees.
  let unrestricted: Viewer
  private var users: [Handle: UserKey] = [:]
  private var keys: [ImportedMessage.Group: ConversationKey] = [:]
  private var rows: [ConversationKey: Conversations.Row] = [:]
  private var participants: [ConversationKey: Set<UserKey>] = [:]
  private let mentions: MentionFinders
  /// For each conversation, the number of the first message that this transaction added.
  private(set) var firstAdded: [ConversationKey: Int] = [:]
  private var joined: [ConversationKey: [UserKey]] = [:]
  private var created: Set<ConversationKey> = []

  init(_ session: Session) throws {
    self.session = session
    store = session.store
    rules = try ImportRules(session)
    mentions = MentionFinders(store)
    unrestricted = Viewer(store, session.me, extras: .everything)
  }

  func act(on line: Imported) throws -> Imported.Outcome {
    switch line {
    case .user(let user): return .user(try add(user))
    case .conversation(let conversation):
      do {
        let added = try add(conversation)
        session.messenger.imports.refused[.id(conversation.id)] = nil
        return .conversation(added)
      } catch let error as DMError where !error.code.isFatal {
        return try refuse(conversation.id, error)
      }
    case .refusedConversation(let id, let error): return try refuse(id, error)
    case .message(let message): return .message(try add(message))
    }
  }

  func has(_ message: ImportedMessage) throws -> Bool {
    try group(message.group).map { try duplicate(of: message, in: $0) != nil } ?? false
  }

  private func add(_ line: ImportedMessage) throws -> Message {
    var message = line
    let existing = try group(message.group)
    if let row = existing, let duplicate = try duplicate(of: message, in: row) {
      // The message shows that an earlier run of this import created the sender.
      if duplicate.sender == message.sender { session.messenger.imports.unconfirmed.remove(message.sender) }
      return duplicate
    }
    try refuseRefused(message.group)
    try refuseUnconfirmed(message.sender, in: message.group)
    let isAnnounced = try existing.map(rules.mustAnnounce) ?? false
    if let row = existing { message.createdAt = try orderedTime(of: message, in: row, isAnnounced: isAnnounced) }
    guard message.attachments.count == message.files.count else {
      throw DMError(.busy, "a message that was imported before was removed meanwhile; try again")
    }
    let attached = try message.attachments.map(session.usableAttachment)
    let replyTo = try message.replyTo.map { try replied($0, in: existing) }
    try check(message, in: existing)
    var row = try existing ?? create(message.group, at: message.createdAt)
    let sender = try key(of: message.sender)
    if firstAdded[row.key] == nil { firstAdded[row.key] = row.lastSeq + 1 }
    if isAnnounced { try announce(in: &row, before: message.createdAt) }
    if message.joinsSender { try admit(sender, to: row) }
    return try insert(message, from: sender, replyTo: replyTo, attached, into: row)
  }

  /// Checks the id, the group and the sender of a message.
  ///
  /// - Parameter row: nil if the conversation does not exist yet.
  /// - Throws: `bad_field`, `bad_handle`, `not_allowed`.
  private func check(_ message: ImportedMessage, in row: Conversations.Row?) throws {
    if let id = message.id, try store.messages.address(of: id) != nil {
      throw DMError(.badField, "the id '\(id)' is that of a message elsewhere; leave it out", subject: "id")
    }
    let sender = try existingKey(of: message.sender)
    if row == nil, case .title(let title) = message.group { try checkNewTitle(title) }
    if let row { try rules.checkSender(sender, message.sender, of: row) }
    if let row, message.systemKind != nil { try rules.checkAnnouncement(in: row) }
    if sender == nil { try message.sender.checkNew() }
    if let row { try rules.checkUnblocked(members(of: row.key)) }
    if message.joinsSender, let sender { try rules.checkUnblocked([sender]) }
  }

  private func insert(
    _ message: ImportedMessage, from sender: UserKey, replyTo: Identifier?, _ attached: [Attachments.Row],
    into row: Conversations.Row
  ) throws -> Message {
    var row = row
    let mentioned = try message.text.map { try mentions.users(in: $0, of: row.key) } ?? []
    let (id, _, attachments) = try store.messages.insert(
      Messages.NewMessage(
        id: message.id, sender: sender, text: message.text, nonce: message.nonce, replyTo: replyTo,
        origin: .imported(at: message.createdAt), lifetime: message.lifetime, systemKind: message.systemKind,
        subject: message.subject, mentions: mentioned, attachments: attached,
        preview: message.linkPreview.map { LinkPreviews.Placed($0) }), into: &row)
    rows[row.key] = row
    try rules.add(row)
    var added = try answer(message, id, row, number: row.lastSeq)
    added.replyTo = try replyTo.map(reply)
    added.expiresAt = message.expiresAt
    (added.systemKind, added.subject) = (message.systemKind, message.subject)
    added.mentions = try mentioned.map(store.users.handle)
    added.attachments = attachments
    added.linkPreview = message.linkPreview
    return added
  }

  private func add(_ conversation: ImportedConversation) throws -> Conversation {
    let group = ImportedMessage.Group.id(conversation.id)
    if let row = try self.group(group) { return try asSeen(row, conversation) }
    try refuseUnconfirmed(conversation.participants)
    let row = conversation.isGroup ? nil : try existingPair(conversation.participants)
    if let row {
      // Two users have only one direct conversation, so the imported messages are added to that one.
      try rules.checkAllowed(row, conversation.id.description)
      try store.conversations.insertAlias(conversation.id, of: row.key)
    } else {
      try rules.checkUnblocked(Set(conversation.participants.compactMap(existingKey)))
      for handle in conversation.participants + [conversation.creator].compactMap(\.self) {
        if try existingKey(of: handle) == nil { try handle.checkNew() }
      }
      if let title = conversation.title { try checkNewTitle(title) }
    }
    let members = try row == nil ? conversation.participants.map(key) : []
    let creator = try row == nil ? conversation.creator.map(key) : nil
    let made =
      try row
      ?? create(
        conversation.isGroup
          ? .group(title: conversation.title) : .direct(members[0], members.last { $0 != members[0] } ?? members[0]),
        id: conversation.id, creator: creator, participants: members, at: conversation.lastActivity ?? .now)
    remember(made, as: group)
    return try asSeen(made, conversation)
  }

  /// The existing direct conversation of two users, or of one user with themselves; nil if there is none.
  private func existingPair(_ handles: [Handle]) throws -> Conversations.Row? {
    let users = try Set(handles).map(existingKey)
    guard let one = users.first ?? nil, let other = users.last ?? nil, !users.contains(nil) else { return nil }
    return try store.conversations.direct(one, other)
  }

  private func asSeen(_ row: Conversations.Row, _ given: ImportedConversation) throws -> Conversation {
    let viewer = session.freshViewer()
    if let seen = try store.conversations.seen(row.key, as: viewer) { return seen }
    var seen = Conversation(
      id: row.id, isGroup: row.isGroup, title: given.title, creator: given.creator, participants: given.participants,
      lastMessage: nil, lastActivityAt: row.lastActivity, unreadCount: 0, lastReadSeq: nil, firstUnreadSeq: nil,
      isPinned: false, isArchived: false, pageCursor: nil)
    seen.name = try store.conversations.name(of: seen, as: viewer)
    return seen
  }

  func group(_ group: ImportedMessage.Group) throws -> Conversations.Row? {
    if let key = keys[group] { return rows[key] }
    var found: Conversations.Row?
    switch group {
    case .title(let title):
      let groups = try store.conversations.groups(titled: title, of: nil)
      let allowed = try groups.filter(rules.isAllowed)
      if allowed.count > 1 { throw try session.ambiguous("+\(title)", "titled '\(title)'", allowed) }
      found = allowed.first
      found?.reference = "+\(title)"
      if found == nil, let group = groups.first { try rules.checkAllowed(group, "+\(title)") }
    case .id(let id):
      found = try store.conversations.row(id) ?? store.conversations.row(alias: id)
      if let found { try rules.checkAllowed(found, id.description) }
    }
    if let found { remember(found, as: group) }
    return found.flatMap { rows[$0.key] }
  }

  private func remember(_ row: Conversations.Row, as group: ImportedMessage.Group) {
    keys[group] = row.key
    if rows[row.key] == nil { rows[row.key] = row }
  }

  /// Creates a group whose creation time is the time of its first message.
  private func create(_ group: ImportedMessage.Group, at time: Timestamp) throws -> Conversations.Row {
    let row =
      switch group {
      case .title(let title): try create(.group(title: title), at: time)
      case .id(let id): try create(.group(title: nil), id: id, at: time)
      }
    remember(row, as: group)
    return row
  }

  private func create(
    _ kind: Conversations.NewConversation, id: Identifier? = nil, creator: UserKey? = nil, participants: [UserKey] = [],
    at time: Timestamp
  ) throws -> Conversations.Row {
    let row = try session.start(
      kind, id: id, isImported: true, creator: creator, participants: participants, at: time)
    created.insert(row.key)
    return row
  }

  func existingKey(of handle: Handle) throws -> UserKey? {
    if let cached = users[handle] { return cached }
    users[handle] = try store.users.key(handle)
    return users[handle]
  }

  func key(of handle: Handle) throws -> UserKey {
    if let cached = try existingKey(of: handle) { return cached }
    let key = try store.users.insert(handle, at: .now)
    users[handle] = key
    session.messenger.imports.made.insert(handle)
    return key
  }

  /// Announces, in a conversation that is in use, that the user imports messages into it.
  private func announce(in row: inout Conversations.Row, before time: Timestamp) throws {
    let before = Timestamp(microseconds: time.microseconds - 1)
    _ = try store.messages.insert(
      Messages.NewMessage(sender: session.me, origin: .imported(at: before), systemKind: .historyImported), into: &row)
    try store.changes.append(
      .message, conversation: row.key, user: session.me, seqs: row.lastSeq...row.lastSeq, at: .now)
  }

  /// The participants of a conversation.
  private func members(of conversation: ConversationKey) throws -> Set<UserKey> {
    if let cached = participants[conversation] { return cached }
    let found = Set(try store.members.participantKeys(of: conversation))
    participants[conversation] = found
    return found
  }

  private func admit(_ user: UserKey, to row: Conversations.Row) throws {
    guard try !members(of: row.key).contains(user) else { return }
    // A former participant does not join again.
    if try store.members.participates(user, in: row.key) { return }
    participants[row.key]?.insert(user)
    mentions.forgetParticipants(of: row.key)
    try store.members.join(row.key, user)
    if participants[row.key]?.count == 1, row.isGroup { try store.members.setOwner(user, of: row.key) }
    try store.blocks.apply(toThoseWhoJoined: [user], row.key)
    joined[row.key, default: []].append(user)
  }

  /// Updates the rows of conversations, marks all added messages as read, and logs one change for each conversation,
  /// not one for each message, so that followers do not report old messages as new.
  func finish() throws {
    for (key, first) in firstAdded.sorted(by: { $0.key < $1.key }) {
      guard let row = rows[key] else { continue }
      let new = first...row.lastSeq
      try store.conversations.update(row, added: new.count, readBy: nil, sender: nil)
      for user in try members(of: key) { try store.readState.extendReadRanges(by: new, of: user, in: key) }
      for user in joined[key] ?? [] { _ = try store.readState.markRead(1...row.lastSeq, by: user, in: key) }
      for user in try store.blocks.blockers(in: key) { try store.blocks.apply(of: user, in: key) }
      try store.conversations.set(rules.history(of: key), of: key)
    }
    for key in created.union(firstAdded.keys).sorted() {
      try store.changes.append(.conversation, conversation: key, at: .now)
    }
  }
}

extension ImportedMessage {
  /// Whether the sender joins the conversation; the sender of an announcement does not join it.
  fileprivate var joinsSender: Bool { systemKind == nil }
}
