@testable import DMKit
@testable import DMStore
@testable import TestSupport

/// A simple model of a store, which computes from the rules what each user must see.
///
/// The model stores no counts: it computes them each time. Users and conversations are indices; the store's keys are
/// larger by one.
struct ReferenceModel {
  typealias User = Int

  /// The error code with which the store must refuse an act.
  struct Refusal: Error {
    let code: DMError.Code

    init(_ code: DMError.Code) { self.code = code }
  }

  /// A message, an announcement or a tombstone.
  struct Said {
    let sender: User
    var text: String?
    var nonce: String?
    /// The number of a message in the same conversation.
    var replyTo: Int?
    var lifetime: Duration?
    var kind: Message.SystemKind?
    var subject: String?
    var mentions: [User] = []
    /// The reactions, oldest first.
    var reactions: [(user: User, emoji: String)] = []
    /// Who pinned the message, and the time, which is learned from the store; nil if it is not pinned.
    var pin: (user: User, at: Timestamp?)?
    /// The users with a receipt for the message.
    var readers: Set<User> = []
    var editedAt: Timestamp?
    var expiresAt: Timestamp?
    /// Whether the message has expired, even if it is not a tombstone yet.
    var hasExpired = false
    /// The time of deletion, if the message is a tombstone.
    var deletedAt: Timestamp?
    // Chosen by the store, and learned from it once.
    var id: Identifier?
    var createdAt = Timestamp(microseconds: 0)
  }

  /// The state of a conversation for a present or former participant.
  struct Part {
    /// The times of membership: from after the message `after` up to the message `until`; nil while the user is a member.
    var spells: [(after: Int, until: Int?)]
    /// The messages that the user deleted for themselves.
    var deleted: Set<Int> = []
    /// The messages that the user marked as read, and those that count as read because the user was not a member.
    var read: Set<Int> = []
    var delivered = 0
    /// The position of the user in the order of joining.
    var joined: Int
    var isOwner = false
    var isPinned = false
    var isArchived = false
    /// Whether the user has deleted the conversation, so that it is not listed.
    var isGone = false
    var draft: String?
    var ownName: String?
    var mutedUntil: Timestamp?
    /// The group as it was when the user left.
    var former: Face?
    /// How many entries and receipts there were when the user left.
    var past: Past?

    var isIn: Bool { spells.last.map { $0.until == nil } ?? false }
    func includes(_ seq: Int) -> Bool { spells.contains { $0.after < seq && seq <= $0.until ?? .max } }
  }

  /// The data of a group that its participants see, without the messages.
  struct Face {
    let title: String?
    let avatar: String?
    let lifetime: Duration?
    let members: [User]
  }

  /// How much had happened when a user left a group.
  struct Past {
    let entries: Int
    let receipts: Int
    let delivered: [User: Int]
  }

  /// A conversation.
  struct Talk {
    /// The two users of a direct conversation; nil for a group.
    let pair: (User, User)?
    let creator: User
    var title: String?
    var avatar: String?
    var lifetime: Duration?
    var said: [Said] = []
    var parts: [User: Part] = [:]
    /// The read receipts, each for a range of messages.
    var receipts: [(user: User, range: SeqRange, at: Timestamp?)] = []
    // Chosen by the store, and learned from it.
    var id: Identifier?
    var createdAt = Timestamp(microseconds: 0)

    func has(_ user: User) -> Bool { pair.map { $0.0 == user || $0.1 == user } ?? (parts[user] != nil) }
    /// The other user of a direct conversation.
    func partner(of user: User) -> User? { pair.map { $0.0 == user ? $0.1 : $0.0 } }
    /// The data of the group that a present or former member sees.
    func face(for user: User) -> Face {
      parts[user]?.former
        ?? Face(
          title: title, avatar: avatar, lifetime: lifetime, members: parts.filter(\.value.isIn).map(\.key).sorted())
    }
    /// The title that a user sees; separate from `face` because it is needed for each message.
    func title(for user: User) -> String? { if let former = parts[user]?.former { former.title } else { title } }
    func end(for user: User) -> Int { parts[user]?.spells.last.flatMap(\.until) ?? said.count }
  }

