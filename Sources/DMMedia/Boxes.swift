/// The consecutive boxes of a HEIF or MP4 file (ISO/IEC 14496-12, section 4.2).
///
/// A last box whose size exceeds the bytes that are left ends at the last byte.
struct Boxes: Sequence, IteratorProtocol {
  struct Box {
    /// The offset of the box, which begins with its size.
    let start: Int
    let name: String
    var content: ByteReader
    /// Whether the box ends within its container.
    let isWhole: Bool
  }

  private var reader: ByteReader

  init(_ reader: ByteReader) { self.reader = reader }

  /// The range of the bytes after the last readable box.
  private(set) var rest = 0..<0

  mutating func next() -> Box? {
    rest = reader.rest
    do {
      let start = reader.offset
      var count = try reader.number(4)
      let name = try reader.name()
      if count == 1 { count = try reader.number(8) }
      if count == 0 { count = .max }
      let header = reader.offset - start
      guard count >= header else { return nil }
      let isWhole = count == .max || count - header <= reader.rest.count
      return Box(start: start, name: name, content: reader.part(upTo: count - header), isWhole: isWhole)
    } catch {
      return nil
    }
  }

  /// The content of the first box with a name.
  ///
  /// - Throws: `OutOfBytes` if no box has this name.
  static func content(of name: String, in reader: ByteReader) throws -> ByteReader {
    guard let box = Boxes(reader).first(where: { $0.name == name }) else { throw ByteReader.OutOfBytes() }
    return box.content
  }
}

/// How an image is displayed: first mirrored (left and right exchanged), then rotated clockwise.
struct ImageRotation: Equatable {
  private(set) var isMirrored = false
  private(set) var quarters = 0

  mutating func turn(clockwise count: Int) { quarters = (quarters + count) & 3 }

  /// Exchanges left and right of the image, after the previous steps.
  mutating func mirror() {
    isMirrored.toggle()
    quarters = -quarters & 3
  }

  /// The value of the orientation tag (Exif 2.32, section 4.6.4, tag 274).
  var orientation: Int { (isMirrored ? [2, 7, 4, 5] : [1, 6, 3, 8])[quarters] }
}
