internal import DMSystem

/// Programs that convert pictures for a terminal: chafa(1) makes sixels, and vips(1) PNG files for kitty.
///
/// The pictures are from other users, so the programs run with limits, as those that prepare attachments do.
extension PictureProtocol {
  /// The media types of thumbnails, which the programs read.
  private static let readable = ["image/png", "image/jpeg", "image/webp"]

  private var converter: String? {
    switch self {
    case .kitty: "vips"
    case .sixel: "chafa"
    case .iterm2: nil
    }
  }

  /// Whether the program that converts pictures for this terminal is installed.
  package var converts: Bool { converter.map { Self.tool($0) {}.find() != nil } ?? false }

  /// Whether the terminal shows a file of this media type.
  ///
  /// - Parameter converting: whether the file may be converted.
  package func shows(_ mimeType: String, converting: Bool) -> Bool {
    shows(mimeType) || converting && Self.readable.contains(mimeType)
  }

  private static func tool(_ name: String, _ progress: @escaping () throws -> Void) -> Tool {
    Tool(
      name: name, folder: "/", searchPath: Tool.environmentPath,
      limits: Tool.Limits(seconds: 20, processorSeconds: 20, output: 8 << 20),
      environment: ["VIPS_CONCURRENCY": "2", "VIPS_BLOCK_UNTRUSTED": "1", "VIPS_WARNING": "0"], onTick: progress)
  }

  /// The output of the converter; nil if it fails.
  private func converted(
    _ file: [UInt8], _ arguments: [String], _ progress: @escaping () throws -> Void
  ) throws -> [UInt8]? {
    guard let converter, case .ok(let output) = try Self.tool(converter, progress).run(arguments, input: file) else {
      return nil
    }
    return output
  }

  /// The picture of a file in some columns and rows; nil if it cannot be converted.
  ///
  /// - Parameters:
  ///   - size: the width and the height of the picture in pixels.
  ///   - columns: the maximum number of columns that the picture may take.
  ///   - rows: the maximum number of rows that the picture may take.
  ///   - progress: called often while the file is converted; an error that it throws ends the conversion.
  package func picture(
    _ file: [UInt8], _ mimeType: String, size: (width: Int, height: Int), columns: Int, rows: Int,
    progress: @escaping () throws -> Void
  ) throws -> TerminalPicture? {
    let cells = TerminalPicture.cells(size.width, size.height, columns: columns, rows: rows)
    if self == .sixel { return try sixels(file, cells, progress) }
    var shown = file
    if !shows(mimeType) {
      guard let png = try converted(file, ["copy", "stdin", ".png"], progress) else { return nil }
      shown = png
    }
    return TerminalPicture(shown, cells, by: self)
  }

  /// chafa(1) assumes cells of a size that depends on its version, so that a second run corrects the size.
  private func sixels(
    _ file: [UInt8], _ cells: (columns: Int, rows: Int), _ progress: @escaping () throws -> Void
  ) throws -> TerminalPicture? {
    let cell = terminalCell ?? TerminalPicture.cell
    var (columns, rows) = (Double(cells.columns), Double(cells.rows))
    for run in 0..<3 {
      let size = "\(max(1, Int(columns)))x\(max(1, Int(rows)))"
      let arguments = ["--format", "sixels", "--animate", "off", "--size", size, "-"]
      guard let output = try converted(file, arguments, progress), let sixels = Sixels(output) else { return nil }
      let across = Double(cells.columns * cell.width) / Double(sixels.width)
      let ratio = min(across, Double(cells.rows * cell.height) / Double(sixels.height))
      if run == 2 || ratio >= 1 && ratio < 1.3 {
        return TerminalPicture(sixels: sixels.bytes, rows: (sixels.height + cell.height - 1) / cell.height)
      }
      (columns, rows) = (columns * ratio, rows * ratio)
    }
    return nil
  }
}

/// The sequence with a picture in the output of a program.
struct Sixels {
  let bytes: [UInt8]
  /// The size of the picture in pixels.
  let width: Int
  let height: Int

  /// Nil if there is no sequence, if it has characters that could end it, or if it does not have the size: DECGRA
  /// (VT330/VT340 Programmer Reference Manual, section 14.3).
  init?(_ output: [UInt8]) {
    let (start, end) = (Array("\u{1B}P".utf8), Array("\u{1B}\\".utf8))
    guard let first = output.firstIndex(of: 0x1B) else { return nil }
    var rest = output[first...]
    // Sequences before the picture, such as one that hides the cursor, are left out.
    while !rest.starts(with: start) {
      guard let next = rest.dropFirst().firstIndex(of: 0x1B) else { return nil }
      rest = output[next...]
    }
    guard let close = rest.dropFirst().firstIndex(of: 0x1B), rest[close...].starts(with: end) else { return nil }
    let body = rest[..<close].dropFirst(2)
    guard body.allSatisfy({ 0x20...0x7E ~= $0 }), let mark = body.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
    let numbers = body[(mark + 1)...].prefix { 0x30...0x3B ~= $0 }.split(separator: UInt8(ascii: ";")).map {
      Int(String(decoding: $0, as: UTF8.self)) ?? 0
    }
    guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0 else { return nil }
    (bytes, width, height) = (Array(rest[..<(close + 2)]), numbers[2], numbers[3])
  }
}
