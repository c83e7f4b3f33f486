import Testing

@testable import DMMedia
@testable import DMModel
@testable import TestSupport

/// Text that is hidden in parts of an image that image viewers ignore.
struct HiddenBytesTests {
  private static let secret = Array("GPS 48.8577 2.295 and more of that kind".utf8)
  private static let hidden = "'it' is damaged or written in an unusual way, and may keep hidden data"

  private func sample(_ name: String) throws -> [UInt8] {
    let folder = try SampleFolder()
    try #require(MediaSample.editable.first { $0.name == name }).make(in: folder)
    return try folder.bytes(name)
  }

  private func cut(_ bytes: [UInt8], _ format: MediaFormat) throws -> StrippedImage {
    try #require(bytes.withCheckedBytes { StrippedImage.of($0, as: format, keepsOrientation: false) })
  }

  /// Expects that the image is encoded again if vips is installed, and otherwise sent with a warning.
  private func expectDoubt(_ bytes: [UInt8], _ format: MediaFormat, at location: SourceLocation = #_sourceLocation)
    throws
  {
    #expect(try !cut(bytes, format).isFullyParsed, sourceLocation: location)
    let folder = try MediaFolder()
    let name = "source.\(format.fileExtensions[0])"
    try folder.write(bytes, to: name)
    let file = try folder.prepare(name)
    if file.advice == [] {
      #expect(!contains(try folder.bytes(of: file.path), Self.secret), sourceLocation: location)
    } else {
      #expect(file.advice.last == Self.hidden, sourceLocation: location)
    }
    try folder.run("rm", "-f", name + "-clean")
    #expect(try folder.prepare(name, hasTools: false).advice.last == Self.hidden, sourceLocation: location)
    var options = PreparationOptions()
    options.keepsMetadata = true
    #expect(try folder.prepare(name, options, hasTools: false).advice.contains(Self.hidden) == false)
  }

  private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool { !offsets(of: part, in: bytes).isEmpty }

  // MARK: GIF

  @Test func `a GIF comment that is hidden in the image data by a wrong block length is noticed`() throws {
    let bytes = try sample("moving.gif")
    let control = try #require(offsets(of: [0x21, 0xF9, 4], in: bytes).dropFirst().first)
    // The start of the last sub-block of the first frame; the empty sub-block follows it.
    let start = try #require((1...255).map { control - 2 - $0 }.first { Int(bytes[$0]) == control - 2 - $0 })
    let comment = [0x21, 0xFE, UInt8(Self.secret.count)] + Self.secret + [0]
    var soiled = bytes
    soiled.insert(contentsOf: comment, at: control)
    #expect(!contains(StrippedImage.result(of: soiled, as: .gif) ?? [], Self.secret))
    let length = Int(bytes[start]) + 1 + comment.count - 1
    try #require(length < 256)
    soiled[start] = UInt8(length)
    #expect(contains(StrippedImage.result(of: soiled, as: .gif) ?? [], Self.secret))
    try expectDoubt(soiled, .gif)
  }

  @Test func `bytes after the last code of a GIF are noticed`() throws {
    let bytes = try sample("still.gif")
    var soiled = bytes
    soiled.insert(contentsOf: [UInt8(Self.secret.count)] + Self.secret, at: bytes.count - 2)
    try expectDoubt(soiled, .gif)
    // ffmpeg(1) adds one byte of zeros; any other byte is noticed.
    soiled = bytes
    soiled.insert(contentsOf: [1, 7], at: bytes.count - 2)
    #expect(try !cut(soiled, .gif).isFullyParsed)
  }

  @Test func `a GIF that ends early or has no proper end is noticed`() throws {
    let bytes = try sample("still.gif")
    #expect(try cut(bytes, .gif).isFullyParsed)
    for end in [[UInt8](), [0x55, 1, 2], [0x3A]] { #expect(try !cut(bytes.dropLast() + end, .gif).isFullyParsed) }
    #expect(try !cut(bytes.dropLast(20), .gif).isFullyParsed)
  }

  // MARK: PNG

  /// A chunk of a PNG, with a wrong checksum.
  private func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt32(content.count).bigEndian) { Array($0) } + Array(name.utf8) + content + [0, 0, 0, 0]
  }

  /// A zlib stream, made by Perl, of a text that is repeated `count` times.
  private func compressed(_ text: String, _ count: Int, _ level: String = "9") throws -> [UInt8] {
    let script = "use Compress::Zlib; binmode STDOUT; print compress($ARGV[0] x $ARGV[1], $ARGV[2])"
    return try SampleFolder().run("perl", "-e", script, text, "\(count)", level)
  }

