/// The chunks of a RIFF file that follow one another: of WebP (RFC 9649, section 2.3) and of WAV.
///
/// The last ends where the bytes do, whatever it says.
struct RIFFChunks: Sequence, IteratorProtocol {
  struct Chunk {
    let name: String
    /// All of it, with the byte that makes it even.
    let range: Range<Int>
    var content: ByteReader
    /// Whether it ends no later than what it stands in.
    let isWhole: Bool
  }

  private var reader: ByteReader

  init(_ reader: ByteReader) { self.reader = reader }

  mutating func next() -> Chunk? {
    do {
      let start = reader.place
      let name = try reader.name()
      let count = try reader.number(4)
      let isWhole = count <= reader.rest.count
      let content = reader.part(upTo: count)
      _ = reader.part(upTo: count & 1)
      return Chunk(name: name, range: start..<reader.place, content: content, isWhole: isWhole)
    } catch {
      return nil
    }
  }
}
