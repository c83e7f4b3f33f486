internal import DMCLI

/// Lines of help or of a search, shown instead of the conversation.
struct Panel {
  private let lines: [String]
  /// The rows below the screen.
  private var hidden = 0

  init(_ lines: [String]) { self.lines = lines }

  /// The rows that fit, and whether there are others above them.
  func visible(_ height: Int, _ layout: Layout) -> (rows: [[UInt8]], hasMore: Bool) {
    let rows = lines.flatMap(layout.rows).dropLast(hidden)
    return (rows.suffix(height), rows.count > height)
  }

  /// Goes back by some rows, or on if the number is negative.
  mutating func goBack(_ count: Int, height: Int, _ layout: Layout) {
    hidden = max(0, min(hidden + count, lines.flatMap(layout.rows).count - height))
  }
}
