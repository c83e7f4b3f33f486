import Testing

@testable import DMMedia
@testable import DMModel
@testable import TestSupport

/// Parts of images that tools seldom or never write.
struct StrippedImageDetailTests {
  private func sample(_ name: String) throws -> [UInt8] {
    let folder = try SampleFolder()
    try #require(MediaSample.editable.first { $0.name == name }).make(in: folder)
    return try folder.bytes(name)
  }

  private func cut(_ bytes: [UInt8], _ format: MediaFormat, keepsOrientation: Bool = false) throws -> [UInt8] {
    try #require(StrippedImage.result(of: bytes, as: format, keepsOrientation: keepsOrientation))
  }

  @Test func `a comment between the scans of a JPEG is removed`() throws {
    let bytes = try sample("progressive.jpg")
    let clean = try cut(bytes, .jpeg)
    let scans = offsets(of: [0xFF, 0xDA], in: bytes)
    #expect(scans.count > 5)
    for scan in scans {
      for marker in [0xFE, 0xE1, 0xE2, 0xEF, 0xF0, 0x01] as [UInt8] {
        var soiled = bytes
        let content = Array("secret".utf8)
        soiled.insert(contentsOf: [0xFF, 0xFF, marker] + (marker == 1 ? [] : [0, 8] + content), at: scan)
        #expect(try cut(soiled, .jpeg) == clean)
      }
    }
  }

  @Test func `the JFIF thumbnail of a JPEG is removed`() throws {
    let folder = try SampleFolder()
    try folder.makePicture()
    try folder.run("ffmpeg", "-v", "error", "-i", "picture.png", "plain.jpg")
    let bytes = try folder.bytes("plain.jpg")
    let header: [UInt8] = Array("JFIF\0".utf8) + [1, 2, 0, 0, 1, 0, 1]
    #expect(Array(bytes[..<20]) == [0xFF, 0xD8, 0xFF, 0xE0, 0, 16] + header + [0, 0])
    let thumbnail: [UInt8] = [1, 1, 9, 9, 9]
    let soiled = [0xFF, 0xD8, 0xFF, 0xE0, 0, 19] + header + thumbnail + bytes[20...]
    #expect(try cut(soiled, .jpeg) == cut(bytes, .jpeg))
    // The extension segment of JFIF is removed.
    let extended = bytes[..<20] + [0xFF, 0xE0, 0, 9] + Array("JFXX\0".utf8) + [0x10, 0x77] + bytes[20...]
    #expect(try cut(Array(extended), .jpeg) == cut(bytes, .jpeg))
  }

  @Test func `the Adobe segment of a JPEG keeps only its color information`() throws {
    let bytes = try sample("cmyk.jpg")
    let offset = try #require(offsets(of: Array("Adobe".utf8), in: bytes).first)
    var soiled = bytes
    soiled.insert(contentsOf: Array("more".utf8), at: offset + 12)
    soiled[offset - 1] += 4
    #expect(try cut(soiled, .jpeg) == cut(bytes, .jpeg))
    soiled.replaceSubrange(offset..<offset + 5, with: Array("Other".utf8))
    #expect(offsets(of: Array("more".utf8), in: try cut(soiled, .jpeg)).isEmpty)
  }

  @Test func `a second image after a JPEG is removed`() throws {
    let bytes = try sample("baseline.jpg")
    let clean = try cut(bytes, .jpeg)
    let index = [0xFF, 0xE2, 0, 8] + Array("MPF\0".utf8) + [1, 2]
    #expect(try cut(Array(bytes[..<2]) + index + bytes[2...] + bytes, .jpeg) == clean)
  }

  @Test func `a truncated JPEG gets an end marker`() throws {
    let bytes = try cut(try sample("progressive.jpg"), .jpeg)
    for count in [bytes.count - 2, bytes.count - 1, bytes.count - 40, bytes.count / 2] {
      let clean = try cut(Array(bytes.prefix(count)), .jpeg)
      #expect(clean.suffix(2) == [0xFF, 0xD9])
      #expect(bytes.starts(with: clean.dropLast(2)))
      // The first byte of a marker must not join the added end marker.
      #expect(try cut(bytes.prefix(count) + [0xFF, 0xFF], .jpeg) == clean)
    }
  }

