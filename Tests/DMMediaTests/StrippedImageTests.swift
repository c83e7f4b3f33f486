import Testing

@testable import DMMedia
@testable import DMModel
@testable import DMSystem
@testable import TestSupport

struct StrippedImageTests {
  @Test(arguments: MediaSample.editable)
  func `a stripped image keeps only its structure, its color information and all pixels`(_ sample: MediaSample) throws {
    let folder = try SampleFolder()
    let clean = "clean-\(sample.name)"
    try sample.make(in: folder)
    let pixels = try folder.pixels(sample.name)
    try sample.soil(in: folder)
    #expect(try folder.tags(sample.name).contains("XMP-dc:Creator"))
    if sample.format != .gif { #expect(try folder.tags(sample.name).isSuperset(of: ["GPS:GPSLatitude", "IFD0:Make"])) }
    try folder.cut(sample.name, to: clean)
    let left = try folder.tags(clean).filter { tag in !Self.structure.contains { tag.hasPrefix($0) } }
    #expect(left.isEmpty)
    #expect(try folder.pixels(clean) == pixels)
    #expect(try profile(clean, folder) == profile(sample.name, folder))
    #expect(try folder.header(clean)?.orientation == 1)
  }

  private func profile(_ name: String, _ folder: SampleFolder) throws -> [UInt8] {
    try folder.run("exiftool", "-b", "-ICC_Profile", name)
  }

  /// Prefixes of tags that reveal no person and no place.
  private static let structure = [
    "File:FileType", "File:MIMEType", "File:ImageWidth", "File:ImageHeight", "File:EncodingProcess",
    "File:BitsPerSample", "File:ColorComponents", "File:YCbCrSubSampling", "ICC-", "ICC_Profile:", "JFIF:", "Adobe:",
    "PNG:ImageWidth", "PNG:ImageHeight", "PNG:BitDepth", "PNG:ColorType", "PNG:Compression", "PNG:Filter",
    "PNG:Interlace", "PNG:Palette", "PNG:Transparency", "PNG:ProfileName", "PNG:SRGBRendering", "PNG:Gamma",
    "PNG:BackgroundColor", "PNG:SignificantBits", "PNG:Animation", "PNG-pHYs:", "PNG-cHRM:", "RIFF:WebP_Flags",
    "RIFF:Image", "RIFF:VP8", "RIFF:HorizontalScale", "RIFF:VerticalScale", "RIFF:Alpha", "RIFF:AnimationLoopCount",
    "RIFF:BackgroundColor", "RIFF:FrameCount", "RIFF:Duration", "GIF:GIFVersion", "GIF:Image", "GIF:HasColorMap",
    "GIF:ColorResolutionDepth", "GIF:BitsPerPixel", "GIF:BackgroundColor", "GIF:PixelAspectRatio",
    "GIF:AnimationIterations", "GIF:TransparentColor", "GIF:FrameCount", "GIF:Duration",
  ]

  @Test(arguments: ["profile.jpg", "cmyk.jpg", "interlaced.png", "lossless.webp"])
  func `the sample images have color profiles`(_ name: String) throws {
    let folder = try SampleFolder()
    let sample = try #require(MediaSample.editable.first { $0.name == name })
    try sample.make(in: folder)
    #expect(try profile(name, folder).count > 400)
  }

  @Test(arguments: MediaSample.editable)
  func `stripping a stripped image again changes nothing`(_ sample: MediaSample) throws {
    let folder = try SampleFolder()
    try sample.make(in: folder)
    try folder.cut(sample.name, to: "clean")
    #expect(try folder.cut("clean", to: "again") == [.range(0..<folder.bytes("clean").count)])
    #expect(try folder.bytes("again") == folder.bytes("clean"))
  }

  @Test(arguments: MediaSample.editable)
  func `bytes after the end of an image are removed`(_ sample: MediaSample) throws {
    let folder = try SampleFolder()
    try sample.make(in: folder)
    let bytes = try folder.bytes(sample.name)
    let clean = try #require(StrippedImage.result(of: bytes, as: sample.format))
    for end in ["PK\u{3}\u{4}archive", "<script>alert(1)</script>", "*/=1;", "\u{FF}\u{D8}", "\0"] {
      #expect(StrippedImage.result(of: bytes + Array(end.utf8), as: sample.format) == clean)
    }
    #expect(StrippedImage.result(of: bytes + bytes, as: sample.format) == clean)
  }

  @Test(arguments: [
    "baseline.jpg", "ffmpeg.jpg", "alpha.png", "lossy.webp", "lossless.webp", "moving.webp",
  ])
  func `of the metadata only the orientation is kept`(_ name: String) throws {
    let folder = try SampleFolder()
    let sample = try #require(MediaSample.editable.first { $0.name == name })
    try sample.make(in: folder)
    try sample.soil(in: folder)
    let pixels = try folder.pixels(name)
    for (orientation, turned) in try folder.turn(name) {
      let clean = "clean-\(turned)"
      try folder.cut(turned, to: clean, keepsOrientation: true)
      let left = try folder.tags(clean).filter { tag in !Self.structure.contains { tag.hasPrefix($0) } }
      #expect(left == (orientation == 1 ? [] : ["File:ExifByteOrder", "IFD0:Orientation"]))
      #expect(try folder.header(clean)?.orientation == orientation)
      // vips would ignore an orientation with a wrong checksum or size.
      if orientation > 1 { #expect(try folder.field("orientation", of: clean) == orientation) }
      #expect(try folder.pixels(clean) == pixels)
    }
  }

  @Test func `other formats are not stripped`() {
    #expect(StrippedImage.result(of: Array("text".utf8), as: .text) == nil)
    #expect(StrippedImage.result(of: [], as: .jpeg) == nil)
    #expect(StrippedImage.result(of: [0xFF, 0xD8, 0xFF, 0xD9], as: .jpeg) == nil)
  }

  @Test func `an image is refused if stripping it gives more byte ranges than the limit`() throws {
    let folder = try SampleFolder()
    try folder.makeAnimation()
    let bytes = try folder.bytes("animation.gif")
    // A frame, which is kept, and an extension, which is removed.
    let pair: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4C, 1, 0] + Array("!\u{77}\0".utf8)
    func crowded(_ count: Int) -> [UInt8] {
      Array(bytes.dropLast()) + [[UInt8]](repeating: pair, count: count).joined() + [0x3B]
    }
    #expect(StrippedImage.result(of: crowded(StrippedImage.limit - 1), as: .gif) != nil)
    #expect(StrippedImage.result(of: crowded(StrippedImage.limit), as: .gif) == nil)
  }

  @Test func `a stripped file is readable by its owner only, and replaces no existing file`() throws {
    let folder = try SampleFolder()
    try folder.write(Array("0123456789".utf8), "source")
    let file = try MappedFile(path: folder.path("source"))
    try StrippedImage.write([.range(2..<4), .bytes([0x61]), .range(9..<10)], of: file, to: folder.path("new"))
    #expect(try folder.bytes("new") == Array("23a9".utf8))
    #expect(String(decoding: try folder.run("stat", "-c", "%a", "new"), as: UTF8.self) == "600\n")
    let fault = try code { try StrippedImage.write([], of: file, to: folder.path("new")) }
    #expect(fault == .inputOutput)
  }
}
