internal import DMSystem

/// The data from the header of a video or of a sound.
struct MovieHeader: Equatable {
  /// In pixels, as displayed; the same is true of `height`.
  var width: Int?
  var height: Int?
  var duration: Duration?
  var hasVideo: Bool

  /// Reads MP4, MOV, M4A and WAV.
  ///
  /// - Returns: nil for other formats, or if the header cannot be read.
  static func read(_ bytes: CheckedBytes, as format: MediaFormat) -> MovieHeader? {
    do {
      return switch format {
      case .mp4, .quickTime, .m4a: try movie(bytes)
      case .wav: try wave(bytes)
      default: nil
      }
    } catch {
      return nil
    }
  }

  private static func movie(_ bytes: CheckedBytes) throws -> MovieHeader {
    let movie = try Boxes.content(of: "moov", in: ByteReader(bytes))
    var header = MovieHeader(duration: try duration(try Boxes.content(of: "mvhd", in: movie)), hasVideo: false)
    for track in Boxes(movie) where track.name == "trak" {
      guard try isVideo(track.content), !header.hasVideo else { continue }
      header.hasVideo = true
      let size = try displayedSize(try Boxes.content(of: "tkhd", in: track.content))
      if let size, size.width > 0, size.height > 0 { (header.width, header.height) = size }
    }
    return header
  }

  /// The duration in the header of a movie (ISO/IEC 14496-12, section 8.2.2).
  private static func duration(_ header: ByteReader) throws -> Duration? {
    var header = header
    let size = try header.number(1) == 1 ? 8 : 4
    try header.skip(3 + 2 * size)
    let scale = try header.number(4)
    // The length has only ones if the duration is unknown, and is 0 if the fragments contain the duration.
    let length = try header.number(size)
    return length == 0 || size == 4 && length == Int(UInt32.max) ? nil : seconds(length, per: scale)
  }

  /// The duration of `count` units, at `scale` units per second; nil for 68 years and more.
  private static func seconds(_ count: Int, per scale: Int) -> Duration? {
    guard scale > 0, count / scale < Int32.max else { return nil }
    return .seconds(count / scale) + .nanoseconds(count % scale * 1_000_000_000 / scale)
  }

  /// Whether a track is video (ISO/IEC 14496-12, section 8.4.3).
  private static func isVideo(_ track: ByteReader) throws -> Bool {
    var handler = try Boxes.content(of: "hdlr", in: try Boxes.content(of: "mdia", in: track))
    try handler.skip(8)
    return handler.has("vide")
  }

  /// The size of a track after the rotation by its matrix (ISO/IEC 14496-12, section 8.3.2).
  private static func displayedSize(_ header: ByteReader) throws -> (width: Int, height: Int)? {
    var header = header
    let isLong = try header.number(1) == 1
    // Skips all times, the layer, the group and the volume.
    try header.skip(3 + (isLong ? 32 : 20) + 16)
    var matrix = try header.part(36)
    let isUpright = try matrix.number(4) != 0
    let (width, height) = (try header.number(4) >> 16, try header.number(4) >> 16)
    return isUpright ? (width, height) : (height, width)
  }

  /// The duration of a WAV file (Multimedia Programming Interface and Data Specifications 1.0, page 56).
  private static func wave(_ bytes: CheckedBytes) throws -> MovieHeader? {
    var file = ByteReader(bytes, isLittleEndian: true)
    try file.skip(12)
    var rate: Int?
    for var chunk in RIFFChunks(file) {
      if chunk.name == "fmt " {
        try chunk.content.skip(8)
        rate = try chunk.content.number(4)
      }
      // In a file that is still being written, the size of this chunk may be the maximum; the content then ends with
      // the file.
      if chunk.name == "data", let rate {
        return MovieHeader(duration: seconds(chunk.content.rest.count, per: rate), hasVideo: false)
      }
    }
    return nil
  }
}
