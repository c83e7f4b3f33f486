/// Errors of lines that are printed once, and then counted.
package struct RepeatedErrors {
  /// The texts of printed errors, each with the number of the lines that had the same error later.
  private var counts: [(text: String, count: Int)] = []
  /// The maximum number of texts; those that were not repeated make room for newer ones.
  private static let most = 64

  package init() {}

  /// Counts an error if one with the same text was printed before.
  ///
  /// - Returns: whether there was one.
  mutating func take(_ text: String) -> Bool {
    if let index = counts.firstIndex(where: { $0.text == text }) {
      counts[index].count += 1
      return true
    }
    if counts.count >= Self.most, let index = counts.firstIndex(where: { $0.count == 0 }) { counts.remove(at: index) }
    if counts.count < Self.most { counts.append((text, 0)) }
    return false
  }

  /// A line for each error that was repeated, with the number of repetitions.
  package var lines: [String] {
    counts.filter { $0.count > 0 }.map { "\(counted($0.count, "more line")): \($0.text)" }
  }
}
