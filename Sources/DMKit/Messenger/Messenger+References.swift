extension Messenger {
  /// Finds a conversation that the user is in.
  ///
  /// - Throws: `unknown_user`, `unknown_conversation`, `ambiguous_title`, `not_allowed`.
  func find(_ reference: ConversationReference, _ store: Store, _ me: Int64) throws -> Store.ConversationRow {
    if let row = try findIfPresent(reference, store, me) { return row }
    throw DMError(
      .unknownConversation, "there is no conversation with '\(reference)' yet; dm-send starts one",
      subject: reference.description)
  }

  /// The same, but nil for the direct conversation with a user to whom nothing was said yet.
  func findIfPresent(_ reference: ConversationReference, _ store: Store, _ me: Int64) throws
    -> Store.ConversationRow?
  {
    switch reference {
    case .direct(let handle):
      guard let other = try store.userKey(handle) else { throw try unknownUser(handle, store, me) }
      return try store.directConversation(me, other)
    case .title(let title):
      let groups = try store.groups(titled: title, of: me)
      if groups.count > 1 { throw ambiguous(title, groups) }
      if let group = groups.first { return group }
      throw DMError(
        .unknownConversation, "there is no group '+\(title)' that you are in\(try suggestion(title, store, me))",
        subject: "+\(title)")
    case .id(let id):
      guard let row = try store.conversation(id) else {
        throw DMError(
          .unknownConversation, "there is no conversation '\(id)'; dm-list names yours", subject: id.description)
      }
      guard try store.isParticipant(me, of: row.key) else {
        throw DMError(
          .notAllowed, "'\(identity.handle)' is not in the conversation '\(id)'; ask one of its participants",
          subject: id.description)
      }
      return row
    }
  }

  func ambiguous(_ title: String, _ groups: [Store.ConversationRow]) -> DMError {
    let ids = groups.prefix(5).map(\.id.description).joined(separator: ", ")
    return DMError(
      .ambiguousTitle, "\(groups.count) groups are titled '\(title)'; name one by its id: \(ids)", subject: "+\(title)")
  }

  /// The number of a message in a conversation.
  ///
  /// - Throws: `unknown_message`, also when it is another conversation's.
  func seq(
    of reference: MessageReference, in row: Store.ConversationRow, _ store: Store, _ me: Int64
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
      let seq = number < 0 ? row.lastSeq + 1 + number : number
      guard seq >= 1, seq <= row.lastSeq else {
        throw DMError(
          .unknownMessage, "there is no message '\(number)'; the conversation has \(row.lastSeq)",
          subject: String(number))
      }
      return seq
    }
  }

  /// A message that is named without its conversation, among the user's own.
  func find(_ reference: MessageReference, _ store: Store, _ me: Int64) throws -> Store.Place {
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
      guard try store.isParticipant(me, of: place.conversation) else {
        throw DMError(
          .notAllowed, "'\(identity.handle)' is not in the conversation of the message '\(id)'", subject: id.description
        )
      }
      return place
    }
  }

  // MARK: Suggestions

  func unknownUser(_ handle: String, _ store: Store, _ me: Int64? = nil) throws -> DMError {
    if let fault = Handle.fault(in: handle) {
      return DMError(.unknownUser, "'\(handle)' is no user: as a handle \(fault)", subject: handle)
    }
    if RangeReference(handle) != nil, Int(handle) == nil {
      return DMError(.unknownUser, "'\(handle)' is no user; a range follows a conversation", subject: handle)
    }
    return DMError(
      .unknownUser,
      "there is no user '\(handle)'\(try suggestion(handle, store, me, orElse: "add him with 'dm-user add'"))",
      subject: handle)
  }

  private func suggestion(
    _ name: String, _ store: Store, _ me: Int64?, orElse advice: String = "dm-list names yours"
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
