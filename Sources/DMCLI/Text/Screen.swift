internal import DMKit
internal import DMModel
internal import DMSystem

/// How text is printed on standard output: its width and its colors.
package struct Screen {
  /// When text is colored.
  package enum Colors: String, CaseIterable { case auto, always, never }

  /// Which colors are used: the setting `theme`.
  ///
  /// `terminal` uses the terminal's own colors, which are readable on its background.
  private enum Theme: String { case terminal, light, dark, mono }

  /// Whether text is plain: without colors and columns, and never redrawn.
  ///
  /// Long lines are still wrapped.
  package let isPlain: Bool
  private let isTerminal: Bool
  /// Whether names of files are printed as links to the files.
  package let hasLinks: Bool
  /// Whether lines that were printed can be replaced.
  package let canRenew: Bool
  /// Whether text has colors; if not, asterisks mark search hits.
  private let isColored: Bool
  /// The escape sequence for each mark; empty if the mark prints nothing.
  private let codes: [[UInt8]]
  /// $COLUMNS, which a shell or a script sets for its programs.
  private let givenColumns: Int?
  /// The size that `fixed` has set; nil to ask the terminal each time.
  private var size: (columns: Int, rows: Int)?

  /// - Parameter colors: nil or `auto` to use the environment: NO_COLOR (no-color.org), CLICOLOR_FORCE
  ///   (bixense.com/clicolors) and TERM; nil also to use the configuration file.
  init(_ colors: Colors?, isPlain: Bool, _ settings: Settings = Settings()) throws {
    self.isPlain = isPlain
    isTerminal = DMCLI.isTerminal(.output)
    canRenew = try isTerminal && !isPlain && environment("TERM") != "dumb"
    givenColumns = try environment("COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    let name = try settings[.theme]
    var wanted = colors ?? .auto
    if wanted == .auto, let given = try settings.given(.color, usesFile: colors == nil)?.value {
      wanted = Colors(rawValue: given) ?? .auto
    }
    let wantsColors =
      switch wanted {
      case .always: true
      case .never: false
      case .auto: try isTerminal && environment("TERM") != "dumb"
      }
    let theme = wantsColors && !isPlain ? name.flatMap(Theme.init) ?? .terminal : nil
    isColored = theme != nil
    hasLinks = try theme != nil && isTerminal && environment("TERM") != "linux"
    codes = (0..<0x20).map { (mark: UInt8) in
      theme.flatMap { Self.code(mark, $0) }.map { Array("\u{1B}[\($0)m".utf8) } ?? []
    }
  }

  /// A copy with a fixed size: the given size, or else the current size.
  package func fixed(columns: Int? = nil, rows: Int? = nil) -> Screen {
    var screen = self
    screen.size = (columns ?? self.columns ?? 80, rows ?? self.rows ?? 24)
    return screen
  }

  /// The number of columns of a line; nil if output is not a terminal.
  package var columns: Int? {
    if let size { return size.columns }
    guard isTerminal else { return nil }
    return max(Self.leastColumns, givenColumns ?? terminalSize?.columns ?? 80)
  }

  /// The smallest width that is used: the width of a wide character.
  private static let leastColumns = 2

  /// How many lines the terminal shows; nil if output is not a terminal or is plain.
  package var rows: Int? { size?.rows ?? (isTerminal && !isPlain ? terminalSize?.rows ?? 24 : nil) }

  /// Moves the cursor up by some lines and clears the screen from there: CUU and ED (ECMA-48, sections 8.3.22 and 8.3.39).
  static func erasing(_ count: Int) -> String { count > 0 ? "\u{1B}[\(count)A\u{1B}[J" : "" }

  /// Moves the cursor to the first line and clears the screen: CUP and ED (ECMA-48, sections 8.3.21 and 8.3.39).
  package static let clearing = "\u{1B}[H\u{1B}[J"

  /// The indent of all lines of a message except the first, and the smallest indent of a row that continues a line, so that
  /// no part of a text begins where lines begin.
  static let indent = 7

  /// A text as it is printed, with a line feed at its end.
  ///
  /// The text is wrapped for a terminal. Each `Mark` in it is replaced with an escape sequence, or is removed; without
  /// colors, the marks of search hits become asterisks.
  package func rendered(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count + 64)
    let text = isColored ? text : Mark.starred(text)
    guard let columns else {
      append(text, to: &result)
      return result
    }
    for line in Self.laidOut(text, columns).split(separator: "\n", omittingEmptySubsequences: false) {
      let spaces = line.prefix { $0 == " " }.count
      let indent = max(spaces, isPlain ? 2 : Self.indent)
      let lines = wrapped(line, width: columns, indent: indent)
      append(isolated(lines), to: &result)
    }
    return result
  }

  /// Fills lines with a rule, and begins the text of a message on a line of its own if the notes before it are long.
  private static func laidOut(_ text: String, _ columns: Int) -> String {
    guard text.utf8.contains(where: { 0x1A...0x1D ~= $0 }) else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      if let fill = line.utf8.firstIndex(where: Mark.isFill) {
        let rule = String(repeating: "─", count: max(0, columns - mostColumns(of: line)))
        return line[..<fill] + rule + line[fill...].dropFirst()
      }
      guard let notes = line.utf8.firstIndex(where: Mark.isNotes), let text = line.utf8.firstIndex(where: Mark.isText),
        notes < text, line.utf8[notes..<text].count > columns / 3,
        // Without the space before the notes and the colon after them.
        mostColumns(of: line[notes..<text]) - 2 > columns / 3
      else { return String(line) }
      return line[..<text] + "\n" + String(repeating: " ", count: indent) + line[text...].dropFirst(2)
    }.joined(separator: "\n")
  }

  /// A rendered text as rows of the screen; each row begins with the color codes that are in effect there.
  package func rows(of text: String) -> [[UInt8]] {
    let escape: UInt8 = 0x1B
    var colors: ArraySlice<UInt8> = []
    return rendered(text).dropLast().split(
      separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
    ).map { row in
      let begun = Array(colors) + row
      guard row.contains(escape) else { return begun }
      for part in row.split(separator: escape, omittingEmptySubsequences: false).dropFirst() {
        // The other sequences are those of links, which each row closes.
        guard part.first == UInt8(ascii: "[") else { continue }
        let code = part.prefix { $0 != UInt8(ascii: "m") } + [UInt8(ascii: "m")]
        colors = code.elementsEqual("[0m".utf8) ? [] : colors + [escape] + code
      }
      return begun
    }
  }

  /// Isolates the texts that `Mark.body` has marked, so that their right-to-left words do not reorder the text around them
  /// (UAX #9).
  private func isolated(_ text: String) -> String {
    guard Mark.hasBody(text) else { return text }
    return text.replacing(text: Mark.bodyStart, with: "\u{2068}").replacing(text: Mark.bodyEnd, with: "\u{2069}")
  }

  /// Links are printed with OSC 8 (gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda).
  ///
  /// A link that is wrapped is closed at the end of each row and opened again after the indent of the next one.
  private func append(_ text: String, to result: inout [UInt8]) {
    var text = text
    // The sequence that opens the link in which the text is; empty outside a link.
    var opening: [UInt8] = []
    text.withUTF8 { bytes in
      var start = 0
      func take(to end: Int) {
        result.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[start..<end]))
        start = end
      }
      for index in bytes.indices where index >= start {
        if bytes[index] == UInt8(ascii: "\n"), !opening.isEmpty {
          take(to: index)
          result += Self.linkEnd
          take(to: bytes[index...].dropFirst().firstIndex { $0 != UInt8(ascii: " ") } ?? bytes.count)
          result += opening
        }
        guard Mark.isMark(bytes[index]) else { continue }
        take(to: index)
        result.append(contentsOf: codes[Int(bytes[index])])
        start = index + 1
        guard bytes[index] == Mark.linkStart || bytes[index] == Mark.linkEnd else { continue }
        let (address, count) = Mark.address(in: bytes[start...])
        start += count
        guard hasLinks else { continue }
        opening = address.isEmpty ? [] : Array("\u{1B}]8;;".utf8) + address + Array("\u{1B}\\".utf8)
        result += address.isEmpty ? Self.linkEnd : opening
      }
      take(to: bytes.count)
    }
    result.append(UInt8(ascii: "\n"))
  }

  private static let linkEnd = Array("\u{1B}]8;;\u{1B}\\".utf8)

  /// The SGR parameters (ECMA-48, section 8.3.117) for a mark; nil if it prints nothing.
  private static func code(_ mark: UInt8, _ theme: Theme) -> String? {
    if 2...5 ~= mark || 0x1A...0x1D ~= mark { return nil }
    if Mark.isMention(mark) { return "1;7" }
    if let color = Mark.color(mark) {
      return switch theme {
      case .mono: "1"
      case .terminal: "\(own[color])"
      case .dark: "38;5;\(dark[color])"
      case .light: "38;5;\(light[color])"
      }
    }
    switch "\(Unicode.Scalar(mark))" {
    case Mark.strong: return "1"
    case Mark.faint: return "2"
    case Mark.hitStart: return "7"
    case Mark.hitEnd: return "27"
    case Mark.alert: return theme == .mono ? "1" : "1;31"
    default: return "0"
    }
  }

  /// Six of the basic colors, which users can set in their terminal.
  private static let own = [36, 32, 33, 35, 34, 31]
  /// Six distinct colors of xterm's 256, for dark and for light backgrounds.
  static let dark = [81, 114, 215, 177, 186, 211]
  static let light = [25, 28, 130, 90, 30, 125]
}
