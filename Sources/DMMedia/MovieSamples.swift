/// Finds the samples of a track in an MP4 or MOV (ISO/IEC 14496-12, section 8.7).
enum MovieSamples {
  /// - Returns: nil if the index of the track cannot be read, or refers to something other than media data.
  static func ranges(of track: ByteReader, in file: ByteReader) -> [Range<Int>]? {
    do {
      let media = Boxes(file).filter { $0.name == "mdat" }.map { $0.content.rest }
      var index = track
      for name in ["mdia", "minf", "stbl"] { index = try Boxes.content(of: name, in: index) }
      var (sizes, count, size) = (try Boxes.content(of: "stsz", in: index), 0, 0)
      try sizes.skip(4)
      (size, count) = (try sizes.number(4), try sizes.number(4))
      var runs = try Boxes.content(of: "stsc", in: index)
      try runs.skip(4)
      var runsLeft = try runs.number(4)
      let isLong = !Boxes(index).contains { $0.name == "stco" }
      var chunks = try Boxes.content(of: isLong ? "co64" : "stco", in: index)
      try chunks.skip(4)
      var ranges: [Range<Int>] = []
      var (perChunk, nextRun, nextCount) = (0, runsLeft > 0 ? try runs.number(4) : .max, 0)
      for number in 1...max(1, try chunks.number(4)) where count > 0 {
        if number == nextRun {
          perChunk = try runs.number(4)
          try runs.skip(4)
          runsLeft -= 1
          nextRun = runsLeft > 0 ? try runs.number(4) : .max
        }
        let start = try chunks.number(isLong ? 8 : 4)
        nextCount = min(perChunk, count)
        count -= nextCount
        // If all samples have the same size, multiplies, because the number that the file claims may exceed the bytes
        // of the file. Otherwise the index has the size of each sample.
        let length =
          size > 0 ? nextCount * size : try (0..<nextCount).reduce(0) { sum, _ in sum + (try sizes.number(4)) }
        guard let within = media.first(where: { $0.contains(start) || length == 0 }),
          length <= within.upperBound - start
        else { return nil }
        ranges.append(start..<start + length)
      }
      return ranges
    } catch {
      return nil
    }
  }
}
