internal import DMSystem

/// Camera formats whose files are sent unchanged, and may contain the position where the picture was taken.
enum CameraFile {
  static func has(_ bytes: CheckedBytes) -> Bool {
    let reader = ByteReader(bytes)
    return starts.contains { reader.prefix($0.count) == $0 } || isTransportStream(reader) || isBoxes(reader)
  }

  private static let starts: [[UInt8]] = [
    // TIFF (also the basis of DNG, NEF, CR2 and ARW), BigTIFF, ORF and RW2.
    Array("II*\0".utf8), Array("MM\0*".utf8), Array("II+\0".utf8), Array("MM\0+".utf8), Array("IIRO".utf8),
    Array("IIU\0".utf8),
    // RAF, X3F, MRW, PSD.
    Array("FUJIFILMCCD-RAW".utf8), Array("FOVb".utf8), Array("\0MRM".utf8), Array("8BPS".utf8),
    // JPEG XL and JPEG XR.
    [0xFF, 0x0A], [0x49, 0x49, 0xBC, 0x01],
    // FLV, ASF, MPEG-PS, RealMedia, DV.
    Array("FLV\u{1}".utf8), [0x30, 0x26, 0xB2, 0x75, 0x8E, 0x66, 0xCF, 0x11], [0, 0, 1, 0xBA], Array(".RMF".utf8),
    [0x1F, 0x07, 0x00],
  ]

  /// Whether a file begins with three packets of 188 bytes (ISO/IEC 13818-1, section 2.4.3.2); in AVCHD, a time of four
  /// bytes precedes each packet.
  private static func isTransportStream(_ reader: ByteReader) -> Bool {
    [(0, 188), (4, 192)].contains { start, size in
      (0..<3).allSatisfy { number in
        var packet = reader
        _ = packet.part(upTo: start + number * size)
        return packet.next == 0x47
      }
    }
  }

  /// Whether a file of an unknown format consists of boxes (ISO/IEC 14496-12), as JPEG 2000, JPEG XL, and films without
  /// an index do.
  private static func isBoxes(_ reader: ByteReader) -> Bool {
    var boxes = Boxes(reader)
    guard let first = boxes.next(), first.isWhole else { return false }
    return ["JXL ", "jP  ", "ftyp", "moov", "mdat", "moof", "wide", "free", "skip", "uuid", "styp"].contains(first.name)
  }
}
