import Testing

@testable import DMMedia
@testable import DMModel
@testable import DMSystem
@testable import TestSupport

struct ImagePreparationTests {
  let folder: MediaFolder

  init() throws { folder = try MediaFolder() }

  private static let secrets = [
    "-overwrite_original", "-GPSLatitude=48.1", "-GPSLatitudeRef=N", "-GPSLongitude=2.1", "-GPSLongitudeRef=E",
    "-Make=Secret", "-Artist=Secret", "-Comment=Secret", "-XMP:Title=Secret",
  ]

  private func addSecrets(_ name: String, _ more: String...) throws {
    #expect(try folder.tool("exiftool").run(Self.secrets + more + [name]).isOK)
  }

  private func expect(
    _ file: PreparedFile, _ format: MediaFormat, _ width: Int, _ height: Int, isSource: Bool = false,
    thumbnail: (MediaFormat, Int, Int), _ location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(file.kind == .image, sourceLocation: location)
    #expect(file.format == format, sourceLocation: location)
    #expect([file.width, file.height] == [width, height], sourceLocation: location)
    #expect(file.advice == [], sourceLocation: location)
    let header = try #require(try folder.header(file), sourceLocation: location)
    #expect(header.displayedSize == (width, height), sourceLocation: location)
    let small = try #require(file.thumbnail, sourceLocation: location)
    #expect(small.format == thumbnail.0, sourceLocation: location)
    #expect([small.width, small.height] == [thumbnail.1, thumbnail.2], sourceLocation: location)
    #expect(try PreparedFile(asIs: small.path).format == thumbnail.0, sourceLocation: location)
    #expect(try folder.secrets(small.path) == "", sourceLocation: location)
    #expect(fileSize(small.path) < 40_000, sourceLocation: location)
  }

  @Test func `a large JPEG is scaled, upright and without metadata`() throws {
    try folder.picture("source.jpg", "3000x2000")
    try addSecrets("source.jpg", "-Orientation#=6")
    #expect(try folder.secrets(folder.file("source.jpg")).contains("Secret"))
    let file = try folder.prepare("source.jpg")
    try expect(file, .jpeg, 1365, 2048, thumbnail: (.jpeg, 213, 320))
    #expect(try folder.secrets(file.path) == "")
    #expect(try folder.header(file)?.orientation == 1)
  }

  @Test func `a small JPEG loses its metadata and is not encoded again`() throws {
    try folder.picture("source.jpg", "640x480")
    try folder.run("ffmpeg", "-v", "error", "-i", "source.jpg", "-f", "rawvideo", "before")
    try addSecrets("source.jpg")
    let file = try folder.prepare("source.jpg")
    try expect(file, .jpeg, 640, 480, thumbnail: (.jpeg, 320, 240))
    #expect(try folder.secrets(file.path) == "")
    try folder.run("ffmpeg", "-v", "error", "-i", file.path, "-f", "rawvideo", "after")
    #expect(try folder.bytes(of: "before") == folder.bytes(of: "after"))
  }

  @Test func `a small image without metadata does not grow`() throws {
    try folder.picture("source.png", "100x50", "-fflags", "+bitexact")
    let file = try folder.prepare("source.png")
    try expect(file, .png, 100, 50, thumbnail: (.webp, 100, 50))
    let header = try folder.bytes(of: "source.png")
    #expect(try folder.bytes(of: file.path).count <= header.count)
  }

  @Test func `a small rotated image is encoded upright, at its own size`() throws {
    try folder.picture("source.jpg", "200x100")
    try addSecrets("source.jpg", "-Orientation#=8")
    try expect(try folder.prepare("source.jpg"), .jpeg, 100, 200, thumbnail: (.jpeg, 100, 200))
  }

  @Test func `a PNG keeps its transparency and its 16 bits`() throws {
    try folder.picture("source.png", "2500x100", "-vf", "format=rgba,colorchannelmixer=aa=0.5")
    let file = try folder.prepare("source.png")
    try expect(file, .png, 2048, 82, thumbnail: (.webp, 320, 13))
    #expect(try folder.header(file)?.hasAlpha == true)
    let small = try #require(file.thumbnail)
    #expect(try ImageHeader.read(small.path, as: .webp)?.hasAlpha == true)

    let other = try MediaFolder()
    try other.picture("source.png", "2500x100", "-pix_fmt", "rgb48be")
    let deep = try other.prepare("source.png")
    #expect(try other.bytes(of: deep.path)[24] == 16)
    try expect(deep, .png, 2048, 82, thumbnail: (.webp, 320, 13))
  }

