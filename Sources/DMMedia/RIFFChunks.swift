/// The consecutive chunks of a RIFF file, such as WebP (RFC 9649, section 2.3) or WAV.
///
/// A last chunk whose size exceeds the bytes that are left ends at the last byte.
struct RIFFChunks: Sequence, IteratorProtocol {
  struct Chunk {
    let name: String
    /// The range of the whole chunk, with its padding byte.
    let range: Range<Int>
    var content: ByteReader
    /// Whether the chunk ends within its container.
    let isWhole: Bool
  }

  private var reader: ByteReader

  init(_ reader: ByteReader) { self.reader = reader }

  mutating func next() -> Chunk? {
    do {
      let start = reader.offset
      let name = try reader.name()
      let count = try reader.number(4)
      let isWhole = count <= reader.rest.count
      let content = reader.part(upTo: count)
      _ = reader.part(upTo: count & 1)
      return Chunk(name: name, range: start..<reader.offset, content: content, isWhole: isWhole)
    } catch {
      return nil
    }
  }
}
