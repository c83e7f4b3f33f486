@testable import DMKit
@testable import DMStore

/// How acts change messages.
extension ReferenceModel {
  typealias Address = (talk: Int, seq: Int)

  // MARK: Sending

  /// Adds a message to the end of a conversation.
  mutating func append(_ said: Said, to talk: Int) -> Address {
    var said = said
    if said.kind == nil, said.lifetime == nil { said.lifetime = talks[talk].lifetime }
    talks[talk].said.append(said)
    let seq = talks[talk].said.count
    log(talk, .message(seq))
    // A message returns an archived or deleted conversation to the list, except for users who block the sender; a muted
    // conversation stays archived.
    for (user, part) in talks[talk].parts where said.kind == nil && part.isIn && !hasBlocked(user, said.sender) {
      if part.mutedUntil == nil { talks[talk].parts[user]?.isArchived = false }
      talks[talk].parts[user]?.isGone = false
    }
    return (talk, seq)
  }

  mutating func announce(_ kind: Message.SystemKind, _ subject: String, by user: User, in talk: Int) {
    _ = append(Said(sender: user, kind: kind, subject: subject), to: talk)
  }

  mutating func startDirect(_ user: User, with other: User) -> Int {
    var talk = Talk(pair: (user, other), creator: user)
    for person in [user, other] { talk.parts[person] = Part(spells: [(0, nil)], joined: nextJoining()) }
    talks.append(talk)
    log(talks.count - 1, .conversation(by: user))
    return talks.count - 1
  }

  /// A message to send.
  struct Wish {
    let to: ConversationReference
    var text: String
    var nonce: String?
    var replyTo: MessageReference?
    var lifetime: Duration?

    func outgoing() throws -> Outgoing {
      try Outgoing(to: to, text: text, nonce: nonce, replyTo: replyTo, lifetime: lifetime)
    }
  }

  /// - Returns: the address of the message, and whether it had been sent before.
  mutating func send(_ wish: Wish, by user: User) throws(Refusal) -> (address: Address, isDuplicate: Bool) {
    guard let talk = try find(wish.to, user) else {
      guard case .direct(let handle) = wish.to, let other = self.user(handle.description) else {
        throw Refusal(.unknownConversation)
      }
      if wish.replyTo != nil { throw Refusal(.unknownMessage) }
      if hasBlocked(user, other) { throw Refusal(.notAllowed) }
      let talk = startDirect(user, with: other)
      return (say(wish, by: user, in: talk, replyTo: nil), false)
    }
    if let nonce = wish.nonce,
      let index = talks[talk].said.firstIndex(where: { $0.nonce == nonce && $0.sender == user })
    {
      let said = talks[talk].said[index]
      guard said.text == wish.text || said.editedAt != nil || said.deletedAt != nil else {
        throw Refusal(.nonceConflict)
      }
      return ((talk, index + 1), true)
    }
    try checkIn(user, talk)
    if let partner = talks[talk].partner(of: user), hasBlocked(user, partner) { throw Refusal(.notAllowed) }
    var replied: Int?
    if let reference = wish.replyTo {
      replied = try seen(reference, in: talk, user).seq
    }
    return (say(wish, by: user, in: talk, replyTo: replied), false)
  }

  private mutating func say(_ wish: Wish, by user: User, in talk: Int, replyTo: Int?) -> Address {
    append(
      Said(
        sender: user, text: wish.text, nonce: wish.nonce, replyTo: replyTo, lifetime: wish.lifetime,
        mentions: mentioned(in: wish.text, of: talk)), to: talk)
  }

  // MARK: Changing

  private func own(_ reference: MessageReference, _ user: User) throws(Refusal) -> Address {
    let address = try seen(reference, user)
    try checkIn(user, address.talk)
    let said = talks[address.talk].said[address.seq - 1]
    guard said.kind == nil, said.sender == user else { throw Refusal(.notAllowed) }
    return address
  }

  /// - Returns: the address of the message, and whether the text has changed.
  mutating func edit(_ reference: MessageReference, to text: String, by user: User) throws(Refusal) -> (Address, Bool) {
    let address = try own(reference, user)
    if talks[address.talk].said[address.seq - 1].text == text { return (address, false) }
    talks[address.talk].said[address.seq - 1].text = text
    talks[address.talk].said[address.seq - 1].mentions = mentioned(in: text, of: address.talk)
    log(address.talk, .edited(address.seq))
    return (address, true)
  }

