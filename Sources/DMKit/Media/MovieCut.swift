internal import Glibc

/// Overwrites metadata in an MP4 or MOV by nothing, so that no other byte has to move.
///
/// Boxes of metadata become free space (ISO/IEC 14496-12, section 8.1.2), and so do tracks of it, in which cameras tell
/// where they are while they film: what was in them has no index any more.
enum MovieCut {
  private static let metadata: Set<String> = ["udta", "meta", "uuid"]
  private static let containers: Set<String> = ["moov", "trak", "moof", "traf"]

  /// Cuts in place a file that nobody else reads.
  ///
  /// - Returns: whether it is a file of that kind.
  static func cut(_ path: String, as format: MediaFormat) throws -> Bool {
    guard [.mp4, .quickTime, .m4a].contains(format) else { return false }
    let boxes = try found(path)
    guard let boxes else { return false }
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw fileFault(.inputOutput, "write", path) }
    defer { close(descriptor) }
    for box in boxes {
      lseek(descriptor, off_t(box.name), SEEK_SET)
      try write(Array("free".utf8), descriptor, path)
      lseek(descriptor, off_t(box.content.lowerBound), SEEK_SET)
      var left = box.content.count
      while left > 0 {
        let count = min(left, ContentFolder.chunkBytes)
        try write([UInt8](repeating: 0, count: count), descriptor, path)
        left -= count
      }
    }
    return true
  }

  private static func write(_ bytes: [UInt8], _ descriptor: Int32, _ path: String) throws {
    try bytes.withUnsafeBytes { try writeAll($0, to: descriptor, path) }
  }

  /// Where the names and the contents of boxes of metadata are; nil when it has no index of what is in it.
  private static func found(_ path: String) throws -> [(name: Int, content: Range<Int>)]? {
    let file = try MappedFile(path: path)
    var found: [(name: Int, content: Range<Int>)] = []
    var open = [ByteReader(file.bytes)]
    var hasIndex = false
    while let reader = open.popLast() {
      for box in Boxes(reader) {
        hasIndex = hasIndex || box.name == "moov"
        if metadata.contains(box.name) || box.name == "trak" && isOfMetadata(box.content) {
          found.append((box.start + 4, box.content.rest))
        } else if containers.contains(box.name) {
          open.append(box.content)
        }
      }
    }
    return hasIndex ? found : nil
  }

  /// ISO/IEC 14496-12, section 8.4.3.
  private static func isOfMetadata(_ track: ByteReader) -> Bool {
    do {
      var handler = try Boxes.content(of: "hdlr", in: try Boxes.content(of: "mdia", in: track))
      try handler.skip(8)
      return handler.has("meta")
    } catch {
      return false
    }
  }
}
