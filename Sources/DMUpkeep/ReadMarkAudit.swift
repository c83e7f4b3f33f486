internal import DMModel
internal import DMStore

extension ConversationAudit {
  /// Compares the read marks with those that follow from the receipts of all users.
  func checkMarks(_ receipts: [UserKey: [SeqRange]], _ findings: Findings) throws {
    let expected = Self.overlaid(receipts)
    let stored = try marks(findings)
    if stored != expected {
      let seq = zip(stored, expected).first { $0 != $1 }.map { min($0.range.lowerBound, $1.range.lowerBound) }
      let first =
        seq ?? (stored.count < expected.count ? expected : stored)[min(stored.count, expected.count)].range.lowerBound
      findings.add(.ranges, "\(id):\(first)", "its status is not the one that the receipts give it")
    }
  }

  private func marks(_ findings: Findings) throws -> [ReadMark] {
    var rows = try store.connection.prepare(
      "SELECT from_seq, to_seq, reader FROM read_mark WHERE conversation = ? ORDER BY to_seq")
    rows.bind(key)
    var result: [ReadMark] = []
    while try rows.step() {
      let (from, to) = (rows.int(0), rows.int(1))
      guard from > (result.last?.range.upperBound ?? 0), from <= to, to <= end.lastSeq else {
        findings.add(.ranges, id.description, "'read_mark' has \(from)..\(to), where there is another or no message")
        continue
      }
      Self.append(ReadMark(range: from...to, reader: rows.optionalUserKey(2)), to: &result)
    }
    return result
  }

  /// Adds a mark, or extends the last mark if the last mark has the same reader and ends directly before the new one.
  private static func append(_ mark: ReadMark, to marks: inout [ReadMark]) {
    if let last = marks.last, last.reader == mark.reader, last.range.upperBound + 1 == mark.range.lowerBound {
      marks[marks.count - 1].range = last.range.lowerBound...mark.range.upperBound
    } else {
      marks.append(mark)
    }
  }

  /// The read marks that follow from the receipts.
  static func overlaid(_ receipts: [UserKey: [SeqRange]]) -> [ReadMark] {
    var ends: [(seq: Int, user: UserKey, isBegin: Bool)] = []
    for (user, ranges) in receipts {
      for range in ranges {
        ends.append((range.lowerBound, user, true))
        ends.append((range.upperBound + 1, user, false))
      }
    }
    ends.sort { $0.seq < $1.seq }
    var readers: [UserKey: Int] = [:]
    var marks: [ReadMark] = []
    var seq = 1
    for end in ends {
      if end.seq > seq, !readers.isEmpty {
        append(
          ReadMark(range: seq...(end.seq - 1), reader: readers.count == 1 ? readers.first?.key : nil), to: &marks)
      }
      seq = end.seq
      let count = readers[end.user, default: 0] + (end.isBegin ? 1 : -1)
      readers[end.user] = count == 0 ? nil : count
    }
    return marks
  }

  /// Finds ranges, receipts and mentions of users who are not participants.
  static func checkStrays(_ store: Store, _ findings: Findings) throws {
    for table in ["read_range", "hidden_range", "receipt", "mention"] {
      var strays = try store.connection.prepare(
        text: """
          SELECT c.uuid, s.user FROM (SELECT DISTINCT conversation, user FROM \(table)
            EXCEPT SELECT conversation, user FROM participant) s LEFT JOIN conversation c ON c.id = s.conversation
          """)
      while try strays.step() {
        findings.add(
          .ranges, strays.identifier(0).description,
          "'\(table)' has the user \(strays.userKey(1)), who is not a participant"
        )
      }
    }
  }
}
