public import DMKit

/// The operands of `dm-tail` and `dm-read`: conversations and ranges of messages of one, `bob 40..57 60`,
/// `bob:40..57` or `bob +ops`.
///
/// Nil for ranges that are not there.
///
/// - Parameter several: whether there may be more than one conversation; with ranges there never may.
/// - Throws: `usage`, `bad_reference`.
public func conversationsAndRanges(
  _ operands: [String], several: Bool = true
) throws -> ([ConversationReference], [RangeReference]?) {
  var conversations: [ConversationReference] = []
  var ranges: [RangeReference] = []
  for operand in operands {
    if !conversations.isEmpty { try RangeReference.refuseZero(operand) }
    if !conversations.isEmpty, let range = RangeReference(operand) {
      ranges.append(range)
    } else if let (named, range) = try splitReference(operand) {
      conversations.append(named)
      ranges.append(range)
    } else {
      conversations.append(try ConversationReference(operand))
    }
  }
  if conversations.count > 1, !several || !ranges.isEmpty {
    throw usage("'\(operands[1])' is no range of messages; write 57, 40..57, 40.. or ..57")
  }
  if let backwards = ranges.first(where: \.isBackwards) {
    let (from, to) = (backwards.from ?? 0, backwards.to ?? 0)
    throw usage("'\(from)..\(to)' runs backwards; write \(to)..\(from)")
  }
  return (conversations, ranges.isEmpty ? nil : ranges)
}

/// A number or a UUID is a message, `bob:57` too; but `14:30` is a time, though a user may be called 14.
///
/// - Throws: `bad_time`.
public func messageOrTime(_ text: String) throws -> HistoryQuery.Bound {
  if Int(text) != nil || Identifier(text) != nil { return .message(try MessageReference(text)) }
  do {
    return .time(try moment(text))
  } catch let error as DMError where error.code == .badTime {
    do {
      if let reference = try splitReference(text), reference.range.from != nil {
        return .message(try MessageReference(text))
      }
    } catch let other as DMError where other.code == .badReference {
      // As in '25:00', which is nearer to a time.
    }
    throw error
  }
}
