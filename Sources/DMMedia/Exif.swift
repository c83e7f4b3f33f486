/// The orientation in an Exif block; no other tag is needed to display an image (Exif 2.32, section 4.5).
enum Exif {
  /// The orientation of the image, 1 to 8; nil if the block has none.
  static func orientation(in reader: ByteReader) -> Int? {
    do {
      var reader = reader
      // This prefix belongs only in JPEG, but some programs also write it in other formats.
      if reader.has("Exif\0\0") { try reader.skip(6) }
      guard reader.has("II") || reader.has("MM") else { return nil }
      var directory = reader
      directory.isLittleEndian = reader.has("II")
      try directory.skip(2)
      guard try directory.number(2) == 42 else { return nil }
      try directory.skip(try directory.number(4) - 8)
      for _ in 0..<(try directory.number(2)) {
        var entry = try directory.part(12)
        guard try entry.number(2) == tag, try entry.number(2) == short else { continue }
        try entry.skip(4)
        let orientation = try entry.number(2)
        return 1...8 ~= orientation ? orientation : nil
      }
      return nil
    } catch {
      return nil
    }
  }

  /// An Exif block with the orientation only.
  static func block(orientation: Int) -> [UInt8] {
    [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1]
      + [
        UInt8(tag >> 8), UInt8(tag & 0xFF), 0, UInt8(short), 0, 0, 0, 1, 0, UInt8(truncatingIfNeeded: orientation), 0,
        0,
      ]
      + [0, 0, 0, 0]
  }

  private static let tag = 0x0112
  private static let short = 3
}
