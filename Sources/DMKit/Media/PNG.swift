/// PNG and APNG (Portable Network Graphics, third edition).
enum PNG {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// A chunk (section 5.3), which the last may be only a part of.
  struct Chunk {
    let name: String
    let range: Range<Int>
    var content: ByteReader
  }

  /// The chunks up to the end of the image or of the file.
  struct Chunks: Sequence, IteratorProtocol {
    private var reader: ByteReader
    private var isEnded = false

    init(_ bytes: UnsafeRawBufferPointer) throws {
      reader = ByteReader(bytes)
      guard reader.prefix(signature.count) == signature else { throw ByteReader.Ended() }
      try reader.skip(signature.count)
    }

    mutating func next() -> Chunk? {
      do {
        guard !isEnded else { return nil }
        let start = reader.place
        let count = try reader.number(4)
        let name = try reader.name()
        let content = reader.part(upTo: count)
        // The checksum.
        _ = reader.part(upTo: 4)
        isEnded = name == "IEND"
        return Chunk(name: name, range: start..<reader.place, content: content)
      } catch {
        return nil
      }
    }
  }

  static func header(of bytes: UnsafeRawBufferPointer) throws -> ImageHeader? {
    var header: ImageHeader?
    for var chunk in try Chunks(bytes) {
      switch chunk.name {
      case "IHDR" where header == nil:
        header = ImageHeader(width: try chunk.content.number(4), height: try chunk.content.number(4))
        try chunk.content.skip(1)
        // Colour types with an alpha sample have the bit of 4 (section 11.2.1).
        header?.hasAlpha = try chunk.content.number(1) & 4 != 0
      case "tRNS": header?.hasAlpha = true
      case "iCCP": header?.hasProfile = true
      case "acTL": header?.frameCount = max(1, try chunk.content.number(4))
      case "eXIf": header?.orientation = Exif.orientation(in: chunk.content) ?? 1
      default: break
      }
    }
    return header
  }

  static func cut(_ bytes: UnsafeRawBufferPointer, orientation: Int?) throws -> ImageCut {
    var cut = ImageCut()
    cut.keep(0..<signature.count)
    for chunk in try Chunks(bytes) where isNeeded(chunk.name) {
      cut.keep(chunk.range)
      if let orientation, chunk.name == "IHDR" {
        cut.add(.bytes(self.chunk("eXIf", Exif.block(orientation: orientation))))
      }
    }
    return cut
  }

  /// What changes how pixels look (section 11.3) or move; critical chunks begin with a capital letter (section 5.4).
  private static func isNeeded(_ name: String) -> Bool {
    name.first?.isUppercase == true
      || [
        "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "bKGD", "tRNS", "pHYs", "hIST", "sPLT", "cICP", "mDCv", "cLLi", "acTL",
        "fcTL", "fdAT",
      ].contains(name)
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let checked = Array(name.utf8) + content
    return bigEndian(content.count) + checked + bigEndian(Int(checksum(checked)))
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { Array($0) }
  }

  /// CRC-32 as in section 5.5, of a few bytes.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var crc = ~0 as UInt32
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0xEDB8_8320 }
    }
    return ~crc
  }
}
