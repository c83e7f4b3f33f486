internal import DMSystem

/// The LZW codes of an image of a GIF, in sub-blocks (GIF89a, section 22 and appendix F).
enum GIFCodes {
  /// Whether the codes give exactly the pixels of the image, and nothing follows them.
  ///
  /// - Parameter codes: the range of the minimum code size and the sub-blocks, including the empty one at the end.
  static func fill(_ pixelCount: Int, _ bytes: CheckedBytes, _ codes: Range<Int>) -> Bool {
    guard let first = codes.first.map({ Int(bytes[$0]) }), 1...8 ~= first,
      let parts = subBlocks(bytes, codes.dropFirst())
    else { return false }
    var reader = BitReader(bytes, in: parts)
    let (clear, end) = (1 << first, 1 << first + 1)
    // The number of pixels for each code.
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
        // A full table does not change until it is cleared.
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
    // Some programs leave out the end code.
    return left == 0 && isOver(&reader)
  }

  /// Whether no data is left, except at most one byte of zeros: ffmpeg(1) adds a bit, which may be in a byte of its
  /// own.
  private static func isOver(_ reader: inout BitReader) -> Bool {
    reader.align()
    return reader.byteCount == 0 || reader.byteCount == 1 && reader.bits(8) == 0
  }

  /// The ranges of the sub-blocks' data; nil if the sub-blocks are truncated.
  private static func subBlocks(_ bytes: CheckedBytes, _ range: Range<Int>) -> [Range<Int>]? {
    var parts: [Range<Int>] = []
    var offset = range.lowerBound
    while offset < range.upperBound {
      let count = Int(bytes[offset])
      if count == 0 { return parts }
      guard count < range.upperBound - offset else { return nil }
      parts.append(offset + 1..<offset + 1 + count)
      offset += 1 + count
    }
    return nil
  }
}
