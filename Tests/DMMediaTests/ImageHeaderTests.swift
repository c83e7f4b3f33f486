import Testing

@testable import DMMedia
@testable import TestSupport

struct ImageHeaderTests {
  @Test(arguments: MediaSample.editable + MediaSample.boxed)
  func `what is read from an image header agrees with vips and exiftool`(_ sample: MediaSample) throws {
    let folder = try SampleFolder()
    try sample.make(in: folder)
    #expect(try folder.format(of: sample.name) == sample.format)
    let width = try #require(try folder.field("width", of: sample.name))
    let height = try #require(try folder.field("height", of: sample.name))
    let isLookedFor = [.jpeg, .png, .webp].contains(sample.format)
    let hasProfile = try isLookedFor && folder.tags(sample.name).contains { $0.hasPrefix("ICC") }
    let channels = String(decoding: try folder.run("vipsheader", "-f", "format", sample.name), as: UTF8.self)
    let hasDeepChannels = sample.format == .png && channels.uppercased().contains("USHORT")
    #expect(
      try folder.header(sample.name)
        == ImageHeader(
          width: width, height: height, isCMYK: sample.isCMYK, frameCount: sample.frameCount,
          hasAlpha: sample.hasAlpha, hasProfile: hasProfile, hasDeepChannels: hasDeepChannels))
  }

  @Test(arguments: [
    ("baseline.jpg", "II"), ("baseline.jpg", "MM"), ("alpha.png", "MM"), ("moving.apng", "II"), ("lossy.webp", "II"),
    ("moving.webp", "MM"),
  ])
  func `each Exif orientation is read`(_ name: String, _ order: String) throws {
    let folder = try SampleFolder()
    try #require(MediaSample.editable.first { $0.name == name }).make(in: folder)
    for (orientation, turned) in try folder.turn(name, ["-all=", "-ExifByteOrder=\(order)"]) {
      let header = try #require(try folder.header(turned))
      #expect(header.orientation == orientation)
      #expect((header.width, header.height) == (67, 45))
      #expect(header.displayedSize == (orientation < 5 ? (67, 45) : (45, 67)))
    }
  }

  /// Rotation and mirroring from the boxes of an image; vips shows how the image must look.
  @Test(arguments: [("irot", 0), ("irot", 1), ("irot", 2), ("irot", 3), ("imir", 0), ("imir", 1)])
  func `the rotation and mirroring of a HEIC are read`(_ name: String, _ value: Int) throws {
    let folder = try SampleFolder()
    let sample = MediaSample.boxed[0]
    try sample.make(in: folder)
    let bytes = try withProperty(Array(name.utf8), UInt8(value), try folder.bytes(sample.name))
    try folder.write(bytes, "turned.heic")
    let header = try #require(ImageHeader.read(bytes, as: .heic))
    #expect(header.orientation == (name == "irot" ? [1, 8, 3, 6] : [4, 2])[value])
    #expect(header.displayedSize.width == (try folder.field("width", of: "turned.heic")))
    #expect(header.displayedSize.height == (try folder.field("height", of: "turned.heic")))
    try folder.run("vips", "copy", sample.name, "straight.png")
    try folder.run(
      "exiftool", "-m", "-overwrite_original", "-Orientation#=\(header.orientation)", "straight.png")
    try folder.run("vips", "autorot", "straight.png", "expected.png")
    try folder.run("vips", "copy", "turned.heic", "seen.png")
    #expect(try folder.pixels("seen.png") == folder.pixels("expected.png"))
  }

  @Test func `rotations and mirrorings are combined in their order`() {
    // Mirroring and then a quarter turn gives orientation 7; a quarter turn and then mirroring gives 5.
    var turn = ImageRotation()
    turn.mirror()
    turn.turn(clockwise: 1)
    #expect(turn.orientation == 7)
    turn = ImageRotation()
    turn.turn(clockwise: 1)
    turn.mirror()
    #expect(turn.orientation == 5)
    turn.turn(clockwise: -6)
    turn.mirror()
    turn.turn(clockwise: 1)
    #expect(turn == ImageRotation())
  }

  @Test func `for an image with an impossible size, no header is returned`() throws {
    let folder = try SampleFolder()
    try folder.makePicture()
    var bytes = try folder.bytes("picture.png")
    #expect(ImageHeader.read(bytes, as: .png) != nil)
    bytes.replaceSubrange(16..<20, with: [0, 0, 0, 0])
    #expect(ImageHeader.read(bytes, as: .png) == nil)
    bytes.replaceSubrange(16..<20, with: [0x80, 0, 0, 0])
    #expect(ImageHeader.read(bytes, as: .png) == nil)
    bytes.replaceSubrange(16..<20, with: [0x7F, 0xFF, 0xFF, 0xFF])
    #expect(ImageHeader.read(bytes, as: .png)?.width == Int(Int32.max))
  }

  @Test func `the pixel count covers all frames and does not overflow`() {
    #expect(ImageHeader(width: 3, height: 4, frameCount: 5).pixelCount == 60)
    let side = Int(Int32.max)
    #expect(ImageHeader(width: side, height: side, frameCount: side).pixelCount == .max)
  }

  /// Adds a property to the last item, which is the picture.
  private func withProperty(_ name: [UInt8], _ value: UInt8, _ bytes: [UInt8]) throws -> [UInt8] {
    var bytes = bytes
    func offset(_ name: String) throws -> Int { try #require(offsets(of: Array(name.utf8), in: bytes).first) }
    func add(_ count: Int, at offset: Int) {
      let old = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      bytes.replaceSubrange(offset..<offset + 4, with: [24, 16, 8, 0].map { UInt8((old + count) >> $0 & 0xFF) })
    }
    func end(_ name: String) throws -> Int {
      let start = try offset(name) - 4
      return start + bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    let associations = try end("ipma")
    let count = Int(bytes[associations - 3])
    #expect(count == 2)
    bytes[associations - 3] += 1
    // The first four properties are hvcC, two sizes and the bits of a pixel, so the new one has number 5.
    bytes.insert(0x80 | 5, at: associations)
    bytes.insert(contentsOf: [0, 0, 0, 9] + name + [value], at: try end("ipco"))
    add(1, at: try offset("ipma") - 4)
    add(9, at: try offset("ipco") - 4)
    for name in ["iprp", "meta"] { add(10, at: try offset(name) - 4) }
    // The offsets of the items in mdat are counted from the beginning of the file (ISO/IEC 14496-12, section 8.11.3),
    // so they grow.
    let table = try offset("iloc") + 4
    #expect(Array(bytes[table..<table + 6]) == [1, 0, 0, 0, 0x44, 0x40])
    for item in 0..<Int(bytes[table + 7]) {
      let item = table + 8 + item * 20
      if bytes[item + 3] == 0 { add(10, at: item + 6) }
    }
    return bytes
  }
}