  @Test(arguments: ["sPLT", "CRIT", "hIST", "gAMA"])
  func `an unneeded or too long PNG chunk is removed`(name: String) throws {
    let bytes = try sample("colors.png")
    let clean = try #require(StrippedImage.result(of: bytes, as: .png))
    var soiled = bytes
    soiled.insert(contentsOf: chunk(name, Self.secret), at: 33)
    #expect(StrippedImage.result(of: soiled, as: .png) == clean)
    soiled = Array(bytes.dropLast(12)) + chunk("IEND", Self.secret)
    #expect(StrippedImage.result(of: soiled, as: .png) == clean)
  }

  @Test func `of a duplicate PNG chunk only the first is kept`() throws {
    let bytes = try sample("colors.png")
    var once = try #require(StrippedImage.result(of: bytes, as: .png))
    once.insert(contentsOf: chunk("gAMA", [0, 1, 2, 3]), at: 33)
    var twice = once
    twice.insert(contentsOf: chunk("gAMA", Array("GPS!".utf8)), at: 33 + 16)
    #expect(StrippedImage.result(of: twice, as: .png) == StrippedImage.result(of: once, as: .png))
  }

  @Test func `the name of a color profile and bytes after its data are removed`() throws {
    let bytes = try sample("colors.png")
    let profile = try compressed("profile", 100)
    func with(_ content: [UInt8]) -> [UInt8] { Array(bytes[..<33]) + chunk("iCCP", content) + bytes[33...] }
    let clean = try #require(StrippedImage.result(of: with(Array("NAMESECRET\0\0".utf8) + profile), as: .png))
    #expect(contains(clean, Array("iCCPicc\0\0".utf8) + profile) && !contains(clean, Array("NAMESECRET".utf8)))
    #expect(StrippedImage.result(of: with(Array("icc\0\0".utf8) + profile + Self.secret), as: .png) == clean)
    #expect(StrippedImage.result(of: clean, as: .png) == clean)
  }

  @Test func `an invalid or too large color profile is removed`() throws {
    let bytes = try sample("colors.png")
    let clean = StrippedImage.result(of: bytes, as: .png)
    let large = try compressed(String(repeating: "\u{1}", count: 1024), 4 * 1024 + 1)
    #expect(large.count < 10_000)
    for content in [large, Self.secret, [], try compressed("x", 1000).dropLast(8)] {
      let soiled = Array(bytes[..<33]) + chunk("iCCP", Array("icc\0\0".utf8) + content) + bytes[33...]
      #expect(StrippedImage.result(of: soiled, as: .png) == clean)
    }
    let fits = try compressed(String(repeating: "\u{1}", count: 1024), 4 * 1024)
    let kept = Array(bytes[..<33]) + chunk("iCCP", Array("icc\0\0".utf8) + fits) + bytes[33...]
    #expect(contains(try #require(StrippedImage.result(of: kept, as: .png)), fits))
  }

  @Test(arguments: ["colors.png", "interlaced.png", "deep.png", "palette.png"])
  func `bytes after the pixels of a PNG are noticed`(name: String) throws {
    let bytes = try sample(name)
    try expectDoubt(Array(bytes.dropLast(12)) + chunk("IDAT", Self.secret) + bytes.suffix(12), .png)
    // Image data for more lines than the image has.
    let lines = try compressed("GPS 48.8577 2.295", 10_000)
    let first = try #require(offsets(of: Array("IDAT".utf8), in: bytes).first) - 4
    #expect(try !cut(Array(bytes[..<first]) + chunk("IDAT", lines) + bytes.suffix(12), .png).isFullyParsed)
  }

  @Test func `bytes after the pixels of an animated PNG frame are noticed, and the image stays animated`() throws {
    let bytes = try sample("moving.apng")
    #expect(try cut(bytes, .png).isFullyParsed)
    let soiled = Array(bytes.dropLast(12)) + chunk("fdAT", [0, 0, 0, 99] + Self.secret) + bytes.suffix(12)
    #expect(try !cut(soiled, .png).isFullyParsed)
    let folder = try MediaFolder()
    try folder.write(soiled, to: "source.png")
    #expect(try folder.prepare("source.png").advice.contains(Self.hidden))
  }

  // MARK: JPEG

