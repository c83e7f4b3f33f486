package import DMKit

extension Arguments {
  /// Reads operands that name conversations or ranges of messages, such as `bob +ops`, `bob 40..57 60` or `bob:40..57`.
  ///
  /// The operands are either conversations, or one conversation with ranges of its messages. The returned ranges are
  /// nil if no operand has a range.
  ///
  /// - Parameters:
  ///   - operands: all operands of the command line, or some of them.
  ///   - several: whether to allow more than one conversation when there are no ranges.
  /// - Throws: `usage`, `bad_reference`.
  package func conversationsAndRanges(
    _ operands: [String], several: Bool = true
  ) throws -> ([ConversationReference], [RangeReference]?) {
    var conversations: [ConversationReference] = []
    var ranges: [RangeReference] = []
    /// The first operand that names a second conversation.
    var other: String?
    for operand in operands {
      if !conversations.isEmpty { try RangeReference.refuseZero(operand) }
      if !conversations.isEmpty, let range = RangeReference(operand) {
        ranges.append(range)
      } else if let (named, range) = try splitReference(operand) {
        // `bob:1 bob:2` means `bob 1 2`.
        if conversations.first != named { conversations.append(named) }
        ranges.append(range)
      } else if let range = dottedRange(operand), !conversations.isEmpty || range.utf8.contains(UInt8(ascii: ":")) {
        // A user whose handle looks like a range is written '@40-57'.
        throw usage("'\(operand)' is not a range of messages; write \(retyped(operand, as: range))")
      } else {
        conversations.append(try ConversationReference(operand))
      }
      if conversations.count == 2, other == nil { other = operand }
    }
    if let other, !several || !ranges.isEmpty {
      throw usage("'\(other)' is not a range of messages; write 57, 40..57, 40.. or ..57")
    }
    if let backwards = ranges.first(where: \.isBackwards) {
      let (from, to) = (backwards.from ?? 0, backwards.to ?? 0)
      throw usage("'\(from)..\(to)' runs backwards; write \(to)..\(from)")
    }
    return (conversations, ranges.isEmpty ? nil : ranges)
  }
}

/// The range that the user probably meant: `40..57` for `40-57`, and `bob:40..57` for `bob:40-57`.
///
/// Nil for other words, and for titles of groups, because a title may end in `40-57`.
package func dottedRange(_ word: String) -> String? {
  let bytes = word.utf8
  guard bytes.first != UInt8(ascii: "+"), bytes.first != UInt8(ascii: "#") else { return nil }
  let start = bytes.lastIndex(of: UInt8(ascii: ":")).map(bytes.index(after:)) ?? bytes.startIndex
  let ends = bytes[start...].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
  let areNumbers = ends.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
  guard ends.count == 2, areNumbers else { return nil }
  return String(Substring(bytes[..<start])) + ends.map { String(Substring($0)) }.joined(separator: "..")
}
