/// A range of message numbers, including both ends.
public typealias SeqRange = ClosedRange<Int>

/// Message numbers as users write them: `57`, `40..57`, `40..` or `..57`.
///
/// Negative numbers count from the end of the messages that the user sees: `-1` is the last of them.
public struct RangeReference: Equatable, Sendable {
  /// The first number; nil for the first message.
  public let from: Int?
  /// The last number; nil for the last message.
  public let to: Int?

  /// Makes a range from a number to a number, including both; 0 is not allowed.
  public init(from: Int?, to: Int?) {
    self.from = from
    self.to = to
  }

  /// Reads a number or a range; nil if the text is neither.
  public init?(_ text: some StringProtocol) {
    if let single = Self.number(text) {
      self.init(from: single, to: single)
      return
    }
    let bytes = text.utf8
    guard let dots = bytes.indices.first(where: { bytes[$0...].starts(with: "..".utf8) }) else { return nil }
    let (left, right) = (text[..<dots], text[bytes.index(dots, offsetBy: 2)...])
    let (from, to) = (Self.number(left), Self.number(right))
    guard left.isEmpty || from != nil, right.isEmpty || to != nil, !(left.isEmpty && right.isEmpty)
    else { return nil }
    self.init(from: from, to: to)
  }

  /// Refuses the number 0, alone or as an end of a range.
  ///
  /// - Throws: `bad_reference`.
  package static func refuseZero(_ text: some StringProtocol) throws(DMError) {
    let bytes = Array(text.utf8)
    let dots = bytes.indices.first { bytes[$0...].starts(with: "..".utf8) }
    let ends = dots.map { [bytes[..<$0], bytes[($0 + 2)...]] } ?? [bytes[...]]
    // `+0` is the title of a group, not a number.
    let numbers = ends.map { end in
      end.isEmpty ? 1 : end.first == UInt8(ascii: "+") ? nil : Int(String(decoding: end, as: UTF8.self))
    }
    guard numbers.contains(0), !numbers.contains(nil) else { return }
    throw DMError(
      .badReference, "there is no message '\(text)': messages are numbered from 1; -1 is the last one",
      subject: String(text))
  }

  private static func number(_ text: some StringProtocol) -> Int? {
    guard text.utf8.first != UInt8(ascii: "+"), let value = Int(text), value != 0 else { return nil }
    return value
  }

  /// Whether the range is empty in every conversation, like `57..40`.
  package var isBackwards: Bool {
    guard let from, let to, (from < 0) == (to < 0) else { return false }
    return from > to
  }

  /// The numbers of the range in a conversation whose last number is `last`; nil if there are none.
  ///
  /// - Parameter newest: for a count n, returns the number of the nth newest message that the user sees; nil if the
  ///   user sees fewer than n messages.
  package func resolved(last: Int, newest: (Int) throws -> Int?) rethrows -> SeqRange? {
    func absolute(_ number: Int) throws -> Int {
      number < 0 ? try newest(Int(clamping: number.magnitude)) ?? 0 : number
    }
    let lower = max(try from.map(absolute) ?? 1, 1)
    let upper = min(try to.map(absolute) ?? last, last)
    return lower <= upper ? lower...upper : nil
  }
}

/// The parts of `range` that are in none of the ascending, disjoint ranges `by`.
///
/// Linear in the number of ranges.
package func difference(of range: SeqRange, minus by: [SeqRange]) -> [SeqRange] { difference(of: [range], minus: by) }

/// The parts of ascending, disjoint ranges that are in none of the ranges `by`, which are ascending and disjoint too.
///
/// Linear in the number of all these ranges.
package func difference(of ranges: [SeqRange], minus by: [SeqRange]) -> [SeqRange] {
  var result: [SeqRange] = []
  var index = 0
  for range in ranges {
    while index < by.count, by[index].upperBound < range.lowerBound { index += 1 }
    var next = range.lowerBound
    // The last range of `by` that overlaps this range may also overlap the next range of `ranges`, so it is compared
    // again.
    var ahead = index
    while ahead < by.count, by[ahead].lowerBound <= range.upperBound {
      if next < by[ahead].lowerBound { result.append(next...(by[ahead].lowerBound - 1)) }
      next = by[ahead].upperBound + 1
      ahead += 1
    }
    if next <= range.upperBound { result.append(next...range.upperBound) }
    index = max(index, ahead - 1)
  }
  return result
}

/// Joins ascending ranges that overlap or touch.
///
/// Linear in the number of ranges.
package func coalesced(_ ascending: [SeqRange]) -> [SeqRange] {
  var result: [SeqRange] = []
  for range in ascending {
    if let last = result.last, range.lowerBound <= last.upperBound + 1 {
      result[result.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
    } else {
      result.append(range)
    }
  }
  return result
}
