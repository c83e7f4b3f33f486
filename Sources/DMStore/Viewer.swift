package import DMModel
internal import DMSystem

// Reads: former.

/// Decides which messages one user sees, in one pass over one snapshot of the store.
///
/// Only this type decides which messages a user sees.
package final class Viewer {
  /// The part of a conversation that the user can see.
  private final class Visibility {
    /// Whether the user is in the conversation; nil if the user was never in it.
    let isMember: Bool?
    /// For a former member, the number of the last change that was logged before they left.
    let leftRev: Rev
    /// The number of the last message that the user may see; nil for a member, 0 for a user who was never a member.
    let end: Int?
    var hidden: [SeqRange]
    /// The number of the last message that was delivered to the user; nil if it was not read.
    let deliveredSeq: Int?

    init(isMember: Bool?, leftRev: Rev, end: Int?, hidden: [SeqRange], deliveredSeq: Int? = nil) {
      (self.isMember, self.leftRev, self.end, self.hidden) = (isMember, leftRev, end, hidden)
      self.deliveredSeq = deliveredSeq
    }
  }

  /// By how much the stored counts of a conversation are too high, because messages expired since the last write.
  struct Pending {
    var unread = 0
    var mentions = 0
  }

  package let store: Store
  package let user: UserKey
  package let now: Timestamp
  package private(set) lazy var statuses = StatusReader(store, self)
  package let surroundings: Surroundings
  /// The messages that are shown in addition to those that the user normally sees.
  package enum Extras {
    case nothing
    /// Tombstones, and messages that have expired. Hidden messages are not shown.
    case tombstones
    /// All messages, even if they are deleted, expired or hidden, for a search for a message by its id or nonce.
    case everything
  }

  package let extras: Extras
  /// Whether a message record lists the users who have read it.
  package let includesReaders: Bool

  private var visibilities = KeyTable<Visibility>()
  /// Whether the store has hidden ranges; nil until this is needed.
  private var hasHidden: Bool?
  private var pending: [ConversationKey: Pending]?

  package init(
    _ store: Store, _ user: UserKey, extras: Extras = .nothing, includesReaders: Bool = false, now: Timestamp? = nil
  ) {
    self.extras = extras
    self.includesReaders = includesReaders
    self.store = store
    self.user = user
    self.now = now ?? store.clock
    surroundings = Surroundings(store, user)
  }

  /// Whether the user was a member of a conversation when a change was logged.
  ///
  /// False if the user had left; nil if the user was never in the conversation.
  package func isMember(of conversation: ConversationKey, at rev: Rev) throws -> Bool? {
    let visibility = try visibility(of: conversation)
    return visibility.isMember.map { $0 || rev <= visibility.leftRev }
  }

  /// Whether the user has left a conversation.
  func hasLeft(_ conversation: ConversationKey) throws -> Bool {
    if let known = visibilities[conversation.number] { return known.isMember == false }
    return try store.members.membership(of: user, in: conversation)?.leftSeq != nil
  }

  /// The number of the last message that was delivered to the user; nil if it was not read.
  package func deliveredSeq(in conversation: ConversationKey) throws -> Int? {
    try visibility(of: conversation).deliveredSeq
  }

  /// Records that the user is in a conversation, as the caller has just read, so that this is not read again.
  func learnMembership(of conversation: ConversationKey) throws {
    guard visibilities[conversation.number] == nil else { return }
    visibilities[conversation.number] = Visibility(
      isMember: true, leftRev: .zero, end: nil, hidden: try readHidden(in: conversation))
  }

  /// Whether the user sees a message.
  ///
  /// - Parameter isGone: whether the message is a tombstone.
  package func sees(
    _ seq: Int, in conversation: ConversationKey, from sender: UserKey, isGone: Bool, expiresAt: Timestamp?
  ) throws
    -> Bool
  {
    if extras == .everything { return true }
    if extras == .nothing, isGone || expiresAt.map({ $0 <= now }) == true { return false }
    return try reaches(seq, in: conversation, from: sender)
  }

  /// Whether the user would see a message if it were neither deleted for everyone nor expired.
  package func reaches(_ seq: Int, in conversation: ConversationKey, from sender: UserKey) throws -> Bool {
    try !hasBlocked(sender) && hiddenRange(around: seq, in: conversation) == nil
  }

  /// The hidden range that contains a message; nil if the message is in no hidden range.
  package func hiddenRange(around seq: Int, in conversation: ConversationKey) throws -> SeqRange? {
    let visibility = try visibility(of: conversation)
    if let end = visibility.end, seq > end { return (end + 1)...Int.max }
    let index = index(of: seq, in: visibility.hidden)
    guard index < visibility.hidden.count, visibility.hidden[index].contains(seq) else { return nil }
    return visibility.hidden[index]
  }

  /// The index of the first range that ends at or after a number; the ranges must be ascending.
  ///
  /// This is a binary search, because there may be a range for each deleted message.
  private func index(of seq: Int, in ranges: [SeqRange]) -> Int {
    var (lower, upper) = (0, ranges.count)
    while lower < upper {
      let middle = (lower + upper) / 2
      if ranges[middle].upperBound < seq { lower = middle + 1 } else { upper = middle }
    }
    return lower
  }

  /// Records that the user has just hidden a message that was visible to them.
  package func hides(_ seq: Int, in conversation: ConversationKey) {
    surroundings.forgetReplies()
    guard let visibility = visibilities[conversation.number] else { return }
    visibility.hidden.insert(seq...seq, at: index(of: seq, in: visibility.hidden))
  }

  /// The hidden ranges that overlap a range.
  ///
  /// Messages of blocked users are not included.
  package func hidden(in range: SeqRange, of conversation: ConversationKey) throws -> [SeqRange] {
    try visibility(of: conversation).hidden.filter { $0.overlaps(range) }
  }

  package func hasBlocked(_ other: UserKey) throws -> Bool {
    let blocks = try blockedUsers()
    return !blocks.isEmpty && blocks.contains(other)
  }

  package func blockedUsers() throws -> Set<UserKey> { try statuses.blockedUsers(by: user) }

  /// By how much the stored counts of a conversation are too high, because messages expired since the last write.
  func pending(in conversation: ConversationKey) throws -> Pending { try allPending()[conversation] ?? Pending() }

  var hasPending: Bool { get throws { try !allPending().isEmpty } }

  private func allPending() throws -> [ConversationKey: Pending] {
    if let pending { return pending }
    var found: [ConversationKey: Pending] = [:]
    for message in try store.messages.expiredMessages(now: now)
    where try reaches(message.seq, in: message.conversation, from: message.sender)
      && store.readState.readRanges(of: user, in: message.conversation, overlapping: message.seq...message.seq).isEmpty
      && store.members.participates(user, in: message.conversation)
    {
      found[message.conversation, default: Pending()].unread += 1
      if try store.mentions.count(user, in: message.conversation, message.seq...message.seq) > 0 {
        found[message.conversation, default: Pending()].mentions += 1
      }
    }
    pending = found
    return found
  }

  private func visibility(of conversation: ConversationKey) throws -> Visibility {
    if let cached = visibilities[conversation.number] { return cached }
    let visibility = try readVisibility(of: conversation)
    visibilities[conversation.number] = visibility
    return visibility
  }

  private func readVisibility(of conversation: ConversationKey) throws -> Visibility {
    guard let membership = try store.members.membership(of: user, in: conversation) else {
      return Visibility(isMember: nil, leftRev: .zero, end: 0, hidden: [])
    }
    let isMember = membership.leftSeq == nil
    return Visibility(
      isMember: isMember, leftRev: isMember ? .zero : try leftRev(of: conversation), end: membership.leftSeq,
      hidden: try readHidden(in: conversation), deliveredSeq: membership.deliveredSeq)
  }

  private func leftRev(of conversation: ConversationKey) throws -> Rev {
    var statement = try store.connection.prepare("SELECT left_rev FROM former WHERE conversation = ? AND user = ?")
    statement.bind(conversation)
    statement.bind(user)
    return try statement.step() ? statement.rev(0) : .zero
  }

  /// The hidden ranges of a conversation.
  ///
  /// If the store has none, all calls together cost one query.
  private func readHidden(in conversation: ConversationKey) throws -> [SeqRange] {
    let any = try hasHidden ?? store.readState.hasHidden()
    hasHidden = any
    return any ? try store.readState.hidden(.anyReason, from: user, in: conversation) : []
  }
}
