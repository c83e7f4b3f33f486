package import DMModel

// Reads: read_mark.

/// Reads the statuses and the readers of messages, as one user (the viewer) sees them, in one pass over the messages.
///
/// A user that the sender blocks does not count as a reader or receiver of the message. If this user is the viewer,
/// they do count, because the status must not show them that they are blocked. If the viewer has left a group, later
/// receipts of other users do not count. Results are cached, so that consecutive messages with the same readers cost
/// one query.
package final class StatusReader {
  private final class Cached {
    /// The two participants whose last delivered messages have the highest numbers.
    ///
    /// One of the two may be the sender.
    let delivered: [(user: UserKey, seq: Int)]
    /// Whether the viewer has left the conversation, so that later receipts do not count.
    let isFormer: Bool
    var range: SeqRange?
    var isRead = false
    var reader: UserKey?

    init(delivered: [(user: UserKey, seq: Int)], isFormer: Bool) {
      (self.delivered, self.isFormer) = (delivered, isFormer)
    }
  }

  private struct Route: Hashable {
    let conversation: ConversationKey
    let sender: UserKey
  }

  private let store: Store
  private unowned let viewer: Viewer
  private var conversations = KeyTable<Cached>()
  private var windows: [ConversationKey: ReceiptWindow] = [:]
  /// For each conversation and sender, the number of the last message that counts as delivered.
  ///
  /// The numbers are used only if the sender blocks users, or the viewer has left.
  private var deliveredFrom: [Route: Int] = [:]
  private var hasBlocks: Bool?
  private var blocks: [UserKey: Set<UserKey>] = [:]

  init(_ store: Store, _ viewer: Viewer) {
    self.store = store
    self.viewer = viewer
  }

  func status(of seq: Int, in conversation: ConversationKey, from sender: UserKey) throws -> Message.Status {
    let cached = try cached(seq, conversation)
    let ignored = try blockedUsers(by: sender)
    if ignored.isEmpty, !cached.isFormer {
      if cached.isRead, cached.reader != sender { return .read }
      return cached.delivered.contains { $0.user != sender && $0.seq >= seq } ? .delivered : .sent
    }
    let counts = { (user: UserKey) in user != sender && (user == self.viewer.user || !ignored.contains(user)) }
    if try everyReader(of: seq, in: conversation).contains(where: counts) { return .read }
    let route = Route(conversation: conversation, sender: sender)
    let delivered =
      try deliveredFrom[route]
      ?? store.readState.delivered(in: conversation, as: viewer.user).filter { counts($0.user) }.reduce(0) {
        max($0, $1.seq)
      }
    deliveredFrom[route] = delivered
    return delivered >= seq ? .delivered : .sent
  }

  /// The other users who have sent a read receipt for a message, in the order in which they were added to the store.
  ///
  /// Users that the sender blocks are left out, except the viewer. Users that the viewer blocks are left out, too.
  func readers(of seq: Int, in conversation: ConversationKey, from sender: UserKey) throws -> [UserKey] {
    let cached = try cached(seq, conversation)
    if !cached.isRead || cached.reader == sender { return [] }
    let (ignored, hidden) = (try blockedUsers(by: sender), try blockedUsers(by: viewer.user))
    return try everyReader(of: seq, in: conversation).filter {
      $0 != sender && ($0 == viewer.user || !ignored.contains($0)) && !hidden.contains($0)
    }
  }

  /// The number of users that `readers(of:in:from:)` returns.
  func readerCount(of seq: Int, in conversation: ConversationKey, from sender: UserKey) throws -> Int {
    let cached = try cached(seq, conversation)
    if !cached.isRead || cached.reader == sender { return 0 }
    if try !blockedUsers(by: sender).isEmpty || !blockedUsers(by: viewer.user).isEmpty {
      return try readers(of: seq, in: conversation, from: sender).count
    }
    let readers = try everyReader(of: seq, in: conversation)
    return readers.count - (readers.contains(sender) ? 1 : 0)
  }

  /// The users that a user blocks.
  ///
  /// If the store has no blocks, all calls together cost one query.
  package func blockedUsers(by user: UserKey) throws -> Set<UserKey> {
    let any = try hasBlocks ?? store.blocks.hasBlocks()
    hasBlocks = any
    if !any { return [] }
    if let cached = blocks[user] { return cached }
    let found = Set(try store.blocks.users(by: user))
    blocks[user] = found
    return found
  }

  /// All users who have a read receipt for a message, including the sender and blocked users; leaves out receipts that
  /// the viewer may not see.
  private func everyReader(of seq: Int, in conversation: ConversationKey) throws -> [UserKey] {
    let cached = try cached(seq, conversation)
    guard cached.isRead else { return [] }
    if let reader = cached.reader, !cached.isFormer { return [reader] }
    return try windows[conversation, default: ReceiptWindow()].readers(of: seq) {
      try store.readState.receipts(in: conversation, overlapping: $0, as: viewer.user)
    }
  }

  /// Finds the row of `read_mark` whose range contains a message.
  ///
  /// If there is no such row, finds the gap between two rows in which the message is.
  private func cached(_ seq: Int, _ conversation: ConversationKey) throws -> Cached {
    let cached = try conversations[conversation.number] ?? newCache(conversation)
    if cached.range?.contains(seq) == true { return cached }
    var statement = try store.connection.prepare(
      "SELECT from_seq, to_seq, reader FROM read_mark WHERE conversation = ? AND to_seq >= ? ORDER BY to_seq LIMIT 1")
    statement.bind(conversation)
    statement.bind(seq)
    let found = try statement.step()
    cached.isRead = found && statement.int(0) <= seq
    cached.reader = cached.isRead ? statement.optionalUserKey(2) : nil
    cached.range = cached.isRead ? try statement.seqs(0, 1) : seq...(found ? statement.int(0) - 1 : .max)
    conversations[conversation.number] = cached
    return cached
  }

  private func newCache(_ conversation: ConversationKey) throws -> Cached {
    try Cached(
      delivered: store.readState.furthestDelivered(in: conversation),
      isFormer: viewer.hasLeft(conversation))
  }
}

/// A cache of the receipts for a range of consecutive messages of one conversation.
///
/// The cache also has the readers of the last requested message, and the range around that message in which all
/// messages have the same readers.
private struct ReceiptWindow {
  private var window: SeqRange?
  private var receipts: [(user: UserKey, range: SeqRange, at: Timestamp)] = []
  private var run: SeqRange?
  private var runReaders: [UserKey] = []

  /// The number of messages whose receipts one query reads.
  private static let size = 512

  /// The users who have a receipt for a message.
  ///
  /// - Parameter read: returns the receipts that overlap a range, sorted by user.
  mutating func readers(
    of seq: Int, _ read: (SeqRange) throws -> [(user: UserKey, range: SeqRange, at: Timestamp)]
  ) throws -> [UserKey] {
    if run?.contains(seq) == true { return runReaders }
    if window?.contains(seq) != true {
      let start = (seq - 1) / Self.size * Self.size + 1
      let range = start...(start + Self.size - 1)
      receipts = try read(range)
      window = range
    }
    var same = window ?? seq...seq
    runReaders = []
    for receipt in receipts {
      if receipt.range.contains(seq) {
        same = same.clamped(to: receipt.range)
        runReaders.append(receipt.user)
      } else if receipt.range.upperBound < seq {
        same = max(same.lowerBound, receipt.range.upperBound + 1)...same.upperBound
      } else {
        same = same.lowerBound...min(same.upperBound, receipt.range.lowerBound - 1)
      }
    }
    run = same
    return runReaders
  }
}