  mutating func delete(_ reference: MessageReference, forEveryone: Bool, by user: User) throws(Refusal) -> Address {
    if forEveryone {
      let address = try own(reference, user)
      makeTombstone(address)
      return address
    }
    let address = try seen(reference, user)
    talks[address.talk].parts[user]?.deleted.insert(address.seq)
    log(address.talk, .hidden(address.seq, by: user))
    return address
  }

  mutating func makeTombstone(_ address: Address, at time: Timestamp = Timestamp(microseconds: 0)) {
    talks[address.talk].said[address.seq - 1].deletedAt = time
    talks[address.talk].said[address.seq - 1].text = nil
    talks[address.talk].said[address.seq - 1].editedAt = nil
    talks[address.talk].said[address.seq - 1].mentions = []
    talks[address.talk].said[address.seq - 1].reactions = []
    talks[address.talk].said[address.seq - 1].pin = nil
    log(address.talk, .deleted(address.seq))
  }

  /// - Returns: the address of the message, and whether the reaction has changed.
  mutating func react(_ emoji: String?, to reference: MessageReference, by user: User) throws(Refusal) -> (
    Address, Bool
  ) {
    let address = try seen(reference, user)
    try checkIn(user, address.talk)
    let said = talks[address.talk].said[address.seq - 1]
    guard said.kind == nil else { throw Refusal(.notAllowed) }
    if said.reactions.first(where: { $0.user == user })?.emoji == emoji { return (address, false) }
    talks[address.talk].said[address.seq - 1].reactions.removeAll { $0.user == user }
    if let emoji { talks[address.talk].said[address.seq - 1].reactions.append((user, emoji)) }
    log(address.talk, .reaction(address.seq, by: user))
    return (address, true)
  }

  mutating func pin(_ isPinned: Bool, _ reference: MessageReference, by user: User) throws(Refusal) -> Address {
    let address = try seen(reference, user)
    try checkIn(user, address.talk)
    let said = talks[address.talk].said[address.seq - 1]
    guard said.kind == nil else { throw Refusal(.notAllowed) }
    if (said.pin != nil) == isPinned { return address }
    if isPinned, talks[address.talk].said.count(where: { $0.pin != nil }) >= 50 { throw Refusal(.notAllowed) }
    talks[address.talk].said[address.seq - 1].pin = isPinned ? (user, nil) : nil
    log(address.talk, .pinned(address.seq, by: user))
    return address
  }

  mutating func report(_ reference: MessageReference, _ reason: String?, by user: User) throws(Refusal) -> Address {
    let address = try seen(reference, user)
    let said = talks[address.talk].said[address.seq - 1]
    guard said.kind == nil, said.sender != user else { throw Refusal(.notAllowed) }
    reports.removeAll { $0.talk == address.talk && $0.seq == address.seq && $0.reporter == user }
    reports.append((address.talk, address.seq, user, reason, said.text))
    return address
  }

  // MARK: Time

  /// Lets a message expire.
  mutating func expire(_ address: Address, at time: Timestamp) {
    talks[address.talk].said[address.seq - 1].expiresAt = time
    talks[address.talk].said[address.seq - 1].hasExpired = true
    unnoticed.append((time, address.talk, address.seq))
  }

  /// A write turns expired messages into tombstones, the oldest first.
  ///
  /// It leaves `count` of them for the next write.
  mutating func notice(leaving count: Int) {
    let ordered = unnoticed.sorted { $0.at < $1.at }
    for (time, talk, seq) in ordered.dropLast(count) { makeTombstone((talk, seq), at: time) }
    unnoticed = ordered.suffix(count)
  }

  // MARK: Mentions

  /// The users of a conversation that a text mentions after an `@`; if several names match, the longest one.
  func mentioned(in text: String, of talk: Int) -> [User] {
    let people = names.indices.filter { isIn($0, talk) }.sorted { names[$0].count > names[$1].count }
    let scalars = Array(text.unicodeScalars)
    /// Whether the scalar is part of a word: a digit, or a letter that is not a Han character.
    func isPart(_ scalar: Unicode.Scalar?) -> Bool {
      guard let scalar else { return false }
      let isHan = (0x3040...0x9FFF).contains(scalar.value)
      return !isHan && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
    }
    var found: [User] = []
    for (index, scalar) in scalars.enumerated() where scalar == "@" && !(index > 0 && isPart(scalars[index - 1])) {
      let rest = scalars[(index + 1)...]
      let user = people.first { user in
        let name = Array(names[user].unicodeScalars)
        return rest.starts(with: name) && !(isPart(name.last) && isPart(rest.dropFirst(name.count).first))
      }
      if let user, !found.contains(user) { found.append(user) }
    }
    return found
  }
}
