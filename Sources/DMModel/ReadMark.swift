/// A range of messages that the same users have read; `reader` is the only one of these users, or nil if there are several.
package struct ReadMark: Equatable {
  package var range: SeqRange
  package var reader: UserKey?

  package init(range: SeqRange, reader: UserKey? = nil) {
    self.range = range
    self.reader = reader
  }

  /// Adds a reader's range to ascending, disjoint marks, all of which touch or overlap the range.
  ///
  /// - Returns: ascending, disjoint marks.
  package static func overlay(_ marks: [ReadMark], with range: SeqRange, by reader: UserKey) -> [ReadMark] {
    var pieces: [ReadMark] = []
    for mark in marks {
      let (lower, upper) = (mark.range.lowerBound, mark.range.upperBound)
      guard mark.range.overlaps(range) else {
        pieces.append(mark)
        continue
      }
      let common = mark.range.clamped(to: range)
      if lower < common.lowerBound {
        pieces.append(ReadMark(range: lower...(common.lowerBound - 1), reader: mark.reader))
      }
      pieces.append(ReadMark(range: common, reader: mark.reader == reader ? reader : nil))
      if upper > common.upperBound {
        pieces.append(ReadMark(range: (common.upperBound + 1)...upper, reader: mark.reader))
      }
    }
    pieces += difference(of: range, minus: marks.map(\.range)).map { ReadMark(range: $0, reader: reader) }
    pieces.sort { $0.range.lowerBound < $1.range.lowerBound }
    var result: [ReadMark] = []
    for piece in pieces {
      if let last = result.last, last.reader == piece.reader,
        last.range.upperBound + 1 == piece.range.lowerBound
      {
        result[result.count - 1].range = last.range.lowerBound...piece.range.upperBound
      } else {
        result.append(piece)
      }
    }
    return result
  }
}

/// Messages of a range whose status a receipt has changed: all that the user of the receipt did not send, or only those
/// of one sender.
package struct StatusChange: Equatable {
  package enum Senders: Equatable {
    case allBut(UserKey)
    case only(UserKey)

    package var only: UserKey? { if case .only(let user) = self { user } else { nil } }
  }

  package let range: SeqRange
  package let senders: Senders

  package init(range: SeqRange, senders: Senders) {
    self.range = range
    self.senders = senders
  }

  /// The changes of status that a user's receipt for a range causes.
  ///
  /// The status of a message does not change if a user other than its sender had marked it before.
  ///
  /// - Parameter layers: the marks of earlier receipts for at least this status; the marks of each layer are ascending
  ///   and disjoint.
  package static func changes(_ range: SeqRange, by user: UserKey, over layers: [[ReadMark]]) -> [StatusChange] {
    layers.reduce([StatusChange(range: range, senders: .allBut(user))]) { changes, marks in
      changes.flatMap { change in
        let unmarked = difference(of: change.range, minus: marks.map(\.range)).map {
          StatusChange(range: $0, senders: change.senders)
        }
        let own = marks.compactMap { mark -> StatusChange? in
          guard let reader = mark.reader, mark.range.overlaps(change.range) else { return nil }
          guard change.senders == .only(reader) || (change.senders == .allBut(user) && reader != user) else {
            return nil
          }
          return StatusChange(range: mark.range.clamped(to: change.range), senders: .only(reader))
        }
        return unmarked + own
      }
    }.sorted { $0.range.lowerBound < $1.range.lowerBound }
  }
}
