internal import DMModel
internal import DMSystem

/// The parts of an image that are kept: ranges of the file, and new bytes between them.
struct StrippedImage {
  enum Piece: Equatable {
    case bytes([UInt8])
    case range(Range<Int>)

    var count: Int {
      switch self {
      case .bytes(let bytes): bytes.count
      case .range(let range): range.count
      }
    }
  }

  private(set) var pieces: [Piece] = []
  /// Whether all kept data belongs to the image: its compressed data ends where its chunk, segment or block ends.
  private(set) var isFullyParsed = true

  /// The maximum number of pieces: more than a normal file has, and few enough to be kept in memory.
  static let limit = 1 << 16

  /// The parts to keep of a JPEG, PNG, WebP or GIF: the image and its color profile, without other metadata.
  ///
  /// Data after the end of the image is removed, too. A truncated file stays truncated. A file without metadata becomes
  /// one piece, which is the whole file.
  /// - Parameter checks: whether to search compressed data for data that does not belong to it.
  /// - Returns: nil if the format is not one of these, the file cannot be read, or there would be more than `limit`
  ///   pieces.
  static func of(
    _ bytes: CheckedBytes, as format: MediaFormat, keepsOrientation: Bool, checks: Bool = true
  ) -> StrippedImage? {
    guard let header = ImageHeader.read(bytes, as: format) else { return nil }
    let orientation = keepsOrientation && header.orientation != 1 ? header.orientation : nil
    do {
      let cut: StrippedImage? =
        switch format {
        case .jpeg: JPEG.cut(bytes, orientation: orientation, checks: checks)
        case .png: try PNG.cut(bytes, orientation: orientation, checks: checks)
        case .gif: try GIF.cut(bytes, checks: checks)
        case .webp: try WebP.cut(bytes, orientation: orientation)
        default: nil
        }
      guard let cut, cut.pieces.count <= limit else { return nil }
      return cut
    } catch {
      return nil
    }
  }

  /// Writes the pieces to a new file.
  static func write(_ pieces: [Piece], of file: borrowing MappedFile, to path: String) throws(DMError) {
    let target = try OpenFile(path, for: .creating) { fileError(.inputOutput, "create", path, $0) }
    for piece in pieces {
      switch piece {
      case .bytes(let bytes): try target.write(bytes)
      case .range(let range): try target.write(file.bytes.buffer(of: range))
      }
    }
  }

  var count: Int { pieces.reduce(0) { $0 + $1.count } }

  mutating func keep(_ range: Range<Int>) {
    if case .range(let last)? = pieces.last, last.upperBound == range.lowerBound {
      pieces[pieces.count - 1] = .range(last.lowerBound..<range.upperBound)
    } else if !range.isEmpty {
      append(.range(range))
    }
  }

  mutating func add(_ piece: Piece) {
    switch piece {
    case .bytes: append(piece)
    case .range(let range): keep(range)
    }
  }

  /// Keeps a range if its bytes are the wanted ones; otherwise adds the wanted bytes instead.
  mutating func keep(_ range: Range<Int>, of bytes: CheckedBytes, as wanted: [UInt8]) {
    if bytes[range].elementsEqual(wanted) { keep(range) } else { add(.bytes(wanted)) }
  }

  mutating func doubt() { isFullyParsed = false }

  /// Adds a padding byte if the number of bytes is odd, as RIFF requires.
  mutating func makeEven() {
    if count % 2 != 0 { add(.bytes([0])) }
  }

  /// Appends a piece, unless there are more than `limit` already; the one piece beyond the limit shows that there are
  /// too many.
  private mutating func append(_ piece: Piece) {
    if pieces.count <= Self.limit { pieces.append(piece) }
  }
}
