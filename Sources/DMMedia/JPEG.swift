internal import DMSystem

/// The segments of JPEG (ITU-T T.81, annex B).
enum JPEG {
  /// A marker with its content.
  struct Segment {
    let marker: UInt8
    /// The range of the whole segment; a scan includes its entropy-coded data.
    let range: Range<Int>
    let content: ByteReader

    /// Whether this is a frame header: SOF0 to SOF15, except DHT, JPG and DAC, whose markers are in the same range
    /// (table B.1).
    var isFrame: Bool { 0xC0...0xCF ~= marker && ![0xC4, 0xC8, 0xCC].contains(marker) }
    /// Whether the image needs this segment: frames, tables, scans, SOI, EOI, DNL, DRI, DHP and EXP (table B.1).
    var isNeeded: Bool { 0xC0...0xCF ~= marker && marker != 0xC8 || 0xD8...0xDF ~= marker }
  }

  /// The complete segments, without the fill bytes and other data before each segment.
  struct Segments: Sequence, IteratorProtocol {
    private var reader: ByteReader
    /// The position before the fill bytes of the marker that was read most recently.
    private var fill: ByteReader

    init(_ bytes: CheckedBytes) {
      reader = ByteReader(bytes)
      fill = reader
    }

    mutating func next() -> Segment? {
      guard let marker = nextMarker() else { return nil }
      let start = reader.offset - 2
      do {
        // TEM, RSTm, SOI and EOI have no content.
        let isAlone = marker == 0x01 || 0xD0...0xD9 ~= marker
        let content = try reader.part(isAlone ? 0 : try reader.number(2) - 2)
        if marker == JPEG.scan { skipScan() }
        return Segment(marker: marker, range: start..<reader.offset, content: content)
      } catch {
        return nil
      }
    }

    /// Skips beyond the next marker: the byte after 0xFF that is neither 0 nor 0xFF (section B.1.1.2).
    private mutating func nextMarker() -> UInt8? {
      while reader.seek(0xFF) {
        fill = reader
        while reader.next == 0xFF { _ = reader.part(upTo: 1) }
        guard let marker = reader.next else {
          reader = fill
          return nil
        }
        _ = reader.part(upTo: 1)
        if marker != 0 { return marker }
      }
      return nil
    }

    /// Skips to the fill bytes of the next marker other than RSTm, or to the end.
    private mutating func skipScan() {
      while let marker = nextMarker() {
        if 0xD0...0xD7 ~= marker { continue }
        reader = fill
        return
      }
    }
  }

  static func header(of bytes: CheckedBytes) -> ImageHeader? {
    var header: ImageHeader?
    var orientation: Int?
    var hasProfile = false
    guard bytes.starts(with: [0xFF, start]) else { return nil }
    for segment in Segments(bytes) {
      if segment.marker == scan || segment.marker == end { break }
      if segment.isFrame, header == nil { header = frame(segment.content) }
      hasProfile = hasProfile || isProfile(segment)
      if segment.marker == exif, segment.content.has("Exif\0\0"), orientation == nil {
        orientation = Exif.orientation(in: segment.content)
      }
    }
    header?.orientation = orientation ?? 1
    header?.hasProfile = hasProfile
    return header
  }

  static func cut(_ bytes: CheckedBytes, orientation: Int?, checks: Bool) -> StrippedImage {
    var cut = StrippedImage()
    var scans = JPEGScans()
    var orientation = orientation
    var isEnded = false
    for segment in Segments(bytes) {
      guard let piece = kept(segment) else { continue }
      if checks { scans.add(segment, of: bytes) }
      if let turned = orientation, segment.marker != start, segment.marker != jfif {
        let block = Array("Exif\0\0".utf8) + Exif.block(orientation: turned)
        cut.add(.bytes(self.segment(exif, block)))
        orientation = nil
      }
      cut.add(piece)
      isEnded = segment.marker == end
      if isEnded { break }
    }
    if !isEnded { cut.add(.bytes([0xFF, end])) }
    if checks, !isEnded || !scans.areWhole { cut.doubt() }
    return cut
  }

  static let scan: UInt8 = 0xDA
  private static let start: UInt8 = 0xD8
  private static let end: UInt8 = 0xD9
  private static let jfif: UInt8 = 0xE0
  private static let exif: UInt8 = 0xE1
  private static let profile: UInt8 = 0xE2
  private static let adobe: UInt8 = 0xEE

  private static func frame(_ content: ByteReader) -> ImageHeader? {
    do {
      var content = content
      try content.skip(1)
      let height = try content.number(2)
      let width = try content.number(2)
      return ImageHeader(width: width, height: height, isCMYK: try content.number(1) == 4)
    } catch {
      return nil
    }
  }

  private static func isProfile(_ segment: Segment) -> Bool {
    segment.marker == profile && segment.content.has("ICC_PROFILE\0")
  }

  /// The part of a segment that is kept; of the application segments, only the three that affect colors are kept.
  private static func kept(_ segment: Segment) -> StrippedImage.Piece? {
    let content = segment.content
    switch segment.marker {
    // Keeps everything before the thumbnail, and writes 0 as the thumbnail's size (ITU-T T.871, section 10.1).
    case jfif where content.has("JFIF\0") && content.rest.count >= 14:
      return content.rest.count == 14
        ? .range(segment.range) : .bytes(self.segment(jfif, content.prefix(12) + [0, 0]))
    // The Adobe segment says how the components become colors (ITU-T T.872, section 6.5.3).
    case adobe where content.has("Adobe") && content.rest.count >= 12:
      return content.rest.count == 12 ? .range(segment.range) : .bytes(self.segment(adobe, content.prefix(12)))
    case _ where isProfile(segment): return .range(segment.range)
    default: return segment.isNeeded ? .range(segment.range) : nil
    }
  }

  private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0xFF, marker, UInt8((content.count + 2) >> 8 & 0xFF), UInt8((content.count + 2) & 0xFF)] + content
  }
}
