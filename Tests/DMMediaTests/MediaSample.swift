import Testing

@testable import DMMedia
@testable import TestSupport

/// A sample image that vips or ffmpeg makes; there is one for each variant of each format.
struct MediaSample: CustomTestStringConvertible, Sendable {
  let name: String
  let format: MediaFormat
  /// The command that makes the sample from `picture.png` or `animation.gif`; the name of the sample is added to it.
  let command: [String]
  /// Arguments that follow the name of the sample.
  var more: [String] = []
  var isCMYK = false
  var hasAlpha = false
  var frameCount = 1

  var testDescription: String { name }

  init(
    _ name: String, _ format: MediaFormat, _ command: String, option: String = "", more: [String] = [],
    isCMYK: Bool = false, hasAlpha: Bool = false, frameCount: Int = 1
  ) {
    self.name = name
    self.format = format
    self.command = command.split(separator: " ").map(String.init)
    self.more = more
    self.option = option
    self.isCMYK = isCMYK
    self.hasAlpha = hasAlpha
    self.frameCount = frameCount
  }

  /// The options with which vips saves the sample.
  let option: String

  func make(in folder: SampleFolder) throws {
    if command.contains("animation.gif[n=-1]") { try folder.makeAnimation() }
    if command.contains("picture.png") { try folder.makePicture() }
    if command.isEmpty { return try folder.makeAnimation(name) }
    try folder.make(name, command + [name + option] + more)
  }

  /// Adds metadata with an author and a place.
  func soil(in folder: SampleFolder) throws {
    let common = ["-m", "-overwrite_original", "-XMP:Creator=Eve", "-Comment=hello"]
    let others = ["-GPSLatitude=48.1", "-GPSLatitudeRef=N", "-IPTC:City=Wien", "-Make=Cam", "-Orientation#=6"]
    try folder.run(["exiftool"] + common + (format == .gif ? [] : others) + [name])
  }

  static let editable: [MediaSample] = [
    MediaSample("baseline.jpg", .jpeg, "vips copy picture.png"),
    MediaSample("progressive.jpg", .jpeg, "vips copy picture.png", option: "[interlace]"),
    MediaSample("restarts.jpg", .jpeg, "vips copy picture.png", option: "[restart_interval=2]"),
    MediaSample("gray.jpg", .jpeg, "vips colourspace picture.png", more: ["b-w"]),
    MediaSample("profile.jpg", .jpeg, "vips copy picture.png", option: "[profile=srgb]"),
    MediaSample("cmyk.jpg", .jpeg, "vips colourspace picture.png", more: ["cmyk"], isCMYK: true),
    MediaSample("ffmpeg.jpg", .jpeg, "ffmpeg -v error -i picture.png"),
    MediaSample("colors.png", .png, "vips copy picture.png"),
    MediaSample("palette.png", .png, "vips copy picture.png", option: "[palette]"),
    MediaSample("interlaced.png", .png, "vips copy picture.png", option: "[interlace,profile=srgb]"),
    MediaSample("deep.png", .png, "vips colourspace picture.png", more: ["rgb16"]),
    MediaSample("alpha.png", .png, "vips bandjoin_const picture.png", more: ["128"], hasAlpha: true),
    MediaSample(
      "seethrough.png", .png, "vips bandjoin_const picture.png", option: "[palette]", more: ["128"], hasAlpha: true),
    MediaSample("moving.apng", .png, "", hasAlpha: false, frameCount: 10),
    MediaSample("lossy.webp", .webp, "vips copy picture.png", option: "[strip]"),
    MediaSample("lossless.webp", .webp, "vips copy picture.png", option: "[lossless,profile=srgb]"),
    MediaSample("alpha.webp", .webp, "vips bandjoin_const picture.png", more: ["128"], hasAlpha: true),
    MediaSample(
      "bare.webp", .webp, "vips bandjoin_const picture.png", option: "[lossless,strip]", more: ["128"], hasAlpha: true),
    MediaSample("moving.webp", .webp, "vips copy animation.gif[n=-1]", hasAlpha: true, frameCount: 10),
    MediaSample("still.gif", .gif, "vips copy picture.png", hasAlpha: true),
    MediaSample("moving.gif", .gif, "", hasAlpha: true, frameCount: 10),
  ]

  static let boxed: [MediaSample] = [
    MediaSample("boxes.heic", .heic, "vips copy picture.png", option: "[compression=hevc]"),
    MediaSample("boxes.avif", .avif, "vips copy picture.png", option: "[compression=av1]"),
    MediaSample("alpha.avif", .avif, "vips bandjoin_const picture.png", more: ["128"], hasAlpha: true),
  ]
}
