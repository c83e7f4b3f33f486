/// The boxes of a HEIF or MP4 file that follow one another (ISO/IEC 14496-12, section 4.2).
///
/// The last ends where the bytes do, whatever it says.
struct Boxes: Sequence, IteratorProtocol {
  struct Box {
    /// Where it begins, with its size.
    let start: Int
    let name: String
    var content: ByteReader
    /// Whether it ends no later than what it stands in.
    let isWhole: Bool
  }

  private var reader: ByteReader

  init(_ reader: ByteReader) { self.reader = reader }

  /// What is behind the last box that could be read.
  private(set) var rest = 0..<0

  mutating func next() -> Box? {
    rest = reader.rest
    do {
      let start = reader.place
      var count = try reader.number(4)
      let name = try reader.name()
      if count == 1 { count = try reader.number(8) }
      if count == 0 { count = .max }
      let header = reader.place - start
      guard count >= header else { return nil }
      let isWhole = count == .max || count - header <= reader.rest.count
      return Box(start: start, name: name, content: reader.part(upTo: count - header), isWhole: isWhole)
    } catch {
      return nil
    }
  }

  /// What is in the first box of that name.
  static func content(of name: String, in reader: ByteReader) throws -> ByteReader {
    guard let box = Boxes(reader).first(where: { $0.name == name }) else { throw ByteReader.Ended() }
    return box.content
  }
}

/// How a picture is turned to be looked at: first mirrored, left to right, then turned clockwise.
struct Turn: Equatable {
  private(set) var isMirrored = false
  private(set) var quarters = 0

  mutating func turn(clockwise count: Int) { quarters = (quarters + count) & 3 }

  /// Left becomes right.
  mutating func mirror() {
    isMirrored.toggle()
    quarters = -quarters & 3
  }

  /// Exif 2.32, section 4.6.4, tag 274.
  var orientation: Int { (isMirrored ? [2, 7, 4, 5] : [1, 6, 3, 8])[quarters] }
}
