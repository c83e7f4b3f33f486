internal import DMModel
internal import DMSystem
internal import Glibc

/// What of an image is kept: parts of it as they are, and bytes between them.
struct ImageCut {
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
  /// Whether all that is kept is part of the image: its compressed data ends where its chunk, segment or block does.
  private(set) var isUnderstood = true

  /// More pieces than any honest file has, and few enough to be held in memory.
  static let limit = 1 << 16

  /// The parts of a JPEG, PNG, WebP or GIF without metadata but the colour profile.
  ///
  /// What is behind the end of the image is not kept either. What is cut short stays cut short. A file that is clean is
  /// one piece, all of it.
  /// - Parameter checks: whether compressed data is looked through for what does not belong to it.
  /// - Returns: nil when the format has no such editing, the file cannot be read, or it has more than `limit` pieces.
  static func of(
    _ bytes: UnsafeRawBufferPointer, as format: MediaFormat, keepsOrientation: Bool, checks: Bool = true
  ) -> ImageCut? {
    guard let header = ImageHeader.read(bytes, as: format) else { return nil }
    let orientation = keepsOrientation && header.orientation != 1 ? header.orientation : nil
    do {
      let cut: ImageCut? =
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

  /// Writes a new file.
  static func write(_ pieces: [Piece], of file: borrowing MappedFile, to path: String) throws(DMError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw fileFault(.inputOutput, "create", path) }
    defer { close(descriptor) }
    for piece in pieces {
      switch piece {
      case .bytes(let bytes):
        try bytes.withUnsafeBufferPointer { (bytes) throws(DMError) in
          try writeAll(UnsafeRawBufferPointer(bytes), to: descriptor, path)
        }
      case .range(let range):
        try writeAll(UnsafeRawBufferPointer(rebasing: file.bytes[range]), to: descriptor, path)
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

  /// Keeps a part as it is where it is already what it has to be.
  mutating func keep(_ range: Range<Int>, of bytes: UnsafeRawBufferPointer, as wanted: [UInt8]) {
    if bytes[range].elementsEqual(wanted) { keep(range) } else { add(.bytes(wanted)) }
  }

  mutating func doubt() { isUnderstood = false }

  /// Adds what RIFF has behind an odd number of bytes.
  mutating func makeEven() {
    if count % 2 != 0 { add(.bytes([0])) }
  }

  /// One more than the limit says that there are too many.
  private mutating func append(_ piece: Piece) {
    if pieces.count <= Self.limit { pieces.append(piece) }
  }
}
