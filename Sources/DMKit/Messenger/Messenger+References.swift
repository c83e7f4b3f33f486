package import DMModel
internal import DMStore

extension Messenger {
  /// Finds a conversation that the user is in, or was in: then it ends where they left.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  func find(_ reference: ConversationReference, _ store: Store, _ me: UserKey) throws -> Store.ConversationRow {
    if let row = try findIfPresent(reference, store, me) { return row }
    throw DMError(
      .unknownConversation, "there is no conversation with '\(reference)' yet; dm-send starts one",
      subject: reference.description)
  }

  /// The same, but nil for a direct conversation in which nothing was said yet.
  func findIfPresent(_ reference: ConversationReference, _ store: Store, _ me: UserKey) throws
    -> Store.ConversationRow?
  {
    guard var row = try anyConversation(reference, store, me) else { return nil }
    row.reference = reference.description
    // Nobody leaves a direct one.
    if !row.isGroup, case .direct = reference { return row }
    guard let membership = try store.membership(of: me, in: row.key) else {
      throw DMError(
        .notAllowed, "'\(identity.handle)' is not in the conversation '\(reference)'; ask one of its participants",
        subject: reference.description)
    }
    row.isOwner = membership.isOwner
    if let end = membership.leftSeq { (row.isMember, row.lastSeq) = (false, end) }
    return row
  }

  private func anyConversation(_ reference: ConversationReference, _ store: Store, _ me: UserKey) throws
    -> Store.ConversationRow?
  {
    switch reference {
    case .direct(let handle):
      guard let other = try store.userKey(handle) else { throw try unknownUser(handle, store, me) }
      return try store.directConversation(me, other)
    case .title(let title):
      // A name of one's own goes before titles, which others can change.
      if let row = try store.conversation(ownName: title, of: me) { return row }
      var groups = try store.groups(titled: title, of: me)
      // One that the user has left does not stand in the way of one that they are in.
      if groups.count > 1 {
        let current = try groups.filter { try store.isParticipant(me, of: $0.key) }
        if !current.isEmpty { groups = current }
      }
      if groups.count > 1 { throw try ambiguous("+\(title)", "titled '\(title)'", groups, store, me) }
      if let group = groups.first { return group }
      throw DMError(
        .unknownConversation, "there is no group '+\(title)' that you are in\(try suggestion(title, store, me))",
        subject: "+\(title)")
    case .id(let id):
      if let row = try store.conversation(id) { return row }
      throw DMError(
        .unknownConversation, "there is no conversation '\(id)'; dm-list names yours", subject: id.description)
    }
  }

  /// That several groups are meant: the newest three, each with what tells it from the others.
  func ambiguous(
    _ reference: String, _ what: String, _ groups: [Store.ConversationRow], _ store: Store, _ me: UserKey
  ) throws -> DMError {
    let newest = groups.sorted { $0.lastActivity > $1.lastActivity }.prefix(3)
    let list = try newest.map { row in
      // Only an import names groups that the user is not in.
      guard let seen = try store.conversation(row.key, as: Viewer(store, me)) else { return row.id.description }
      let others = seen.participants.count - 3
      let members = seen.participants.prefix(3).map(\.description).joined(separator: ", ")
      return "\(row.id) (\(members)\(others > 0 ? " and \(others) more" : ""); last active "
        + "\(String(seen.lastActivityAt.description.prefix(16)))Z)"
    }
    return DMError(
      .ambiguousTitle,
      "\(groups.count) groups are \(what); write the id of one, or name it for yourself with 'dm-conversation name': "
        + list.joined(separator: ", ") + (groups.count > 3 ? ", …" : ""), subject: reference)
  }

  /// The number of a message in a conversation.
  ///
  /// - Throws: `unknown_message`, also when it is another conversation's.
  func seq(
    of reference: MessageReference, in row: Store.ConversationRow, _ store: Store, _ me: UserKey
  ) throws -> Int {
    switch reference {
    case .id(let id):
      if let place = try store.place(of: id), place.conversation == row.key { return place.seq }
      throw DMError(
        .unknownMessage, "there is no message '\(id)' in that conversation; dm-tail prints its ids",
        subject: id.description)
    case .number(let number, let other):
      if let other, try find(other, store, me).key != row.key {
        throw DMError(
          .unknownMessage, "'\(other):\(number)' is a message of another conversation; name one of this",
          subject: "\(other):\(number)")
      }
      if number < 0 {
        let end = try store.end(Int(clamping: number.magnitude), of: row, as: Viewer(store, me))
        if let seq = end.seq { return seq }
        throw DMError(
          .unknownMessage, "there is no message '\(number)'; you see \(end.count) in the conversation",
          subject: String(number))
      }
      let seq = number
      guard seq >= 1, seq <= row.lastSeq else {
        throw DMError(
          .unknownMessage, "there is no message '\(number)'; the conversation has \(row.lastSeq)",
          subject: String(number))
      }
      return seq
    }
  }

  /// A message that is named without its conversation, among the user's own.
  func find(_ reference: MessageReference, _ store: Store, _ me: UserKey) throws -> Store.Place {
    switch reference {
    case .number(let number, in: let conversation?):
      let row = try find(conversation, store, me)
      return Store.Place(conversation: row.key, seq: try seq(of: .number(number, in: nil), in: row, store, me))
    case .number(let number, in: nil):
      throw DMError(
        .badReference, "'\(number)' alone names no message; write CONVERSATION:\(number)", subject: String(number))
    case .id(let id):
      guard let place = try store.place(of: id) else {
        throw DMError(.unknownMessage, "there is no message '\(id)'; dm-tail prints ids", subject: id.description)
      }
      guard try store.participates(me, in: place.conversation) else {
        throw DMError(
          .notAllowed, "'\(identity.handle)' is not in the conversation of the message '\(id)'", subject: id.description
        )
      }
      return place
    }
  }

  /// A message that the user sees, with its conversation as they see it.
  ///
  /// - Throws: `unknown_message` also for one that is hidden from the user, deleted or expired.
  func visibleMessage(
    _ reference: MessageReference, in given: Store.ConversationRow? = nil, _ store: Store, as viewer: Viewer
  ) throws -> (row: Store.ConversationRow, message: Message) {
    let me = viewer.user
    var named = given
    if named == nil, case .number(_, in: let conversation?) = reference { named = try find(conversation, store, me) }
    let place =
      try named.map { Store.Place(conversation: $0.key, seq: try seq(of: reference, in: $0, store, me)) }
      ?? find(reference, store, me)
    let row = try named ?? find(.id(store.conversationID(place.conversation)), store, me)
    if let message = try store.message(at: place, as: viewer) { return (row, message) }
    throw DMError(
      .unknownMessage,
      "the message '\(reference)' is not there any more, or not for you; dm-tail prints those that are",
      subject: reference.description)
  }

  /// The messages with these ids, in their order.
  ///
  /// - Parameters:
  ///   - ids: the ids.
  ///   - includesReaders: whether each message has `readBy`.
  /// - Returns: nil if there are no ids, or if the first is not the id of a message.
  /// - Throws: `unknown_message`, also for a message that the user does not see.
  package func messages(_ ids: [Identifier], includesReaders: Bool = false) throws -> [Message]? {
    try reading(nil) { store, me in
      guard let first = ids.first, try store.conversation(first) == nil, try store.place(of: first) != nil else {
        return nil
      }
      let viewer = Viewer(store, me, includesReaders: includesReaders)
      return try ids.map { try visibleMessage(.id($0), store, as: viewer).message }
    }
  }

  // MARK: Suggestions

  func unknownUser(_ handle: String, _ store: Store, _ me: UserKey? = nil) throws -> DMError {
    if let fault = Handle.fault(in: handle) {
      return DMError(.unknownUser, "'\(handle)' is not a user: as a handle \(fault)", subject: handle)
    }
    if RangeReference(handle) != nil, Int(handle) == nil {
      return DMError(.unknownUser, "'\(handle)' is not a user; a range follows a conversation", subject: handle)
    }
    return DMError(
      .unknownUser,
      "there is no user '\(handle)'\(try suggestion(handle, store, me, orElse: "add them with 'dm-user add'"))",
      subject: handle)
  }

  private func suggestion(
    _ name: String, _ store: Store, _ me: UserKey?, orElse advice: String = "dm-list names yours"
  ) throws -> String {
    guard suggestionsLeft > 0 else { return "; \(advice)" }
    suggestionsLeft -= 1
    let wanted = name.lowercased()
    let near = try store.names(knownTo: me).map {
      (name: $0, distance: editDistance($0.without("+").lowercased(), wanted))
    }
    .filter { $0.distance <= max(1, wanted.count / 3) && $0.distance < wanted.count }
    .min { $0.distance < $1.distance }
    if let near { return "; did you mean '\(near.name)'?" }
    return "; \(advice)"
  }
}

/// How many characters to add, drop, replace or swap with the next one to get from one word to the
/// other.
///
/// Costs the product of their lengths.
package func editDistance(_ one: some StringProtocol, _ other: some StringProtocol) -> Int {
  if abs(one.utf8.count - other.utf8.count) > 16 { return max(one.utf8.count, other.utf8.count) }
  let (a, b) = (Array(one), Array(other))
  var older: [Int] = []
  var previous = Array(0...b.count)
  for i in a.indices {
    var current = [i + 1]
    for j in b.indices {
      var best = min(previous[j] + (a[i] == b[j] ? 0 : 1), previous[j + 1] + 1, current[j] + 1)
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, older[j - 1] + 1) }
      current.append(best)
    }
    (older, previous) = (previous, current)
  }
  return previous[b.count]
}