  @Test func `animations stay animated, and the thumbnail is a still image`() throws {
    for name in ["source.gif", "source.webp"] {
      let folder = try MediaFolder()
      try folder.run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=2100x60:rate=5:duration=1", "a.gif")
      try folder.run("vips", "copy", "a.gif[n=-1]", name)
      let file = try folder.prepare(name)
      try expect(file, name.hasSuffix("gif") ? .gif : .webp, 2048, 59, thumbnail: (.webp, 320, 9))
      #expect(try folder.header(file)?.frameCount == 5)
    }
  }

  @Test(arguments: ["heic", "avif"]) func `HEIC and AVIF become JPEG`(_ kind: String) throws {
    try folder.picture("source.png", "400x200")
    try folder.run("heif-enc", kind == "avif" ? "-A" : "-v", "source.png", "-o", "source.\(kind)")
    try addSecrets("source.\(kind)")
    let file = try folder.prepare("source.\(kind)")
    try expect(file, .jpeg, 400, 200, thumbnail: (.jpeg, 320, 160))
    #expect(try folder.secrets(file.path) == "")
  }

  @Test func `a HEIC with transparency becomes WebP`() throws {
    try folder.picture("source.png", "400x200", "-vf", "format=rgba,colorchannelmixer=aa=0.5")
    try folder.run("heif-enc", "source.png", "-o", "source.heic")
    try expect(try folder.prepare("source.heic"), .webp, 400, 200, thumbnail: (.webp, 320, 160))
  }

  @Test func `CMYK images become RGB`() throws {
    try folder.picture("rgb.jpg", "400x200")
    try folder.run("vips", "icc_export", "rgb.jpg", "source.jpg", "--output-profile", "cmyk")
    let before = try #require(try ImageHeader.read(folder.file("source.jpg"), as: .jpeg))
    #expect(before.isCMYK)
    let file = try folder.prepare("source.jpg")
    try expect(file, .jpeg, 400, 200, thumbnail: (.jpeg, 320, 160))
    #expect(try folder.header(file)?.isCMYK == false)
  }

  @Test func `an RGB color profile stays in the image, and the thumbnail has none`() throws {
    try folder.picture("rgb.jpg", "2100x200")
    try folder.run("vips", "icc_export", "rgb.jpg", "source.jpg", "--output-profile", "p3")
    let file = try folder.prepare("source.jpg")
    try expect(file, .jpeg, 2048, 195, thumbnail: (.jpeg, 320, 30))
    #expect(try folder.run("exiftool", "-s3", "-ProfileDescription", file.path).contains("P3"))
    #expect(try folder.run("exiftool", "-s3", "-ProfileDescription", try #require(file.thumbnail).path) == "")
  }

  @Test func `with keepsMetadata an image keeps its metadata, scaled or not`() throws {
    var options = PreparationOptions()
    options.keepsMetadata = true
    try folder.picture("source.jpg", "2100x200")
    try addSecrets("source.jpg", "-Orientation#=6")
    let file = try folder.prepare("source.jpg", options)
    #expect([file.width, file.height] == [195, 2048])
    #expect(try folder.secrets(file.path).contains("Secret"))
    #expect(try folder.header(file)?.orientation == 1)
    let other = try MediaFolder()
    try other.picture("source.jpg", "320x200")
    try addSecretsIn(other)
    let same = try other.prepare("source.jpg", options)
    #expect(same.path == other.file("source.jpg"))
    #expect(same.thumbnail != nil)
  }

  private func addSecretsIn(_ folder: MediaFolder) throws {
    #expect(try folder.tool("exiftool").run(Self.secrets + ["source.jpg"]).isOK)
  }

  @Test func `an image that is sent as a file is not decoded`() throws {
    try folder.picture("source.jpg", "3000x200")
    var options = PreparationOptions()
    options.asFile = true
    let file = try folder.prepare("source.jpg", options)
    #expect(file.path == folder.file("source.jpg"))
    #expect(file.kind == .file)
    #expect(file.format == .jpeg)
    #expect(file.width == nil)
    #expect(file.thumbnail == nil)
  }
}

extension Tool.Outcome {
  var isOK: Bool { if case .ok = self { true } else { false } }
}