  @Test func `unknown and metadata chunks of a PNG are removed`() throws {
    let bytes = try sample("colors.png")
    let clean = try cut(bytes, .png)
    for name in ["tEXt", "zTXt", "iTXt", "eXIf", "tIME", "prVt", "vpAg"] {
      // After the first chunk, which has 13 bytes of data.
      var soiled = bytes
      soiled.insert(contentsOf: [0, 0, 0, 2] + Array(name.utf8) + [1, 2, 3, 4, 5, 6], at: 33)
      #expect(try cut(soiled, .png) == clean)
    }
    for name in ["cHRM", "gAMA", "cICP", "mDCv", "fdAT", "PLTE"] {
      var kept = clean
      kept.insert(contentsOf: [0, 0, 0, 2] + Array(name.utf8) + [1, 2, 3, 4, 5, 6], at: 33)
      #expect(try cut(kept, .png) == kept)
    }
  }

  @Test func `a PNG with an invalid first chunk is not stripped`() throws {
    var bytes = try sample("colors.png")
    bytes[11] += 1
    bytes.insert(0, at: 29)
    #expect(StrippedImage.result(of: bytes, as: .png) == nil)
  }

  @Test func `a WebP frame keeps only its image data, and the sizes are corrected`() throws {
    let bytes = try sample("moving.webp")
    let clean = try cut(bytes, .webp)
    let frame = try #require(offsets(of: Array("ANMF".utf8), in: clean).first)
    let size = clean[frame + 4..<frame + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
    var soiled = clean
    soiled.insert(contentsOf: Array("hide".utf8) + [3, 0, 0, 0, 1, 2, 3, 0], at: frame + 8 + size)
    soiled.replaceSubrange(frame + 4..<frame + 6, with: [UInt8((size + 12) & 0xFF), UInt8((size + 12) >> 8)])
    // The size in the header of the file is wrong.
    soiled.replaceSubrange(4..<8, with: [0xFF, 0xFF, 0xFF, 0x7F])
    #expect(try cut(soiled, .webp) == clean)
    #expect(clean[4..<8].reversed().reduce(0) { $0 << 8 | Int($1) } == clean.count - 8)
  }

  @Test func `a WebP with an odd length is padded before a chunk is added`() throws {
    let folder = try SampleFolder()
    let sample = try #require(MediaSample.editable.first { $0.name == "lossy.webp" })
    try sample.make(in: folder)
    let turned = try folder.turn(sample.name)[5].name
    let clean = try cut(try folder.bytes(turned), .webp, keepsOrientation: true)
    let exif = try #require(offsets(of: Array("EXIF".utf8), in: clean).last)
    #expect(exif % 2 == 0)
    #expect(Array(clean[(exif + 8)...]) == Exif.block(orientation: 6))
    let flags = try #require(offsets(of: Array("VP8X".utf8), in: clean).first) + 8
    #expect(clean[flags] & 0x0C == 0x08)
    #expect(try cut(clean, .webp)[flags] & 0x0C == 0)
  }

  @Test func `GIF extensions that the image does not need are removed`() throws {
    let bytes = try cut(try sample("moving.gif"), .gif)
    let end = bytes.count - 1
    func extended(_ block: [UInt8]) -> [UInt8] { Array(bytes[..<end]) + block + bytes[end...] }
    func application(_ name: String) -> [UInt8] { [0x21, 0xFF, 11] + Array(name.utf8) + [3, 1, 2, 0, 0] }
    for gone in [
      application("XMP DataXMP"), application("MGK8BIM0000"), application("ICCRGBG1012"), [0x21, 0xFE, 1, 65, 0],
      [0x21, 0x42, 0], [0x21, 0x01, 1, 2, 0], [0x21, 0xF9, 4, 0, 0, 0, 0, 0], [0x21, 0xF9, 0],
      // A second extension that says how often the animation repeats is removed.
      application("NETSCAPE2.0"), application("ANIMEXTS1.0"),
    ] {
      #expect(try cut(extended(gone), .gif) == bytes, "\(gone)")
    }
    let hidden: [UInt8] = [6] + Array("secret".utf8)
    for start in offsets(of: [0x21, 0xF9, 4], in: bytes) {
      var soiled = bytes
      // Sets the reserved bits.
      soiled[start + 3] |= 0xE0
      soiled.insert(contentsOf: hidden, at: start + 7)
      #expect(try cut(soiled, .gif) == bytes)
    }
    let loop = try #require(offsets(of: Array("NETSCAPE2.0".utf8), in: bytes).first)
    for offset in [loop + 11, loop + 15] {
      var soiled = bytes
      soiled.insert(contentsOf: hidden, at: offset)
      #expect(try cut(soiled, .gif) == bytes)
    }
    var renamed = bytes
    renamed.replaceSubrange(loop..<loop + 11, with: Array("ANIMEXTS1.0".utf8))
    #expect(try cut(renamed, .gif) == bytes)
  }
}
