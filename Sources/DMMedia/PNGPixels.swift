internal import DMSystem

/// Compares the compressed pixels of a PNG or APNG with the sizes of its frames.
struct PNGPixels {
  private struct Frame {
    var width = 0
    var height = 0
    var parts: [Range<Int>] = []
  }

  /// The image itself, which comes first, and the other frames.
  private var frames = [Frame()]
  private var bitsPerPixel = 0
  private var isInterlaced = false
  private var isReadable = true

  mutating func add(_ chunk: PNG.Chunk) {
    do { try read(chunk) } catch { isReadable = false }
  }

  private mutating func read(_ chunk: PNG.Chunk) throws {
    var content = chunk.content
    switch chunk.name {
    case "IHDR" where bitsPerPixel == 0:
      (frames[0].width, frames[0].height) = (try content.number(4), try content.number(4))
      let depth = try content.number(1)
      // Samples per pixel by the color type (section 11.2.1).
      bitsPerPixel = depth * ([0: 1, 2: 3, 3: 1, 4: 2, 6: 4][try content.number(1)] ?? 0)
      try content.skip(2)
      isInterlaced = try content.number(1) != 0
    case "IDAT": frames[0].parts.append(content.rest)
    case "fcTL":
      try content.skip(4)
      frames.append(Frame(width: try content.number(4), height: try content.number(4)))
    case "fdAT":
      try content.skip(4)
      frames[frames.count - 1].parts.append(content.rest)
    default: break
    }
  }

  /// Whether each frame has as many pixels as its size requires, and nothing after them.
  func fill(_ bytes: CheckedBytes) -> Bool {
    isReadable
      && frames.enumerated().allSatisfy { index, frame in
        // The image itself may be the first frame of the animation; then this frame has no pixels of its own.
        if index > 0, frame.parts.isEmpty { return index == 1 }
        guard let count = byteCount(frame), let stream = Zlib.stream(bytes, in: frame.parts, limit: count) else {
          return false
        }
        return stream.count == count && stream.rest == 0
      }
  }

  /// The number of bytes of all lines, each with one byte for its filter (section 7.3); nil if it is too large for an
  /// `Int`.
  private func byteCount(_ frame: Frame) -> Int? {
    let passes = isInterlaced ? Self.passes : [(0, 0, 1, 1)]
    var total = 0
    for (x, y, across, down) in passes {
      let (width, height) = ((frame.width - x + across - 1) / across, (frame.height - y + down - 1) / down)
      if width <= 0 || height <= 0 { continue }
      let (count, isTooMany) = height.multipliedReportingOverflow(by: (width * bitsPerPixel + 7) / 8 + 1)
      if isTooMany || count > Int.max / 8 { return nil }
      total += count
    }
    return total
  }

  /// The column and row of the first pixel of each pass, and the distances between the pixels of the pass (section
  /// 8.1).
  private static let passes = [
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
  ]
}
