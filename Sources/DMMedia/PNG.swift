internal import DMSystem

/// PNG and APNG (Portable Network Graphics, third edition).
enum PNG {
  static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  /// A chunk (section 5.3); the last one may be truncated.
  struct Chunk {
    let name: String
    let range: Range<Int>
    var content: ByteReader
  }

  /// The chunks up to the end of the image or of the file.
  struct Chunks: Sequence, IteratorProtocol {
    private var reader: ByteReader
    private var isEnded = false

    init(_ bytes: CheckedBytes) throws {
      reader = ByteReader(bytes)
      guard reader.prefix(signature.count) == signature else { throw ByteReader.OutOfBytes() }
      try reader.skip(signature.count)
    }

    mutating func next() -> Chunk? {
      do {
        guard !isEnded else { return nil }
        let start = reader.offset
        let count = try reader.number(4)
        let name = try reader.name()
        let content = reader.part(upTo: count)
        // Skips the checksum.
        _ = reader.part(upTo: 4)
        isEnded = name == "IEND"
        return Chunk(name: name, range: start..<reader.offset, content: content)
      } catch {
        return nil
      }
    }
  }

  /// Whether the file has one header, the data of an image, and an end.
  static func hasOneImage(_ bytes: CheckedBytes) -> Bool {
    guard case .success(let chunks) = Result(catching: { try Chunks(bytes) }) else { return false }
    let names = chunks.map(\.name)
    return names.count { $0 == "IHDR" } == 1 && names.contains("IDAT") && names.last == "IEND"
  }

  static func header(of bytes: CheckedBytes) throws -> ImageHeader? {
    var header: ImageHeader?
    for var chunk in try Chunks(bytes) {
      switch chunk.name {
      case "IHDR" where header == nil:
        header = ImageHeader(width: try chunk.content.number(4), height: try chunk.content.number(4))
        header?.hasDeepChannels = try chunk.content.number(1) == 16
        // Color types with an alpha sample have the bit with the value 4 (section 11.2.1).
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

  static func cut(_ bytes: CheckedBytes, orientation: Int?, checks: Bool) throws -> StrippedImage {
    var cut = StrippedImage()
    var seen: Set<String> = []
    var pixels = PNGPixels()
    cut.keep(0..<signature.count)
    for chunk in try Chunks(bytes) {
      pixels.add(chunk)
      guard let limit = needed[chunk.name], chunk.content.rest.count <= limit || chunk.name == "IEND",
        limit == .max || chunk.name == "fcTL" || seen.insert(chunk.name).inserted
      else { continue }
      switch chunk.name {
      case "iCCP": profile(chunk, bytes).map { cut.keep(chunk.range, of: bytes, as: $0) }
      case "IEND": cut.keep(chunk.range, of: bytes, as: self.chunk("IEND", []))
      default: cut.keep(chunk.range)
      }
      if let orientation, chunk.name == "IHDR" {
        cut.add(.bytes(self.chunk("eXIf", Exif.block(orientation: orientation))))
      }
    }
    // Without a valid IHDR the size is unknown, so the image cannot be shown.
    guard seen.contains("IHDR") else { throw ByteReader.OutOfBytes() }
    if checks, !seen.contains("IEND") || !pixels.fill(bytes) { cut.doubt() }
    return cut
  }

  /// The chunks that affect how pixels look (section 11.3) or move, with their maximum sizes in bytes.
  private static let needed = [
    "IHDR": 13, "PLTE": 768, "IDAT": Int.max, "IEND": 0, "cHRM": 32, "gAMA": 4, "iCCP": 1 << 22, "sBIT": 4, "sRGB": 1,
    "bKGD": 6, "tRNS": 256, "pHYs": 9, "cICP": 4, "mDCv": 24, "mDCV": 24, "cLLi": 8, "cLLI": 8, "acTL": 8, "fcTL": 26,
    "fdAT": Int.max,
  ]

  /// The chunk of a color profile, renamed to the neutral name that vips(1) uses (section 11.3.2.3).
  ///
  /// - Returns: nil if the chunk is not a profile, or if the profile is larger than any real one.
  private static func profile(_ chunk: Chunk, _ bytes: CheckedBytes) -> [UInt8]? {
    var content = chunk.content
    guard content.seek(0), content.offset - chunk.content.offset < 80, content.rest.count > 2 else { return nil }
    let data = content.offset + 2..<content.rest.upperBound
    guard let stream = Zlib.stream(bytes, in: [data], limit: 1 << 22) else { return nil }
    return self.chunk("iCCP", Array("icc\0\0".utf8) + bytes[data].dropLast(stream.rest))
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let checked = Array(name.utf8) + content
    return bigEndian(content.count) + checked + bigEndian(Int(checksum(checked)))
  }

  private static func bigEndian(_ number: Int) -> [UInt8] {
    withUnsafeBytes(of: UInt32(truncatingIfNeeded: number).bigEndian) { Array($0) }
  }

  /// The CRC-32 of section 5.5, computed bit by bit, because there are few bytes.
  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var crc = ~0 as UInt32
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : crc >> 1 ^ 0xEDB8_8320 }
    }
    return ~crc
  }
}
