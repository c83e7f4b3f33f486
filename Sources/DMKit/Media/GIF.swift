/// GIF as of GIF89a.
enum GIF {
  /// A block that is a picture or an extension.
  struct Block {
    enum Kind {
      case image
      /// Says of the next picture how it is shown (section 23).
      case control(hasTransparency: Bool)
      /// A text that is shown as a picture (section 25).
      case plainText
      /// An extension for some programs, by its name (section 26).
      case application(String)
      case other
      case end
    }

    let kind: Kind
    let range: Range<Int>
  }

  /// The blocks behind the screen's description, up to the trailer or the end of the file.
  struct Blocks: Sequence, IteratorProtocol {
    private var reader: ByteReader
    let width: Int
    let height: Int
    /// Where the first block is.
    var start: Int { reader.place }

    init(_ bytes: UnsafeRawBufferPointer) throws {
      reader = ByteReader(bytes, isLittleEndian: true)
      guard reader.has("GIF8") else { throw ByteReader.Ended() }
      try reader.skip(6)
      width = try reader.number(2)
      height = try reader.number(2)
      let flags = try reader.number(1)
      try reader.skip(2)
      skipTable(flags)
    }

    mutating func next() -> Block? {
      let start = reader.place
      do {
        let kind: Block.Kind
        switch try reader.number(1) {
        case 0x21: kind = try nextExtension()
        case 0x2C:
          try reader.skip(8)
          skipTable(try reader.number(1))
          // The size of its codes, then the codes.
          try reader.skip(1)
          skipData()
          kind = .image
        case 0x3B:
          kind = .end
        default: return nil
        }
        return Block(kind: kind, range: start..<reader.place)
      } catch {
        return nil
      }
    }

    private mutating func nextExtension() throws -> Block.Kind {
      let label = try reader.number(1)
      var first = reader
      first = first.part(upTo: try first.number(1))
      skipData()
      switch label {
      case 0xF9: return .control(hasTransparency: first.next.map { $0 & 1 != 0 } ?? false)
      case 0x01: return .plainText
      case 0xFF: return .application(String(decoding: first.prefix(11), as: UTF8.self))
      default: return .other
      }
    }

    /// Goes beyond the colours that such flags announce (section 18, section 20).
    private mutating func skipTable(_ flags: Int) {
      if flags & 0x80 != 0 { _ = reader.part(upTo: 3 << (flags & 7 + 1)) }
    }

    /// Goes beyond sub-blocks, the last of which is empty (section 15).
    private mutating func skipData() {
      while let count = reader.next {
        _ = reader.part(upTo: 1 + Int(count))
        if count == 0 { return }
      }
    }
  }

  static func header(of bytes: UnsafeRawBufferPointer) throws -> ImageHeader {
    let blocks = try Blocks(bytes)
    var header = ImageHeader(width: blocks.width, height: blocks.height, frameCount: 0)
    loop: for block in blocks {
      switch block.kind {
      case .image: header.frameCount += 1
      case .control(hasTransparency: true): header.hasAlpha = true
      case .end: break loop
      default: break
      }
    }
    header.frameCount = max(1, header.frameCount)
    return header
  }

  static func cut(_ bytes: UnsafeRawBufferPointer) throws -> ImageCut {
    let blocks = try Blocks(bytes)
    var cut = ImageCut()
    cut.keep(0..<blocks.start)
    for block in blocks {
      switch block.kind {
      case .image, .control, .plainText: cut.keep(block.range)
      case .application(let name) where applications.contains(name): cut.keep(block.range)
      case .application, .other: break
      case .end:
        cut.keep(block.range)
        return cut
      }
    }
    return cut
  }

  /// How often it is repeated, and the colour profile.
  private static let applications = ["NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"]
}
