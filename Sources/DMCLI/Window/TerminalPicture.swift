internal import DMJSON
package import DMKit
internal import DMSystem

/// A protocol with which a terminal shows pictures.
package enum PictureProtocol: String, CaseIterable, Sendable {
  /// The graphics protocol of kitty, which takes PNG files (sw.kovidgoyal.net/kitty/graphics-protocol).
  case kitty
  /// The inline images of iTerm2, which may be of any format (iterm2.com/documentation-images.html).
  case iterm2
  /// The pictures of VT340 and of many terminals, which chafa(1) makes.
  case sixel

  /// The protocol that the setting `pictures` names, or that of the terminal; nil if the terminal does not show pictures.
  ///
  /// - Parameter hasSixels: whether the terminal says that it shows sixels; called if neither the setting nor
  ///   the environment names a protocol.
  /// - Throws: `usage` if the setting has an unknown word.
  package static func ofTerminal(_ settings: Settings, hasSixels: () -> Bool = { false }) throws -> PictureProtocol? {
    let setting = try settings[.pictures]
    if let chosen = try chosen(setting, environment) { return chosen }
    return setting != "never" && Self.sixel.converts && hasSixels() ? .sixel : nil
  }

  /// - Parameters:
  ///   - setting: the value of the setting; nil if it has none.
  ///   - variable: returns the value of a variable of the environment.
  static func chosen(_ setting: String?, _ variable: (String) throws -> String?) throws -> PictureProtocol? {
    if let setting, setting != "auto" { return Self(rawValue: setting) }
    // A multiplexer does not pass the sequences on. It hides the terminal in TERM, but not in the other variables.
    if try variable("TMUX") != nil || variable("STY") != nil { return nil }
    switch try variable("TERM") ?? "" {
    case "xterm-kitty", "xterm-ghostty": return .kitty
    case "xterm-256color": break
    default: return nil
    }
    // A terminal that was started from another one inherits the variables of the other one.
    let others = ["VTE_VERSION", "XTERM_VERSION", "KONSOLE_VERSION"]
    if try others.contains(where: { try variable($0) != nil }) { return nil }
    let program = try variable("TERM_PROGRAM")
    return try program == "iTerm.app" || program == "WezTerm" || variable("LC_TERMINAL") == "iTerm2" ? .iterm2 : nil
  }

  /// Whether the terminal shows a file of this media type as it is.
  func shows(_ mimeType: String) -> Bool {
    switch self {
    case .kitty: mimeType == "image/png"
    case .iterm2: ["image/png", "image/jpeg", "image/webp"].contains(mimeType)
    case .sixel: false
    }
  }
}

/// A picture, as the bytes that show it in a terminal.
package struct TerminalPicture: Equatable, Sendable {
  /// The maximum size of a file in bytes.
  package static let sizeLimit = 1 << 20

  /// The bytes that show the picture at the cursor; the file in them is in base64, so that it cannot end the sequence.
  package let bytes: [UInt8]
  /// The bytes that remove the picture; empty if clearing the screen removes it.
  let removal: [UInt8]
  /// The number of rows of the screen that the picture takes.
  package let rows: Int

  /// The size of a cell of the screen in pixels, as in most fonts.
  static let cell = (width: 8, height: 16)

  /// How many columns and rows a picture takes.
  ///
  /// - Parameters:
  ///   - width: the width of the picture in pixels.
  ///   - height: the height of the picture in pixels.
  ///   - columns: the maximum number of columns that the picture may take.
  ///   - rows: the maximum number of rows that the picture may take.
  static func cells(_ width: Int, _ height: Int, columns: Int, rows: Int) -> (columns: Int, rows: Int) {
    func cells(_ pixels: Int, _ size: Int, _ most: Int) -> Int { min(max(1, (pixels + size - 1) / size), max(1, most)) }
    var across = cells(width, Self.cell.width, columns)
    var down = cells(across * Self.cell.width * height / max(1, width), Self.cell.height, .max)
    if down > max(1, rows) {
      down = max(1, rows)
      across = cells(down * Self.cell.height * width / max(1, height), Self.cell.width, columns)
    }
    return (across, down)
  }

  /// A file that the terminal shows as it is.
  init(_ file: [UInt8], _ cells: (columns: Int, rows: Int), by kind: PictureProtocol) {
    rows = cells.rows
    let text = Array(file.withUnsafeBytes(base64).utf8)
    if kind == .kitty {
      bytes = Self.kitty(text, cells.columns, cells.rows)
      removal = Array("\u{1B}_Ga=d,d=A,q=2\u{1B}\\".utf8)
    } else {
      let head = "\u{1B}]1337;File=inline=1;size=\(file.count);width=\(cells.columns);height=\(cells.rows):"
      bytes = Array(head.utf8) + text + [0x07]
      removal = []
    }
  }

  /// A picture of sixels.
  init(sixels: [UInt8], rows: Int) { (bytes, removal, self.rows) = (sixels, [], rows) }

  /// The maximum number of bytes of base64 in one sequence of kitty.
  private static let part = 4096

  /// `f=100` is PNG, `C=1` leaves the cursor where it is, and with `q=2` the terminal does not answer.
  private static func kitty(_ text: [UInt8], _ columns: Int, _ rows: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: text.count, by: part) {
      let keys = start == 0 ? "a=T,f=100,c=\(columns),r=\(rows),C=1,q=2," : ""
      let isLast = start + part >= text.count
      bytes += Array("\u{1B}_G\(keys)m=\(isLast ? 0 : 1);".utf8) + text[start...].prefix(part) + Array("\u{1B}\\".utf8)
    }
    return bytes
  }
}
