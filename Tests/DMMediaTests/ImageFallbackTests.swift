import Testing

@testable import DMMedia
@testable import DMModel
@testable import TestSupport

struct ImageFallbackTests {
  let folder: MediaFolder

  init() throws { folder = try MediaFolder() }

  private static let missing = "without vips images are not scaled and have no thumbnails; install libvips-tools"
  private static let hidden = "'it' is damaged or written in an unusual way, and may keep hidden data"

  @Test func `without vips an image is stripped, keeps its orientation, and a warning says what to install`() throws {
    try folder.picture("source.jpg", "3000x200")
    try folder.run("exiftool", "-q", "-overwrite_original", "-Orientation#=6", "-Artist=Secret", "source.jpg")
    let file = try folder.prepare("source.jpg", hasTools: false)
    #expect([file.width, file.height] == [200, 3000])
    #expect(file.advice == [Self.missing])
    #expect(file.thumbnail == nil)
    #expect(try folder.secrets(file.path) == "")
    #expect(try folder.header(file)?.orientation == 6)
  }

  @Test func `without vips a HEIC keeps its metadata, with a warning`() throws {
    try folder.picture("source.png", "64x64")
    try folder.run("heif-enc", "source.png", "-o", "source.heic")
    let file = try folder.prepare("source.heic", hasTools: false)
    #expect(file.path == folder.file("source.heic"))
    #expect(file.format == .heic)
    #expect([file.width, file.height] == [64, 64])
    #expect(file.advice == [Self.missing, "'it' keeps its metadata, which may tell where it was taken"])
    var options = PreparationOptions()
    options.keepsMetadata = true
    #expect(try folder.prepare("source.heic", options, hasTools: false).advice == [Self.missing])
  }

  @Test func `an image that vips cannot read is sent unchanged, with the error of vips as a warning`() throws {
    try folder.picture("source.png", "64x64")
    var bytes = try folder.bytes(of: "source.png")
    // An invalid color type.
    bytes[25] = 5
    try folder.write(bytes, to: "source.png")
    let file = try folder.prepare("source.png")
    #expect(file.kind == .image)
    #expect(file.thumbnail == nil)
    #expect(file.advice.count == 2)
    #expect(file.advice.first?.hasPrefix("'it' was not scaled and has no thumbnail: ") == true)
    #expect(file.advice.last == Self.hidden)
  }

  @Test(arguments: [true, false]) func `a JPEG that cannot be read is refused`(_ hasTools: Bool) throws {
    try folder.write([0xFF, 0xD8, 0xFF, 0xE0, 0, 1, 2, 3], to: "source.jpg")
    let error = #expect(throws: DMError.self) { try folder.prepare("source.jpg", hasTools: hasTools) }
    #expect(error?.code == .badAttachment)
    #expect(error?.message == "'it' cannot be read as an image" && error?.remedy == .sendAsFile)
  }

  /// A PNG of this width and height that ends after its header.
  private func bomb(_ width: UInt32, _ height: UInt32) -> [UInt8] {
    func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
    return [0x89] + Array("PNG\r\n\u{1A}\n".utf8) + number(13) + Array("IHDR".utf8) + number(width) + number(height)
      + [8, 2, 0, 0, 0] + number(0)
  }

  @Test func `an image with too many pixels is refused before any tool runs`() throws {
    try folder.write(bomb(16385, 16384), to: "source.png")
    let error = #expect(throws: DMError.self) { try folder.prepare("source.png") }
    #expect(error?.code == .badAttachment)
    #expect(error?.message.contains("268451840 pixels") == true)
    #expect(error?.remedy == .sendAsFile)
  }

  @Test func `too many pixels in all frames together are refused only if all frames would be decoded`() throws {
    func frames(_ width: Int, _ count: Int) -> [UInt8] {
      let frame: [UInt8] =
        [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0x80, 0, 0, 0, 255, 255, 255, 2, 2, 0x4C, 1, 0]
      return Array("GIF89a".utf8) + [UInt8(width & 255), UInt8(width >> 8), 0x88, 0x13, 0, 0, 0]
        + (0..<count).flatMap { _ in frame } + [0x3B]
    }
    try folder.write(frames(3000, 20), to: "source.gif")
    let error = #expect(throws: DMError.self) { try folder.prepare("source.gif") }
    #expect(error?.code == .badAttachment)
    #expect(error?.message.contains("300000000 pixels in all frames") == true)
  }

  /// Images that cannot be decoded line by line, larger than any image of a camera.
  @Test(arguments: ["source.png[interlace]", "source.jpg[interlace]", "source.webp[lossless,effort=0]"])
  func `a valid image that needs too much memory is sent without scaling or thumbnail`(_ output: String) throws {
    try folder.run("vips", "black", output, "10000", "10000", "--bands", "3")
    let file = try folder.prepare(String(output.prefix { $0 != "[" }))
    #expect(file.kind == .image)
    #expect([file.width, file.height] == [10000, 10000])
    #expect(file.advice.count == 1)
    #expect(file.advice.first?.hasPrefix("'it' was not scaled and has no thumbnail: ") == true)
  }
}
