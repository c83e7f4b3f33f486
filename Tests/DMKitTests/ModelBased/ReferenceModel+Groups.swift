@testable import DMKit
@testable import DMModel
@testable import DMStore

/// How acts change groups and own state.
extension ReferenceModel {
  // MARK: Groups

  mutating func createGroup(_ title: String, with others: [String], by user: User) throws(Refusal) -> Int {
    let others = try users(others).filter { $0 != user }
    var talk = Talk(pair: nil, creator: user, title: title)
    // The users join at the same time, so their order is that in which they became users.
    for person in ([user] + others).sorted() { talk.parts[person] = Part(spells: [(0, nil)], joined: nextJoining()) }
    talk.parts[user]?.isOwner = true
    talks.append(talk)
    let index = talks.count - 1
    log(index, .conversation(by: user))
    announce(.conversationCreated, title, by: user, in: index)
    for other in others where hasBlocked(other, user) { putAside(index, other) }
    return index
  }

  private mutating func putAside(_ talk: Int, _ user: User) {
    talks[talk].parts[user]?.isArchived = true
    talks[talk].parts[user]?.mutedUntil = .forever
  }

  private func group(_ reference: ConversationReference, _ user: User, ownerOnly: Bool = false) throws(Refusal) -> Int {
    let talk = try found(reference, user)
    try checkIn(user, talk)
    guard talks[talk].pair == nil else { throw Refusal(.notAllowed) }
    if ownerOnly, talks[talk].parts[user]?.isOwner != true { throw Refusal(.notAllowed) }
    return talk
  }

  /// - Returns: the conversation; nil when nothing has changed.
  mutating func add(
    _ names: [String], to reference: ConversationReference, withHistory: Bool, by user: User
  ) throws(Refusal) -> Int? {
    let talk = try group(reference, user)
    let added = try users(names).filter { !isIn($0, talk) }
    for person in added {
      let last = talks[talk].said.count
      var part = talks[talk].parts[person] ?? Part(spells: [], joined: 0)
      let left = talks[talk].end(for: person)
      // Messages that were sent while the user was not a member count as read.
      part.read.formUnion((part.spells.isEmpty ? 0 : left)..<last, by: 1)
      part.spells.append((last, nil))
      if withHistory { part.spells = [(0, nil)] }
      part.joined = nextJoining()
      part.isGone = false
      (part.former, part.past) = (nil, nil)
      talks[talk].parts[person] = part
      announce(.userJoined, self.names[person], by: user, in: talk)
      if hasBlocked(person, user) { putAside(talk, person) }
    }
    if added.isEmpty { return nil }
    log(talk, .conversation(by: user))
    return talk
  }

  mutating func remove(_ names: [String], from reference: ConversationReference, by user: User) throws(Refusal) -> Int?
  {
    let talk = try group(reference, user, ownerOnly: true)
    let removed = try users(names).filter { isIn($0, talk) }
    for person in removed { end(person, in: talk, by: user) }
    if removed.isEmpty { return nil }
    log(talk, .conversation(by: user))
    return talk
  }

  mutating func leave(_ reference: ConversationReference, by user: User) throws(Refusal) -> Int? {
    let talk = try group(reference, user)
    end(user, in: talk, by: user)
    log(talk, .conversation(by: user))
    return talk
  }

  private mutating func end(_ person: User, in talk: Int, by user: User) {
    announce(.userLeft, names[person], by: user, in: talk)
    guard var part = talks[talk].parts[person], let spell = part.spells.indices.last else { return }
    part.spells[spell].until = talks[talk].said.count
    part.isOwner = false
    part.draft = nil
    talks[talk].parts[person] = part
    let this = talks[talk]
    part.former = this.face(for: person)
    part.past = Past(
      entries: entries.count, receipts: this.receipts.count, delivered: this.parts.mapValues(\.delivered))
    talks[talk].parts[person] = part
    log(talk, .own(person))
    if talks[talk].parts.values.contains(where: \.isOwner) { return }
    let next = talks[talk].parts.filter(\.value.isIn).min { $0.value.joined < $1.value.joined }
    if let next { talks[talk].parts[next.key]?.isOwner = true }
  }

  mutating func setTitle(_ title: String, of reference: ConversationReference, by user: User) throws(Refusal) -> Int? {
    let talk = try group(reference, user)
    if talks[talk].title == title { return nil }
    talks[talk].title = title
    announce(.titleChanged, title, by: user, in: talk)
    log(talk, .conversation(by: user))
    return talk
  }

  mutating func setAvatar(_ url: String?, of reference: ConversationReference, by user: User) throws(Refusal) -> Int? {
    let talk = try group(reference, user)
    if talks[talk].avatar == url { return nil }
    talks[talk].avatar = url
    log(talk, .conversation(by: user))
    return talk
  }

