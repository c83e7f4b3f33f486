internal import DMSystem

/// GIF, version GIF89a.
enum GIF {
  /// A part of the file: an image, an extension or the trailer.
  struct Block {
    enum Kind {
      /// An image, with its size in pixels, and the range of the bytes from the minimum code size to the end of the
      /// codes (section 22).
      case image(width: Int, height: Int, codes: Range<Int>)
      /// The four bytes of a graphic control extension, which says how the next image is displayed (section 23).
      case control([UInt8])
      /// A text that is displayed as an image (section 25).
      case plainText
      /// An application extension, with its name and the range of its sub-blocks (section 26).
      case application(String, Range<Int>)
      case other
      case end
    }

    let kind: Kind
    let range: Range<Int>
  }

  /// The blocks after the logical screen descriptor, up to the trailer or the end of the file.
  struct Blocks: Sequence, IteratorProtocol {
    private var reader: ByteReader
    let width: Int
    let height: Int
    /// The offset of the first block.
    var start: Int { reader.offset }

    init(_ bytes: CheckedBytes) throws {
      reader = ByteReader(bytes, isLittleEndian: true)
      guard reader.has("GIF8") else { throw ByteReader.OutOfBytes() }
      try reader.skip(6)
      width = try reader.number(2)
      height = try reader.number(2)
      let flags = try reader.number(1)
      try reader.skip(2)
      skipTable(flags)
    }

    mutating func next() -> Block? {
      let start = reader.offset
      do {
        let kind: Block.Kind
        switch try reader.number(1) {
        case 0x21: kind = try nextExtension()
        case 0x2C:
          try reader.skip(4)
          let (width, height) = (try reader.number(2), try reader.number(2))
          skipTable(try reader.number(1))
          let codes = reader.offset
          try reader.skip(1)
          skipData()
          kind = .image(width: width, height: height, codes: codes..<reader.offset)
        case 0x3B:
          kind = .end
        default: return nil
        }
        return Block(kind: kind, range: start..<reader.offset)
      } catch {
        return nil
      }
    }

    private mutating func nextExtension() throws -> Block.Kind {
      let label = try reader.number(1)
      let start = reader.offset
      var first = reader
      first = first.part(upTo: try first.number(1))
      skipData()
      switch label {
      case 0xF9: return .control(first.prefix(4))
      case 0x01: return .plainText
      case 0xFF:
        return .application(String(decoding: first.prefix(11), as: UTF8.self), start..<reader.offset)
      default: return .other
      }
    }

    /// Skips the color table, if the flags announce one (sections 18 and 20).
    private mutating func skipTable(_ flags: Int) {
      if flags & 0x80 != 0 { _ = reader.part(upTo: 3 << (flags & 7 + 1)) }
    }

    /// Skips sub-blocks, the last of which is empty (section 15).
    private mutating func skipData() {
      while let count = reader.next {
        _ = reader.part(upTo: 1 + Int(count))
        if count == 0 { return }
      }
    }
  }

  static func header(of bytes: CheckedBytes) throws -> ImageHeader {
    let blocks = try Blocks(bytes)
    var header = ImageHeader(width: blocks.width, height: blocks.height, frameCount: 0)
    loop: for block in blocks {
      switch block.kind {
      case .image: header.frameCount += 1
      case .control(let fields) where fields.first.map { $0 & 1 != 0 } == true: header.hasAlpha = true
      case .end: break loop
      default: break
      }
    }
    header.frameCount = max(1, header.frameCount)
    return header
  }

  static func cut(_ bytes: CheckedBytes, checks: Bool) throws -> StrippedImage {
    let blocks = try Blocks(bytes)
    var cut = StrippedImage()
    var (control, hasLoop, isEnded): (Block?, Bool, Bool) = (nil, false, false)
    cut.keep(0..<blocks.start)
    loop: for block in blocks {
      switch block.kind {
      // A control extension applies to the next image, even if other blocks are in between.
      case .control: control = block
      case .plainText: control = nil
      case .image(let width, let height, let codes):
        if let control, case .control(let fields) = control.kind, fields.count == 4 {
          // Keeps the five bits of the first byte that have a meaning (section 23).
          cut.keep(control.range, of: bytes, as: [0x21, 0xF9, 4, fields[0] & 0x1F] + fields[1...] + [0])
        }
        control = nil
        cut.keep(block.range)
        if checks, !GIFCodes.fill(width * height, bytes, codes) { cut.doubt() }
      case .application(let name, let parts) where loops.contains(name) && !hasLoop:
        guard let count = repetitions(bytes, parts) else { continue }
        cut.keep(block.range, of: bytes, as: [0x21, 0xFF, 11] + Array("NETSCAPE2.0".utf8) + [3, 1] + count + [0])
        hasLoop = true
      case .application, .other: break
      case .end:
        cut.keep(block.range)
        isEnded = true
        break loop
      }
    }
    if !isEnded { cut.doubt() }
    return cut
  }

  /// The names of the extensions that say how often the animation is repeated.
  private static let loops = ["NETSCAPE2.0", "ANIMEXTS1.0"]

  /// The two bytes that say how often the animation is repeated; nil if they are missing.
  private static func repetitions(_ bytes: CheckedBytes, _ parts: Range<Int>) -> [UInt8]? {
    var offset = parts.lowerBound + 12
    while offset < parts.upperBound, case let count = Int(bytes[offset]), count > 0 {
      if count >= 3, offset + 3 < parts.upperBound, bytes[offset + 1] & 7 == 1 {
        return Array(bytes[offset + 2...offset + 3])
      }
      offset += 1 + count
    }
    return nil
  }
}
