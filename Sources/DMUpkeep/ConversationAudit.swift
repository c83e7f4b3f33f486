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

  /// The columns of a conversation that describe its end.
  struct End: Equatable {
    var lastSeq = 0
    /// The newest row that is not a tombstone.
    var lastMessage: MessageKey?
    var lastActivity: Timestamp
  }

  private(set) var end: End
  /// Who has said what; ascending.
  private(set) var said: [UserKey: [SeqRange]] = [:]
  /// What the system says, and tombstones: no news to anybody.
  private(set) var quiet: [SeqRange] = []
  private var mentions: Set<Mention> = []

  private struct Mention: Hashable {
    let user: ExactString
    let seq: Int
  }

  private init(_ store: Store, _ row: borrowing Statement) {
    self.store = store
    key = row.conversationKey(0)
    id = row.identifier(1)
    createdAt = row.timestamp(2)
    stored = End(lastSeq: row.int(3), lastMessage: row.optionalMessageKey(4), lastActivity: row.timestamp(5))
    end = End(lastActivity: row.timestamp(5))
  }

  /// Calls `body` with each conversation of a store, before its messages are read.
  static func forEach(in store: Store, _ body: (ConversationAudit) throws -> Void) throws {
    var rows = try store.connection.prepare(
      "SELECT id, uuid, created_at, last_seq, last_message, last_activity FROM conversation ORDER BY id")
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

  /// - Parameter findings: nil if faults need not be reported.
  func readMessages(_ findings: Findings?) throws {
    var messages = try store.connection.prepare(
      """
      SELECT id, seq, sender, created_at, system_kind, deleted_at, mentions, text IS NOT NULL, reaction_count
      FROM message WHERE conversation = ? ORDER BY seq
      """)
    messages.bind(key)
    var before: Timestamp?
    while try messages.step() {
      let seq = messages.int(1)
      let subject = "\(id):\(seq)"
      if seq != end.lastSeq + 1 {
        findings?.add(.counts, subject, "it follows the number \(end.lastSeq): there is a hole, or a number twice")
      }
      // A number that is far out of bounds cannot be computed with.
      guard seq > end.lastSeq, seq < 1 << 40 else { continue }
      let time = messages.timestamp(3)
      // After the clock of a sender was corrected, times may go back by more than the tolerance.
      if let before, time <= before, before.microseconds - time.microseconds <= Messages.tolerance {
        findings?.add(.counts, subject, "it is not later than the message before it")
      }
      before = time
      end.lastSeq = seq
      end.lastActivity = time
      let isTombstone = !messages.isNull(5)
      if !isTombstone { end.lastMessage = messages.messageKey(0) }
      if isTombstone, messages.bool(7) || !messages.isNull(6) || messages.bool(8) {
        findings?.add(.counts, subject, "it is deleted, and not all of it is gone")
      }
      extend(&said[messages.userKey(2), default: []], by: seq)
      if isTombstone || !messages.isNull(4) { extend(&quiet, by: seq) }
      for handle in messages.text(6).utf8.split(separator: 0x20) {
        mentions.insert(Mention(user: ExactString(String(Substring(handle))), seq: seq))
      }
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
