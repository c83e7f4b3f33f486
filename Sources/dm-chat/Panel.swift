internal import DMCLI
internal import DMKit

/// The lines of /help, of a search or of a digest, shown instead of the conversation.
struct Panel {
  private let lines: [String]
  /// For the hits of a search: the number of the message of each line.
  private let numbers: [Int?]
  /// The line that Up and Down have chosen; nil if the lines are not to be chosen from.
  private var chosen: Int?
  /// How many rows are below the screen; a number that is too large stands for the largest possible one.
  private var hidden: Int
  /// Whether the lines are the pinned messages, and must be renewed when these change.
  private(set) var isOfPins = false
  /// A picture above the lines.
  private var picture: TerminalPicture?

  /// - Parameter atTop: whether the first rows are shown first, instead of the last ones.
  init(_ lines: [String], atTop: Bool = false) {
    (self.lines, numbers, hidden) = (lines, [], atTop ? .max : 0)
  }

  /// The lines of a message below its picture.
  init(_ lines: [String], below picture: TerminalPicture?) {
    self.init(lines, atTop: true)
    self.picture = picture
  }

  /// All rows; those that the picture takes are empty.
  private func rows(_ layout: Layout) -> [[UInt8]] {
    [[UInt8]](repeating: [], count: picture?.rows ?? 0) + lines.indices.flatMap { rows($0, layout) }
  }

  /// The picture; nil if there is none, or if it is not on the screen as a whole.
  func picture(_ height: Int, _ layout: Layout) -> TerminalPicture? {
    guard let picture, picture.rows <= height else { return nil }
    let count = rows(layout).count
    return max(0, min(hidden, count - height)) == max(0, count - height) ? picture : nil
  }

  /// Lines about messages, the last of which is chosen first.
  init(hits: [(line: String, number: Int?)]) {
    (lines, numbers, chosen, hidden) = (hits.map(\.line), hits.map(\.number), hits.count - 1, 0)
  }

  /// The pinned messages, of which there is at least one.
  ///
  /// - Parameters:
  ///   - pins: the lines and the numbers, the newest pin first.
  ///   - number: the number of the message that is chosen, if it is pinned.
  init(pins: [(line: String, number: Int?)], choosing number: Int? = nil) {
    self.init(hits: pins.reversed())
    chosen = numbers.lastIndex { $0 == number } ?? chosen
    isOfPins = true
  }

  /// What the state line says about a number of pinned messages.
  static func notice(pins count: Int) -> String {
    "\(counted(count, "pinned message")); Up, Down and Enter go to one, Esc back"
  }

  private func rows(_ index: Int, _ layout: Layout) -> [[UInt8]] {
    guard let chosen else { return layout.rows(of: lines[index]) }
    return layout.rows(of: (index == chosen ? Mark.strong("> ") : "  ") + lines[index])
  }

  /// The rows that fit, and the key that shows more rows: those above them, or if there are none, those below them.
  func visible(_ height: Int, _ layout: Layout) -> (rows: [[UInt8]], more: String?) {
    let rows = rows(layout)
    let hidden = max(0, min(hidden, rows.count - height))
    let above = rows.count - hidden - height
    return (rows.dropLast(hidden).suffix(height), above > 0 ? "PageUp" : hidden > 0 ? "PageDown" : nil)
  }

  /// Scrolls back by some rows, or forward if the number is negative.
  mutating func goBack(_ count: Int, height: Int, _ layout: Layout) {
    let most = max(0, rows(layout).count - height)
    hidden = max(0, min(min(hidden, most) + count, most))
  }

  // MARK: Choosing

  var canChoose: Bool { chosen != nil }

  /// The number of the chosen message; nil if none is chosen.
  var number: Int? { chosen.flatMap { numbers[$0] } }

  /// Chooses another line, and scrolls until it is on the screen.
  mutating func choose(_ step: Int, height: Int, _ layout: Layout) {
    guard let old = chosen else { return }
    let index = min(max(0, old + step), lines.count - 1)
    chosen = index
    let below = lines.indices.dropFirst(index + 1).map { rows($0, layout).count }.reduce(0, +)
    let above = below + rows(index, layout).count - height
    hidden = max(0, min(max(hidden, above), below))
  }
}

extension ChatModel {
  /// Renews the list of pinned messages.
  ///
  /// - Parameter pins: the lines and the numbers, the newest pin first.
  mutating func update(pins: [(line: String, number: Int?)]) {
    if pins.isEmpty {
      panel = nil
      return say("nothing is pinned here now")
    }
    panel = Panel(pins: pins, choosing: panel?.number)
    let height = height
    panel?.choose(0, height: height, layout)
    say(Panel.notice(pins: pins.count))
  }

  /// Applies a key to the hits of a search.
  ///
  /// - Returns: nil if the key does something else; otherwise the number of the message to show, or nil if there is none.
  mutating func choose(_ key: Key) -> Int?? {
    guard composition.line.isEmpty, let panel, panel.canChoose else { return nil }
    let height = height
    switch key {
    case .up, .previous: self.panel?.choose(-1, height: height, layout)
    case .down, .next: self.panel?.choose(1, height: height, layout)
    case .enter: return .some(panel.number)
    default: return nil
    }
    return .some(nil)
  }
}
