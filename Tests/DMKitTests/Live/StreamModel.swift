@testable import DMKit

/// The events that a stream must have, as a plain list of what has happened in some conversations.
struct StreamModel {
  enum Entry {
    case conversation(by: String)
    case message(seq: Int)
    case update(seq: Int, by: String, Message.Status)
    case read(user: String, SeqRange)
    case got(user: String, SeqRange)
    case readState(user: String)
  }

  /// The user and the query of a follower.
  struct Filter {
    let user: String
    let kinds: Set<MessagingEvent.Kind>
    /// The selected conversations; nil for all that the user is in.
    let conversations: [Int]?
    let othersOnly: Bool
  }

  let participants: [[String]]
  var conversations: [ReadModel]
  /// What has happened, oldest first.
  private(set) var entries: [(conversation: Int, entry: Entry)] = []
  private var existing: Set<Int> = []

  init(participants: [[String]]) {
    self.participants = participants
    conversations = participants.map { _ in ReadModel() }
  }

  func exists(_ conversation: Int) -> Bool { existing.contains(conversation) }

  mutating func create(_ conversation: Int, by user: String) {
    if existing.insert(conversation).inserted { entries.append((conversation, .conversation(by: user))) }
  }

  /// Creates a group, whose first message is an announcement.
  mutating func createGroup(_ conversation: Int, by user: String) {
    create(conversation, by: user)
    conversations[conversation].announce(user, to: participants[conversation])
    entries.append((conversation, .message(seq: conversations[conversation].last)))
  }

  mutating func send(_ user: String, in conversation: Int) {
    create(conversation, by: user)
    conversations[conversation].send(user)
    entries.append((conversation, .message(seq: conversations[conversation].last)))
  }

  mutating func deliver(_ seq: Int, to user: String, in conversation: Int) {
    let before = conversations[conversation].delivered[user] ?? 0
    guard before < seq else { return }
    entries.append((conversation, .got(user: user, (before + 1)...seq)))
    update((before + 1)...seq, by: user, in: conversation) { $0.delivered[user] = seq }
  }

  mutating func mark(_ wanted: Set<Int>, by user: String, in conversation: Int, act: Int) {
    let before = conversations[conversation]
    var after = before
    let changed = after.mark(wanted, user, act: act)
    guard !changed.isEmpty else { return }
    let new = Set((after.receipts[user] ?? [:]).keys).subtracting((before.receipts[user] ?? [:]).keys)
    conversations[conversation].read = after.read
    for run in ReadModel.ranges(new) {
      let range = Int(run[0])...Int(run[1])
      entries.append((conversation, .read(user: user, range)))
      update(range, by: user, in: conversation) { model in
        for seq in range { model.receipts[user, default: [:]][seq] = act }
      }
    }
    entries.append((conversation, .readState(user: user)))
  }

  mutating func unmark(_ wanted: Set<Int>, by user: String, in conversation: Int) {
    if !conversations[conversation].unmark(wanted, user).isEmpty {
      entries.append((conversation, .readState(user: user)))
    }
  }

  /// Changes the marks of a range, and adds an entry for each message whose status this changes.
  private mutating func update(
    _ range: SeqRange, by user: String, in conversation: Int, _ change: (inout ReadModel) -> Void
  ) {
    let before = conversations[conversation]
    change(&conversations[conversation])
    for seq in range where before.status(seq) != conversations[conversation].status(seq) {
      entries.append((conversation, .update(seq: seq, by: user, conversations[conversation].status(seq))))
    }
  }

  // MARK: Events

  func isSelected(_ number: Int, by filter: Filter) -> Bool {
    let (conversation, entry) = entries[number]
    guard participants[conversation].contains(filter.user), filter.conversations?.contains(conversation) != false
    else { return false }
    func isForeign(_ user: String) -> Bool { user != filter.user || !filter.othersOnly }
    switch entry {
    case .conversation(let user): return filter.kinds.contains(.conversationUpdated) && isForeign(user)
    case .message(let seq): return filter.kinds.contains(.message) && isForeign(sender(seq, conversation))
    case .update(let seq, let user, _):
      return filter.kinds.contains(.messageStatus) && isForeign(sender(seq, conversation)) && isForeign(user)
    case .read(let user, _): return filter.kinds.contains(.readReceipt) && isForeign(user)
    case .got(let user, _): return filter.kinds.contains(.deliveryReceipt) && isForeign(user)
    case .readState(let user):
      return filter.kinds.contains(.conversationUpdated) && user == filter.user && !filter.othersOnly
    }
  }

  private func sender(_ seq: Int, _ conversation: Int) -> String { conversations[conversation].senders[seq - 1] }

  /// Whether an entry is a change of status; one event may report several of these.
  func isStatus(_ number: Int) -> Bool { if case .update = entries[number].entry { true } else { false } }

  /// The text of the event that a user gets for an entry.
  ///
  /// It has the current state, not the state at the time of the entry.
  func text(of number: Int, to user: String) -> String {
    let (conversation, entry) = entries[number]
    let model = conversations[conversation]
    switch entry {
    case .conversation, .readState:
      return "\(conversation): \(model.unread(user).count) unread of \(model.last)"
    case .message(let seq): return "\(conversation): new \(seq) \(sender(seq, conversation)) \(model.status(seq))"
    case .update(let seq, let user, let status):
      return "\(conversation): \(seq) \(sender(seq, conversation)) \(status) by \(user)"
    case .read(let reader, let range):
      return "\(conversation): \(reader) read \(range)"
    case .got(let user, let range): return "\(conversation): \(user) got \(range)"
    }
  }
}