  mutating func setLifetime(
    _ lifetime: Duration?, of reference: ConversationReference, by user: User
  ) throws(Refusal) -> Int? {
    let talk = try found(reference, user)
    try checkIn(user, talk)
    if talks[talk].pair == nil, talks[talk].parts[user]?.isOwner != true { throw Refusal(.notAllowed) }
    if talks[talk].lifetime == lifetime { return nil }
    talks[talk].lifetime = lifetime
    log(talk, .conversation(by: user))
    return talk
  }

  // MARK: Own state

  /// - Returns: whether anything has changed.
  mutating func change(_ change: OwnChange, in talk: Int, by user: User) throws(Refusal) -> Bool {
    guard var part = talks[talk].parts[user] else { throw Refusal(.notAllowed) }
    let before = part
    var isChanged = true
    switch change {
    case .pinned(let value): part.isPinned = value
    case .archived(let value): part.isArchived = value
    case .muted(let length):
      // The end of a timed mute is learned from the store later.
      part.mutedUntil = length == nil ? .forever : Timestamp(microseconds: 0)
    case .unmuted: part.mutedUntil = nil
    case .deleted:
      part.deleted.formUnion(0..<talks[talk].end(for: user), by: 1)
      part.isGone = true
      part.draft = nil
    case .named(let name):
      if let name, name != part.ownName, talks.contains(where: { $0.parts[user]?.ownName == name }) {
        throw Refusal(.nameTaken)
      }
      part.ownName = name
    case .draft(let text):
      guard part.isIn else { throw Refusal(.notAllowed) }
      part.draft = text
    }
    if change == .deleted {
      // Deleting changes nothing if the user sees no message.
      let isHidden = (0..<talks[talk].end(for: user)).allSatisfy { self.isHidden($0 + 1, talk, from: user) }
      isChanged = !before.isGone || before.draft != nil || !isHidden
    } else {
      isChanged =
        part.isPinned != before.isPinned || part.isArchived != before.isArchived
        || part.mutedUntil != before.mutedUntil || part.draft != before.draft || part.ownName != before.ownName
      // A timed mute is always a change, because its end is new.
      if case .muted(.some) = change { isChanged = true }
    }
    talks[talk].parts[user] = part
    if isChanged { log(talk, .own(user)) }
    return isChanged
  }

  mutating func saveDraft(_ text: String, in reference: ConversationReference, by user: User) throws(Refusal) -> Int {
    var talk = try find(reference, user)
    if talk == nil, case .direct(let handle) = reference, let other = self.user(handle.description) {
      if hasBlocked(user, other) { throw Refusal(.notAllowed) }
      let new = startDirect(user, with: other)
      if other != user { talks[new].parts[other]?.isGone = true }
      talk = new
    }
    guard let talk else { throw Refusal(.unknownConversation) }
    if let pair = talks[talk].pair, hasBlocked(user, pair.0) || hasBlocked(user, pair.1) { throw Refusal(.notAllowed) }
    try checkIn(user, talk)
    if let partner = talks[talk].partner(of: user), hasBlocked(user, partner) { throw Refusal(.notAllowed) }
    bringBack(talk, user)
    _ = try change(.draft(text), in: talk, by: user)
    return talk
  }

  private mutating func bringBack(_ talk: Int, _ user: User) {
    if talks[talk].parts[user]?.isGone != true { return }
    talks[talk].parts[user]?.isGone = false
    log(talk, .own(user))
  }

  mutating func directConversation(with name: String, by user: User) throws(Refusal) -> Int {
    guard let other = self.user(name) else { throw Refusal(.unknownUser) }
    if let talk = try find(.direct(Handle(typed: name)), user) {
      bringBack(talk, user)
      return talk
    }
    if hasBlocked(user, other) { throw Refusal(.notAllowed) }
    return startDirect(user, with: other)
  }

  /// - Returns: the users whose block has changed.
  mutating func setBlocked(_ isBlocked: Bool, _ names: [String], by user: User) throws(Refusal) -> [User] {
    let others = try users(names)
    if others.contains(user) { throw Refusal(.notAllowed) }
    let new = others.filter { hasBlocked(user, $0) != isBlocked }
    for other in new {
      if isBlocked { blocks[user].append(other) } else { blocks[user].removeAll { $0 == other } }
      for talk in talks.indices where talks[talk].parts[user] != nil && talks[talk].parts[other] != nil {
        if !isBlocked, !unread(talk, user).isEmpty { talks[talk].parts[user]?.isGone = false }
        log(talk, .own(user))
      }
    }
    return new
  }
}

extension Set<Int> {
  /// Adds the numbers of a range, each increased by an offset.
  fileprivate mutating func formUnion(_ range: Range<Int>, by offset: Int) { formUnion(range.map { $0 + offset }) }
}