  let names: [String]
  var store = Identifier(high: 0, low: 0)
  var talks: [Talk] = []
  /// By user, the users that they block, in the order of blocking.
  var blocks: [[User]]
  var reports: [(talk: Int, seq: Int, reporter: User, reason: String?, text: String?)] = []
  var entries: [Entry] = []
  /// The expired messages that are not tombstones yet, each with its time of expiry.
  var unnoticed: [(at: Timestamp, talk: Int, seq: Int)] = []
  private var joinings = 0

  init(names: [String]) {
    self.names = names
    blocks = names.map { _ in [] }
  }

  mutating func nextJoining() -> Int {
    joinings += 1
    return joinings
  }

  func handle(_ user: User) -> Handle { Handle(stored: names[user]) }
  func user(_ name: String) -> User? { names.firstIndex { $0 == name } }

  // MARK: Visibility

  func isIn(_ user: User, _ talk: Int) -> Bool { talks[talk].parts[user]?.isIn ?? false }

  func hasBlocked(_ user: User, _ other: User) -> Bool { blocks[user].contains(other) }

  /// Whether a message is hidden from a user, without regard to blocks.
  func isHidden(_ seq: Int, _ talk: Int, from user: User) -> Bool {
    guard let part = talks[talk].parts[user] else { return true }
    return !part.includes(seq) || part.deleted.contains(seq)
  }

  /// Whether a message reached a user, even if it was deleted or has expired since.
  func reaches(_ seq: Int, _ talk: Int, _ user: User) -> Bool {
    !isHidden(seq, talk, from: user) && !hasBlocked(user, talks[talk].said[seq - 1].sender)
  }

  func isGone(_ seq: Int, _ talk: Int) -> Bool {
    let said = talks[talk].said[seq - 1]
    return said.deletedAt != nil || said.hasExpired
  }

  func sees(_ seq: Int, _ talk: Int, _ user: User) -> Bool { !isGone(seq, talk) && reaches(seq, talk, user) }

  func visible(_ talk: Int, _ user: User) -> [Int] {
    guard talks[talk].parts[user] != nil else { return [] }
    return (0..<talks[talk].said.count).map { $0 + 1 }.filter { sees($0, talk, user) }
  }

  /// Whether a message counts as read for a user.
  func countsAsRead(_ seq: Int, _ talk: Int, by user: User) -> Bool {
    let said = talks[talk].said[seq - 1]
    return said.sender == user || said.kind != nil || said.deletedAt != nil
      || talks[talk].parts[user]?.read.contains(seq) == true || isHidden(seq, talk, from: user)
  }

  func unread(_ talk: Int, _ user: User) -> [Int] {
    visible(talk, user).filter { !countsAsRead($0, talk, by: user) }
  }

  /// The status of a message from the receipts of those other users that `counts` includes; if `counts` is nil, of all
  /// other users.
  private func status(
    _ seq: Int, _ talk: Int, _ readers: Set<User>, _ delivered: [User: Int], by counts: ((User) -> Bool)?
  ) -> Message.Status {
    let sender = talks[talk].said[seq - 1].sender
    func isOther(_ user: User) -> Bool { user != sender && counts?(user) != false }
    if readers.contains(where: isOther) { return .read }
    return delivered.contains { isOther($0.key) && $0.value >= seq } ? .delivered : .sent
  }

  /// The status of a message as a user sees it.
  func status(_ seq: Int, _ talk: Int, to user: User) -> Message.Status {
    let this = talks[talk]
    return status(seq, talk, this.readers(seq, visibleTo: user), this.delivered(visibleTo: user)) {
      $0 == user || !hasBlocked(this.said[seq - 1].sender, $0)
    }
  }

