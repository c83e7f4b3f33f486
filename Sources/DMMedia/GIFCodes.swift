/// The LZW codes of a picture of a GIF, in sub-blocks (GIF89a, section 22 and appendix F).
enum GIFCodes {
  /// Whether the codes are as many pixels as the picture has, and nothing follows them.
  ///
  /// - Parameter codes: the size of the first codes, the sub-blocks, and the empty one that ends them.
  static func fill(_ pixelCount: Int, _ bytes: UnsafeRawBufferPointer, _ codes: Range<Int>) -> Bool {
    guard let first = codes.first.map({ Int(bytes[$0]) }), 1...8 ~= first,
      let parts = subBlocks(bytes, codes.dropFirst())
    else { return false }
    var reader = BitReader(bytes, in: parts)
    let (clear, end) = (1 << first, 1 << first + 1)
    // How many pixels a code is.
    var lengths = [Int](repeating: 1, count: 1 << 12)
    var (next, size, last) = (end + 1, first + 1, nil as Int?)
    var left = pixelCount
    while let code = reader.bits(size) {
      if code == end { return left == 0 && isOver(&reader) }
      if code == clear {
        (next, size, last) = (end + 1, first + 1, nil)
        continue
      }
      guard code < clear || last != nil && code <= next && code > end else { return false }
      if let last {
        // The table stays as it is when it is full, until it is cleared.
        if next < lengths.count {
          lengths[next] = lengths[last] + 1
          next += 1
          if next == 1 << size, size < 12 { size += 1 }
        }
      }
      guard lengths[code] <= left else { return false }
      left -= lengths[code]
      last = code
    }
    // Some programs leave out the last code.
    return left == 0 && isOver(&reader)
  }

  /// ffmpeg(1) adds a bit, which may be in a byte of its own.
  private static func isOver(_ reader: inout BitReader) -> Bool {
    reader.align()
    return reader.byteCount == 0 || reader.byteCount == 1 && reader.bits(8) == 0
  }

  /// Nil when they are cut short.
  private static func subBlocks(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> [Range<Int>]? {
    var parts: [Range<Int>] = []
    var place = range.lowerBound
    while place < range.upperBound {
      let count = Int(bytes[place])
      if count == 0 { return parts }
      guard count < range.upperBound - place else { return nil }
      parts.append(place + 1..<place + 1 + count)
      place += 1 + count
    }
    return nil
  }
}
