internal import DMModel
internal import DMSystem

/// Overwrites metadata in an MP4 or MOV with zeros, so that no other byte has to move.
///
/// Boxes that are not needed to play the file become free space (ISO/IEC 14496-12, section 8.1.2). Tracks other than
/// video and sound become free space, too, with their samples, because cameras record their position in such tracks.
enum MovieMetadataEraser {
  /// The names of the boxes that are kept, by the name of the box around them.
  ///
  /// In a box that is not listed here, all boxes are kept, except those of `metadata`.
  private static let kept: [String: Set<String>] = [
    "": ["ftyp", "styp", "moov", "mdat", "moof", "mfra", "sidx"], "moov": ["mvhd", "trak", "mvex"],
    "trak": ["tkhd", "edts", "tref", "mdia", "tapt"], "edts": ["elst"], "mvex": ["mehd", "trex"],
    "moof": ["mfhd", "traf"],
  ]
  private static let metadata: Set<String> = ["udta", "meta", "uuid"]
  private static let containers: Set<String> = [
    "moov", "trak", "edts", "mdia", "minf", "stbl", "mvex", "moof", "traf",
  ]
  private static let headers: Set<String> = ["mvhd", "tkhd", "mdhd"]
  /// Names of boxes that can be in a kept box only if the size of the kept box is wrong.
  private static let marks = ["udta", "meta", "ilst", "uuid", "loci"].map { Array($0.utf8) }

  /// A range that is overwritten with zeros.
  private struct Blank {
    /// The offset of the box's name, if the box becomes free space.
    var name: Int?
    let content: Range<Int>
  }

  /// Overwrites the metadata in a private copy of a file.
  ///
  /// - Returns: whether the format is supported and the whole file could be read.
  static func cut(_ path: String, as format: MediaFormat) throws -> Bool {
    guard [.mp4, .quickTime, .m4a].contains(format) else { return false }
    guard let (blanks, isFullyParsed) = try blanks(in: path) else { return false }
    let file = try OpenFile(path, for: .writing) { fileError(.inputOutput, "write", path, $0) }
    for blank in blanks {
      if let name = blank.name {
        file.seek(to: name)
        try file.write(Array("free".utf8))
      }
      file.seek(to: blank.content.lowerBound)
      var left = blank.content.count
      while left > 0 {
        let count = min(left, chunkBytes)
        try file.write([UInt8](repeating: 0, count: count))
        left -= count
      }
    }
    return isFullyParsed
  }

  /// The ranges to overwrite; nil if the file has no index (`moov`).
  private static func blanks(in path: String) throws -> (blanks: [Blank], isFullyParsed: Bool)? {
    let file = try MappedFile(path: path)
    let all = ByteReader(file.bytes)
    var blanks: [Blank] = []
    var open = [(name: "", content: all)]
    var (hasIndex, isFullyParsed) = (false, true)
    let isFragmented = Boxes(all).contains { $0.name == "moof" }
    while let (parent, content) = open.popLast() {
      var boxes = Boxes(content)
      while let box = boxes.next() {
        hasIndex = hasIndex || parent.isEmpty && box.name == "moov"
        isFullyParsed = isFullyParsed && box.isWhole
        if !isKept(box, in: parent) {
          blanks.append(Blank(name: box.start + 4, content: box.content.rest))
          if parent == "moov", box.name == "trak" {
            // The index of fragments is not read here.
            let samples = isFragmented ? nil : MovieSamples.ranges(of: box.content, in: all)
            blanks += (samples ?? []).map { Blank(content: $0) }
            isFullyParsed = isFullyParsed && samples != nil
          }
        } else if let content = metadata(of: box) {
          blanks.append(Blank(content: content))
        } else if containers.contains(box.name) {
          open.append((box.name, box.content))
        } else if box.name != "mdat" {
          isFullyParsed = isFullyParsed && !marks.contains { box.content.contains($0) }
        }
      }
      blanks.append(Blank(content: boxes.rest))
    }
    return hasIndex ? (blanks, isFullyParsed) : nil
  }

  /// Whether a sound in a file of boxes contains the position where it was recorded; such a sound is sent unchanged.
  static func hasLocation(_ path: String) throws -> Bool {
    let file = try MappedFile(path: path)
    let marks =
      [[0xA9] + Array("xyz".utf8)] + ["loci", "com.apple.quicktime.location", "exif:GPS"].map { Array($0.utf8) }
    return Boxes(ByteReader(file.bytes)).contains { box in
      box.name != "mdat" && marks.contains { box.content.contains($0) }
    }
  }

  private static func isKept(_ box: Boxes.Box, in parent: String) -> Bool {
    if parent == "moov", box.name == "trak" { return isSeenOrHeard(box.content) }
    return kept[parent].map { $0.contains(box.name) } ?? !metadata.contains(box.name)
  }

  /// The metadata in a box that is kept; nil if it has none.
  private static func metadata(of box: Boxes.Box) -> Range<Int>? {
    if headers.contains(box.name) { return times(of: box.content) }
    guard box.name == "hdlr" else { return nil }
    // A name, which is overwritten, follows the handler type (ISO/IEC 14496-12, section 8.4.3).
    let end = box.content.rest.upperBound
    return min(box.content.offset + 24, end)..<end
  }

  /// The range of the times of creation and change, after the version and the flags (ISO/IEC 14496-12, section 8.2.2).
  private static func times(of header: ByteReader) -> Range<Int> {
    let count = header.next == 1 ? 16 : 8
    let start = min(header.offset + 4, header.rest.upperBound)
    return start..<min(start + count, header.rest.upperBound)
  }

  /// Whether a track is video or sound (ISO/IEC 14496-12, section 8.4.3).
  private static func isSeenOrHeard(_ track: ByteReader) -> Bool {
    do {
      var handler = try Boxes.content(of: "hdlr", in: try Boxes.content(of: "mdia", in: track))
      try handler.skip(8)
      return handler.has("vide") || handler.has("soun")
    } catch {
      return false
    }
  }
}
