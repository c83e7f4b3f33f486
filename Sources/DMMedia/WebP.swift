internal import DMSystem

/// WebP (RFC 9649).
enum WebP {
  private static func chunks(of bytes: CheckedBytes) throws -> RIFFChunks {
    var file = ByteReader(bytes, isLittleEndian: true)
    guard file.has("RIFF") else { throw ByteReader.OutOfBytes() }
    try file.skip(4)
    var content = file.part(upTo: try file.number(4))
    guard try content.name() == "WEBP" else { throw ByteReader.OutOfBytes() }
    return RIFFChunks(content)
  }

  /// The flags of VP8X, which announce other chunks (section 2.7.1).
  private enum Flag {
    static let profile = 0x20
    static let alpha = 0x10
    static let exif = 0x08
    static let xmp = 0x04
  }

  static func header(of bytes: CheckedBytes) throws -> ImageHeader? {
    var header: ImageHeader?
    var flags: Int?
    var frameCount = 0
    for var chunk in try chunks(of: bytes) {
      switch chunk.name {
      case "VP8X" where header == nil:
        flags = try chunk.content.number(1)
        header = try canvas(chunk.content)
        header?.hasAlpha = flags.map { $0 & Flag.alpha != 0 } ?? false
      case "VP8 " where header == nil: header = try lossy(chunk.content)
      case "VP8L" where header == nil: header = try lossless(chunk.content)
      case "ICCP": header?.hasProfile = true
      case "ANMF": frameCount += 1
      // Programs read Exif only if VP8X announces it.
      case "EXIF" where flags.map { $0 & Flag.exif != 0 } == true:
        header?.orientation = Exif.orientation(in: chunk.content) ?? 1
      default: break
      }
    }
    header?.frameCount = max(1, frameCount)
    return header
  }

  /// Whether the file has one image that is not in an animation, with the size that the header of the file has.
  static func hasOneImage(_ bytes: CheckedBytes, of header: ImageHeader) -> Bool {
    let images = Result {
      try chunks(of: bytes).compactMap { chunk -> ImageHeader? in
        switch chunk.name {
        case "VP8 ": try lossy(chunk.content)
        case "VP8L": try lossless(chunk.content)
        case "ANMF": throw ByteReader.OutOfBytes()
        default: nil
        }
      }
    }
    guard case .success(let found) = images, found.count == 1 else { return false }
    return (found[0].width, found[0].height) == (header.width, header.height)
  }

  private static func canvas(_ content: ByteReader) throws -> ImageHeader {
    var content = content
    try content.skip(3)
    return ImageHeader(width: try content.number(3) + 1, height: try content.number(3) + 1)
  }

  /// The header of a key frame; each side in the header has two more bits, for scaling (RFC 6386, section 9.1).
  private static func lossy(_ content: ByteReader) throws -> ImageHeader? {
    var content = content
    try content.skip(3)
    guard try content.number(3) == 0x2A_019D else { return nil }
    return ImageHeader(width: try content.number(2) & 0x3FFF, height: try content.number(2) & 0x3FFF)
  }

  /// The header of a lossless image (section 3.4).
  private static func lossless(_ content: ByteReader) throws -> ImageHeader? {
    var content = content
    guard try content.number(1) == 0x2F else { return nil }
    let bits = try content.number(4)
    return ImageHeader(
      width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1, hasAlpha: bits >> 28 & 1 != 0)
  }

  static func cut(_ bytes: CheckedBytes, orientation: Int?) throws -> StrippedImage {
    var body = StrippedImage()
    // The announced chunks that were not found yet: a missing chunk may be inside another chunk that has a wrong size.
    var missing: [String: Int] = [:]
    for chunk in try chunks(of: bytes) {
      if !chunk.isWhole { body.doubt() }
      missing[chunk.name] = nil
      switch chunk.name {
      case "VP8X":
        let flags = chunk.content.next.map(Int.init) ?? 0
        missing = ["ICCP": Flag.profile, "EXIF": Flag.exif, "XMP ": Flag.xmp].filter { flags & $0.value != 0 }
        extend(chunk, isTurned: orientation != nil, &body)
      case "ANMF": try appendFrame(chunk.content, to: &body, of: bytes)
      case "VP8 ", "VP8L", "ALPH", "ANIM", "ICCP": body.keep(chunk.range)
      default: break
      }
    }
    if let orientation {
      body.makeEven()
      let block = Exif.block(orientation: orientation)
      body.add(.bytes(head("EXIF", block.count) + block))
    }
    var cut = StrippedImage()
    if !body.isFullyParsed || !missing.isEmpty { cut.doubt() }
    try append("RIFF", 8..<12, body, to: &cut, of: bytes)
    return cut
  }

  /// Appends a frame of an animation with only its alpha and image chunks (section 2.7.1.1).
  private static func appendFrame(
    _ content: ByteReader, to cut: inout StrippedImage, of bytes: CheckedBytes
  ) throws {
    var content = content
    let start = try content.part(16).rest
    var parts = StrippedImage()
    for part in RIFFChunks(content) where ["ALPH", "VP8 ", "VP8L"].contains(part.name) {
      if !part.isWhole { cut.doubt() }
      parts.keep(part.range)
    }
    try append("ANMF", start, parts, to: &cut, of: bytes)
  }

  /// Appends a chunk with a new size: its content is the start of the old content, followed by `parts`.
  private static func append(
    _ name: String, _ start: Range<Int>, _ parts: StrippedImage, to cut: inout StrippedImage,
    of bytes: CheckedBytes
  ) throws {
    var parts = parts
    parts.makeEven()
    let count = start.count + parts.count
    var size = ByteReader(bytes, isLittleEndian: true)
    try size.skip(start.lowerBound - 4)
    if try size.number(4) == count {
      cut.keep(start.lowerBound - 8..<start.upperBound)
    } else {
      cut.add(.bytes(head(name, count)))
      cut.keep(start)
    }
    for piece in parts.pieces { cut.add(piece) }
  }

  /// Appends VP8X with the flags of the chunks that are kept.
  private static func extend(_ chunk: RIFFChunks.Chunk, isTurned: Bool, _ cut: inout StrippedImage) {
    guard let old = chunk.content.next.map(Int.init) else { return }
    let new = old & ~(Flag.exif | Flag.xmp) | (isTurned ? Flag.exif : 0)
    let start = chunk.range.lowerBound
    guard new != old else { return cut.keep(chunk.range) }
    cut.keep(start..<start + 8)
    cut.add(.bytes([UInt8(truncatingIfNeeded: new)]))
    cut.keep(start + 9..<chunk.range.upperBound)
  }

  private static func head(_ name: String, _ count: Int) -> [UInt8] {
    Array(name.utf8) + withUnsafeBytes(of: UInt32(truncatingIfNeeded: count).littleEndian) { Array($0) }
  }
}