  @Test(arguments: MediaSample.editable.filter { $0.format == .jpeg })
  func `bytes after the last block of a JPEG scan are noticed`(sample: MediaSample) throws {
    let bytes = try self.sample(sample.name)
    #expect(try cut(bytes, .jpeg).isFullyParsed)
    let scans = bytes.withCheckedBytes { JPEG.Segments($0).filter { $0.marker == JPEG.scan }.map(\.range) }
    let restarts = offsets(of: [0xFF, 0xD0], in: bytes).filter { offset in scans.contains { $0.contains(offset) } }
    #expect(!scans.isEmpty && (sample.name != "restarts.jpg" || !restarts.isEmpty))
    for end in scans.map(\.upperBound) + restarts {
      for hidden in [Self.secret, [0]] {
        var soiled = bytes
        soiled.insert(contentsOf: hidden, at: end)
        #expect(try !cut(soiled, .jpeg).isFullyParsed, "\(end)")
      }
    }
    var soiled = bytes
    soiled.insert(contentsOf: Self.secret, at: bytes.count - 2)
    try expectDoubt(soiled, .jpeg)
  }

  @Test(arguments: MediaSample.editable.filter { $0.format == .jpeg })
  func `a JPEG with missing blocks is noticed`(sample: MediaSample) throws {
    let bytes = try self.sample(sample.name)
    #expect(try !cut(Array(bytes.dropLast(12)) + [0xFF, 0xD9], .jpeg).isFullyParsed)
    #expect(try !cut(Array(bytes.dropLast(2)), .jpeg).isFullyParsed)
  }

  @Test(arguments: ["1x1", "2x2", "1x2", "2x1"], ["33x17", "64x64", "8x8", "250x7"])
  func `JPEGs of all samplings and sizes are parsed completely`(sampling: String, size: String) throws {
    let folder = try SampleFolder()
    try folder.run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size)", "-frames:v", "1", "a.png")
    let format = ["1x1": "yuvj444p", "2x2": "yuvj420p", "1x2": "yuvj440p", "2x1": "yuvj422p"][sampling] ?? ""
    try folder.run("ffmpeg", "-v", "error", "-i", "a.png", "-pix_fmt", format, "a.jpg")
    #expect(try cut(try folder.bytes("a.jpg"), .jpeg).isFullyParsed)
    for quality in ["1", "50", "97"] {
      for options in ["interlace", "interlace=0,optimize_coding", "interlace,trellis_quant,subsample_mode=off"] {
        try folder.run("vips", "copy", "a.png", "b.jpg[Q=\(quality),\(options)]")
        #expect(try cut(try folder.bytes("b.jpg"), .jpeg).isFullyParsed, "\(options) \(quality)")
      }
    }
  }

  // MARK: WebP

  @Test func `a WebP chunk whose size includes the next chunks is noticed`() throws {
    let folder = try SampleFolder()
    let sample = try #require(MediaSample.editable.first { $0.name == "lossy.webp" })
    try sample.make(in: folder)
    try sample.soil(in: folder)
    let bytes = try folder.bytes(sample.name)
    #expect(try cut(bytes, .webp).isFullyParsed)
    let image = try #require(offsets(of: Array("VP8 ".utf8), in: bytes).first)
    let size = bytes[image + 4..<image + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
    // One size ends at the end of the file, and the other after it.
    for size in [bytes.count - image - 8, size + 0x1_0000] {
      var soiled = bytes
      soiled.replaceSubrange(image + 4..<image + 8, with: withUnsafeBytes(of: UInt32(size).littleEndian) { Array($0) })
      try expectDoubt(soiled, .webp)
    }
    #expect(try !cut(bytes.dropLast(3), .webp).isFullyParsed)
  }

  // MARK: zlib

  @Test(arguments: ["0", "1", "6", "9"])
  func `the end and the uncompressed size of a zlib stream are found`(level: String) throws {
    for (text, count) in [("x", 1), ("abcdefghijklmnopqrstuvwxyz 0123456789", 1000), ("", 0), ("\u{7}", 100_000)] {
      let stream = try compressed(text, count, level)
      let size = text.utf8.count * count
      for rest in [0, 1, 100] {
        let bytes = stream + [UInt8](repeating: 0xAA, count: rest)
        // The stream is given in one part, and in three parts.
        for parts in [[0..<bytes.count], [0..<1, 1..<stream.count / 2, stream.count / 2..<bytes.count]] {
          let found = bytes.withCheckedBytes { Zlib.stream($0, in: parts, limit: size) }
          #expect(found?.count == size && found?.rest == rest, "\(text) \(parts)")
        }
      }
      let short = stream.withCheckedBytes { Zlib.stream($0, in: [0..<stream.count], limit: size - 1) }
      #expect(short == nil || size == 0)
      for count in stride(from: 0, to: stream.count, by: max(1, stream.count / 200)) {
        #expect(stream.withCheckedBytes { Zlib.stream($0, in: [0..<count], limit: size) } == nil, "\(count)")
      }
    }
  }
}
