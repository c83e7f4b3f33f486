@testable import DMKit
@testable import DMModel
@testable import DMStore

/// How acts change receipts.
extension ReferenceModel {
  /// - Returns: the messages that have become read.
  mutating func markRead(_ wanted: Set<Int>, _ talk: Int, by user: User, isPrivate: Bool = false) -> Set<Int> {
    // Messages that do not reach the user are not marked.
    let reached = wanted.filter { reaches($0, talk, user) }
    let changed = reached.filter { !isGone($0, talk) && !countsAsRead($0, talk, by: user) }
    guard let lower = changed.min(), let upper = changed.max() else { return [] }
    let before = talks[talk].parts[user]?.read ?? []
    talks[talk].parts[user]?.read.formUnion(reached)
    let new = reached.filter { seq in
      let said = talks[talk].said[seq - 1]
      // A message that was read privately gets no receipt.
      let isQuiet = before.contains(seq) && said.sender != user && said.kind == nil && said.deletedAt == nil
      return !isPrivate && (lower...upper).contains(seq) && !said.readers.contains(user) && !isQuiet
    }
    for run in runs(new) {
      talks[talk].receipts.append((user, run, nil))
      log(talk, .read(run, by: user))
      logStatuses(run, talk, by: user) { model in
        for seq in run { model.talks[talk].said[seq - 1].readers.insert(user) }
      }
    }
    log(talk, .own(user))
    return changed
  }

  /// - Returns: the messages that have become unread.
  mutating func markUnread(_ wanted: Set<Int>, _ talk: Int, by user: User) -> Set<Int> {
    let changed = wanted.filter {
      let said = talks[talk].said[$0 - 1]
      return said.sender != user && said.kind == nil && sees($0, talk, user) && countsAsRead($0, talk, by: user)
    }
    if changed.isEmpty { return [] }
    talks[talk].parts[user]?.read.subtract(changed)
    log(talk, .own(user))
    return changed
  }

  /// - Returns: the messages that have become delivered.
  mutating func markDelivered(_ seq: Int, _ talk: Int, to user: User) -> Set<Int> {
    let before = talks[talk].parts[user]?.delivered ?? 0
    guard before < seq else { return [] }
    let new = (before + 1)...seq
    log(talk, .got(new, by: user))
    logStatuses(new, talk, by: user) { $0.talks[talk].parts[user]?.delivered = seq }
    return Set(new)
  }

  /// Changes the receipts of a range, and adds an entry for each message whose status this changes.
  private mutating func logStatuses(
    _ range: SeqRange, _ talk: Int, by user: User, _ change: (inout ReferenceModel) -> Void
  ) {
    let before = self
    change(&self)
    var added: [(seq: Int, status: Message.Status)] = []
    for seq in range {
      let (old, new) = (before.statuses(seq, talk), statuses(seq, talk))
      let sender = talks[talk].said[seq - 1].sender
      let isOnlyOwn =
        before.talks[talk].said[seq - 1].readers.contains(sender)
        || old.all == .sent && new.all == .delivered
          && before.talks[talk].parts[sender].map { $0.delivered >= seq } == true
      if old.all != new.all {
        log(talk, .status(seq, new.all, by: user, forSender: isOnlyOwn))
      } else if old.counted != new.counted {
        added.append((seq, new.counted))
      }
    }
    for (seq, status) in added { log(talk, .status(seq, status, by: user, forSender: true)) }
  }
}

/// The receipts that users may see.
extension ReferenceModel.Talk {
  typealias User = ReferenceModel.User

  /// The receipts that a user may see.
  ///
  /// A former member sees receipts of others only from before they left.
  func receipts(visibleTo user: User) -> [(user: User, range: SeqRange, at: Timestamp?)] {
    guard let past = parts[user]?.past else { return receipts }
    return receipts[..<past.receipts] + receipts[past.receipts...].filter { $0.user == user }
  }

  /// By user, the number up to which messages were delivered to them, as far as `user` may see this.
  func delivered(visibleTo user: User) -> [User: Int] {
    var delivered = parts[user]?.past?.delivered ?? parts.mapValues(\.delivered)
    delivered[user] = parts[user]?.delivered
    return delivered
  }

  func readers(_ seq: Int, visibleTo user: User) -> Set<User> {
    if parts[user]?.past == nil { return said[seq - 1].readers }
    return Set(receipts(visibleTo: user).filter { $0.range.contains(seq) }.map(\.user))
  }
}

/// The numbers as ranges of consecutive numbers.
func runs(_ numbers: Set<Int>) -> [SeqRange] { coalesced(numbers.sorted().map { $0...$0 }) }
