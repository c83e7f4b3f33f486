internal import DMModel
internal import DMStore

/// The values of a conversation's row, and of its participants' rows, as computed from its messages.
///
/// The check compares the rows with these values, and the repair writes them.
final class ConversationAudit {
  let store: Store
  let key: ConversationKey
  let id: Identifier
  let createdAt: Timestamp
  let stored: End

  /// The columns of a conversation that describe its last message.
  struct End: Equatable {
    var lastSeq = 0
    /// The newest message that is not a tombstone.
    var lastMessage: MessageKey?
    var lastActivity: Timestamp
  }

  private(set) var end: End
  /// The numbers of each sender's messages; ascending.
  private(set) var said: [UserKey: [SeqRange]] = [:]
  /// The numbers of announcements and tombstones, which never count as unread.
  private(set) var quiet: [SeqRange] = []
  private var mentions: Set<Mention> = []

  private struct Mention: Hashable {
    let user: ExactString
    let seq: Int
  }

  /// The columns of a conversation.
  private enum Column: Int32, QueryColumn {
    case key, id, createdAt, lastSeq, lastMessage, lastActivity
  }

  private init(_ store: Store, _ row: borrowing Statement) {
    assert(row.has(Column.self))
    self.store = store
    key = row.conversationKey(Column.key)
    id = row.identifier(Column.id)
    createdAt = row.timestamp(Column.createdAt)
    stored = End(
      lastSeq: row.int(Column.lastSeq), lastMessage: row.optionalMessageKey(Column.lastMessage),
      lastActivity: row.timestamp(Column.lastActivity))
    end = End(lastActivity: row.timestamp(Column.lastActivity))
  }

  /// Calls `body` with each conversation of a store, before its messages are read.
  static func forEach(in store: Store, _ body: (ConversationAudit) throws -> Void) throws {
    var rows = try store.connection.prepare(
      "SELECT id AS key, uuid AS id, created_at, last_seq, last_message, last_activity FROM conversation ORDER BY key")
    while try rows.step() { try body(ConversationAudit(store, rows)) }
  }

  static func run(_ store: Store, _ progress: (String) throws -> Void, _ findings: Findings) throws {
    var count = 0
    try forEach(in: store) { audit in
      count += 1
      try progress("\(count) conversations counted")
      try findings.attempt(.counts, audit.id.description) {
        try audit.readMessages(findings)
        try audit.checkEnd(findings)
        try audit.checkMentions(findings)
        try audit.checkRanges(findings)
      }
    }
    try checkStrays(store, findings)
  }

  // MARK: Messages

  /// The columns of a message.
  private enum MessageColumn: Int32, QueryColumn {
    case key, seq, sender, createdAt, systemKind, deletedAt, mentions, hasText, reactionCount
  }

  /// Whether messages between two numbers are missing because the user of a linked store may not see them, or because the
  /// store has not kept them.
  private func isHidden(after last: Int, before seq: Int) throws -> Bool {
    guard seq > last + 1, let hub = try store.hub.row() else { return false }
    let gap = (last + 1)...(seq - 1)
    let floor = try store.hubFloors.row(key)?.seq ?? 1
    let hidden = try Viewer(store, hub.user).hidden(in: gap, of: key)
    return difference(of: gap, minus: hidden).allSatisfy { $0.upperBound < floor }
  }

  /// - Parameter findings: nil if faults need not be reported.
  func readMessages(_ findings: Findings?) throws {
    var messages = try store.connection.prepare(
      """
      SELECT id AS key, seq, sender, created_at, system_kind, deleted_at, mentions, text IS NOT NULL AS has_text,
        reaction_count
      FROM message WHERE conversation = ? ORDER BY seq
      """)
    messages.bind(key)
    assert(messages.has(MessageColumn.self))
    var before: Timestamp?
    while try messages.step() {
      let seq = messages.int(MessageColumn.seq)
      let subject = "\(id):\(seq)"
      if try seq != end.lastSeq + 1 && !isHidden(after: end.lastSeq, before: seq) {
        findings?.add(.counts, subject, "it follows the number \(end.lastSeq): there is a hole, or a number twice")
      }
      // Sums with a number that is far out of bounds could overflow.
      guard seq > end.lastSeq, seq < 1 << 40 else { continue }
      let time = messages.timestamp(MessageColumn.createdAt)
      // A step back of more than the tolerance is not a fault: the clock of a sender may have been corrected.
      if let before, time <= before, before.microseconds - time.microseconds <= Messages.tolerance {
        findings?.add(.counts, subject, "it is not later than the message before it")
      }
      before = time
      end.lastSeq = seq
      end.lastActivity = time
      count(messages, seq, subject, findings)
    }
  }

  /// Adds a message to the computed values.
  private func count(_ row: borrowing Statement, _ seq: Int, _ subject: String, _ findings: Findings?) {
    let isTombstone = !row.isNull(MessageColumn.deletedAt)
    if !isTombstone { end.lastMessage = row.messageKey(MessageColumn.key) }
    if isTombstone,
      row.bool(MessageColumn.hasText) || !row.isNull(MessageColumn.mentions) || row.bool(MessageColumn.reactionCount)
    {
      findings?.add(.counts, subject, "it is deleted, and not all of it is gone")
    }
    extend(&said[row.userKey(MessageColumn.sender), default: []], by: seq)
    if isTombstone || !row.isNull(MessageColumn.systemKind) { extend(&quiet, by: seq) }
    for handle in row.text(MessageColumn.mentions).utf8.split(separator: 0x20) {
      mentions.insert(Mention(user: ExactString(String(Substring(handle))), seq: seq))
    }
  }

  private func extend(_ ranges: inout [SeqRange], by seq: Int) {
    if let last = ranges.last, last.upperBound + 1 == seq {
      ranges[ranges.count - 1] = last.lowerBound...seq
    } else {
      ranges.append(seq...seq)
    }
  }

  private func checkEnd(_ findings: Findings) throws {
    // The store keeps all messages from the floor on, but has not pulled these messages yet.
    if let floor = try store.hubFloors.row(key)?.seq, stored.lastSeq < floor { return }
    let subject = id.description
    if stored.lastSeq != end.lastSeq {
      findings.add(.counts, subject, "its last number is \(stored.lastSeq) instead of \(end.lastSeq)")
    }
    if stored.lastMessage != end.lastMessage { findings.add(.counts, subject, "its last message is another") }
    if stored.lastActivity != end.lastActivity {
      findings.add(.counts, subject, "its last activity is \(stored.lastActivity) instead of \(end.lastActivity)")
    }
  }

  private func checkMentions(_ findings: Findings) throws {
    var rows = try store.connection.prepare(
      "SELECT u.handle, x.seq FROM mention x JOIN user u ON u.id = x.user WHERE x.conversation = ?")
    rows.bind(key)
    var left = mentions
    while try rows.step() {
      if left.remove(Mention(user: ExactString(rows.text(0)), seq: rows.int(1))) == nil {
        findings.add(.counts, "\(id):\(rows.int(1))", "'\(rows.text(0))' is noted as mentioned and is not")
      }
    }
    for mention in left.sorted(by: { $0.seq < $1.seq }) {
      findings.add(.counts, "\(id):\(mention.seq)", "'\(mention.user.text)' is mentioned and not noted as such")
    }
  }
}
