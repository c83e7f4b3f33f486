import Testing

@testable import DMMedia
@testable import TestSupport

/// Damaged files, which are not valid in the format that their first bytes name.
struct MediaTortureTests {
  private static let rounds = SplitMix64.isTorture ? 20_000 : 500
  private static let seed: UInt64 = 0x5EED

  @Test(arguments: MediaSample.editable + MediaSample.boxed)
  func `an image that is cut off at any byte gives valid results or none`(_ sample: MediaSample) throws {
    let bytes = try small(sample)
    for count in 0...bytes.count { try look(at: Array(bytes.prefix(count)), as: sample.format, "\(count)") }
  }

  @Test(arguments: MediaSample.editable + MediaSample.boxed)
  func `an image with random bytes changed gives valid results or none`(_ sample: MediaSample) throws {
    let bytes = try small(sample)
    var random = SplitMix64(seed: Self.seed)
    for round in 0..<Self.rounds {
      try look(at: random.mutated(bytes), as: sample.format, "round \(round)")
    }
  }

  @Test(arguments: ["moving.mp4", "moving.mov", "sound.m4a", "sound.wav"])
  func `a video or sound that is cut off or has bytes changed does not crash the reader`(_ name: String) throws {
    let folder = try SampleFolder()
    try folder.makeFilm(name)
    // If the header follows the content, the content is left out.
    var bytes = try folder.bytes(name)
    if let header = offsets(of: Array("moov".utf8), in: bytes).first { bytes = Array(bytes[(header - 4)...]) }
    bytes = Array(bytes.prefix(4000))
    let format: MediaFormat = name.hasSuffix("wav") ? .wav : .mp4
    for count in 0...bytes.count { look(atFilm: Array(bytes.prefix(count)), as: format) }
    var random = SplitMix64(seed: Self.seed)
    for _ in 0..<Self.rounds { look(atFilm: random.mutated(bytes), as: format) }
  }

  /// The beginning of a sample: it has the headers of the parts that follow.
  private func small(_ sample: MediaSample) throws -> [UInt8] {
    let folder = try SampleFolder()
    try sample.make(in: folder)
    if sample.format == .jpeg || sample.format == .png || sample.format == .webp { try sample.soil(in: folder) }
    return Array(try folder.bytes(sample.name).prefix(3000))
  }

  private func look(atFilm bytes: [UInt8], as format: MediaFormat) {
    _ = MediaFormat.of(bytes)
    _ = bytes.withCheckedBytes { MovieHeader.read($0, as: format) }
  }

  /// Checks that the pieces of any bytes are within the bytes, ascending and merged, and that stripping the result
  /// again changes nothing.
  private func look(at bytes: [UInt8], as format: MediaFormat, _ what: String) throws {
    _ = MediaFormat.of(bytes)
    if let header = ImageHeader.read(bytes, as: format) {
      try #require(header.width > 0 && header.height > 0 && header.frameCount > 0, "\(what)")
      try #require(1...8 ~= header.orientation, "\(what)")
    }
    for keepsOrientation in [false, true] {
      let pieces = bytes.withCheckedBytes {
        StrippedImage.of($0, as: format, keepsOrientation: keepsOrientation)?.pieces
      }
      var last: Range<Int>?
      for piece in pieces ?? [] {
        guard case .range(let range) = piece else {
          last = nil
          continue
        }
        try #require(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= bytes.count, "\(what)")
        if let last { try #require(last.upperBound < range.lowerBound, "\(what)") }
        last = range
      }
      guard pieces != nil, let clean = StrippedImage.result(of: bytes, as: format, keepsOrientation: keepsOrientation)
      else { continue }
      let again = StrippedImage.result(of: clean, as: format, keepsOrientation: keepsOrientation)
      try #require(again == clean, "\(what)")
    }
  }
}

extension SplitMix64 {
  /// The bytes with a few of them changed, removed, repeated, or replaced with extreme numbers.
  fileprivate mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(4) where !bytes.isEmpty {
      let start = below(bytes.count)
      let range = start..<min(bytes.count, start + 1 + below(8))
      switch below(5) {
      case 0: bytes[start] = UInt8(below(256))
      case 1: bytes[start] ^= 1 << UInt8(below(8))
      case 2:
        bytes.replaceSubrange(range, with: [UInt8](repeating: [0, 0x7F, 0x80, 0xFF][below(4)], count: range.count))
      case 3: bytes.removeSubrange(range)
      default: bytes.insert(contentsOf: bytes[range], at: below(bytes.count))
      }
    }
    return bytes
  }
}