  /// The status from the receipts of all other users, and from those of the users that the sender does not block.
  func statuses(_ seq: Int, _ talk: Int) -> (all: Message.Status, counted: Message.Status) {
    let said = talks[talk].said[seq - 1]
    let delivered = talks[talk].parts.mapValues(\.delivered)
    return (
      status(seq, talk, said.readers, delivered, by: nil),
      status(seq, talk, said.readers, delivered) { $0 == said.sender || !hasBlocked(said.sender, $0) }
    )
  }

  func isListed(_ talk: Int, _ user: User) -> Bool {
    guard let part = talks[talk].parts[user], !part.isGone else { return false }
    return !(talks[talk].partner(of: user).map { hasBlocked(user, $0) } ?? false)
  }

  // MARK: References

  /// The conversation that a reference of a user names; nil for a direct conversation that does not exist yet.
  func find(_ reference: ConversationReference, _ user: User) throws(Refusal) -> Int? {
    switch reference {
    case .direct(let handle):
      guard let other = self.user(handle.description) else { throw Refusal(.unknownUser) }
      return talks.firstIndex { $0.pair.map { $0 == (user, other) || $0 == (other, user) } ?? false }
    case .title(let title):
      if let named = talks.firstIndex(where: { $0.parts[user]?.ownName == title }) { return named }
      let all = talks.indices.filter { talks[$0].parts[user] != nil && talks[$0].face(for: user).title == title }
      let current = all.filter { isIn(user, $0) }
      let meant = current.isEmpty ? all : current
      guard let first = meant.first else { throw Refusal(.unknownConversation) }
      guard meant.count == 1 else { throw Refusal(.ambiguousTitle) }
      return first
    case .id(let id):
      guard let talk = talks.firstIndex(where: { $0.id == id }) else { throw Refusal(.unknownConversation) }
      guard talks[talk].parts[user] != nil else { throw Refusal(.notAllowed) }
      return talk
    }
  }

  func found(_ reference: ConversationReference, _ user: User) throws(Refusal) -> Int {
    guard let talk = try find(reference, user) else { throw Refusal(.unknownConversation) }
    return talk
  }

  /// The message that a reference names, whether the user sees it or not.
  func address(
    _ reference: MessageReference, in given: Int? = nil, _ user: User
  ) throws(Refusal) -> (talk: Int, seq: Int) {
    switch reference {
    case .number(let number, in: let conversation):
      var talk = given
      if let conversation { talk = try found(conversation, user) }
      guard let talk else { throw Refusal(.badReference) }
      if let given, given != talk { throw Refusal(.unknownMessage) }
      let end = talks[talk].end(for: user)
      let seq = number < 0 ? visible(talk, user).dropLast(-number - 1).last ?? 0 : number
      guard seq >= 1, seq <= end else { throw Refusal(.unknownMessage) }
      return (talk, seq)
    case .id(let id):
      for talk in talks.indices {
        guard let index = talks[talk].said.firstIndex(where: { $0.id == id }) else { continue }
        if let given, given != talk { throw Refusal(.unknownMessage) }
        guard talks[talk].parts[user] != nil else { throw Refusal(.notAllowed) }
        return (talk, index + 1)
      }
      throw Refusal(.unknownMessage)
    }
  }

  func seen(_ reference: MessageReference, in given: Int? = nil, _ user: User) throws(Refusal) -> (talk: Int, seq: Int)
  {
    let address = try address(reference, in: given, user)
    guard sees(address.seq, address.talk, user) else { throw Refusal(.unknownMessage) }
    return address
  }

  /// - Throws: `not_allowed` if the user is not in the conversation.
  func checkIn(_ user: User, _ talk: Int) throws(Refusal) {
    guard isIn(user, talk) else { throw Refusal(.notAllowed) }
  }

  func users(_ names: [String]) throws(Refusal) -> [User] {
    var found: [User] = []
    for name in names {
      guard let user = user(name) else { throw Refusal(.unknownUser) }
      if !found.contains(user) { found.append(user) }
    }
    return found
  }
}
