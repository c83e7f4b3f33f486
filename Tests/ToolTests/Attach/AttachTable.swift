import Testing

/// A file, the script that makes it, and the expected attachment with and without external tools such as ffmpeg.
struct AttachRow: Sendable, CustomTestStringConvertible {
  /// The properties of the attachment that are compared.
  struct Result: Sendable {
    var kind = "image"
    var type = "image/jpeg"
    /// The width and height of the image as it is shown.
    var size: String?
    var hasThumbnail = false
    var hasDuration = false
    /// The code of the error, if the file is refused.
    var refusal: String?
    /// Whether the receiver gets the same bytes.
    var isUnchanged = false
    /// Whether the file keeps its location; a warning must say so.
    var keepsLocation = false
  }

  let file: String
  /// A script of sh(1) for a folder with `upright.png`, an image of 120 by 80 pixels that is red at the upper left.
  let make: String
  let withTools: Result
  let without: Result
  var options: [String] = []

  var testDescription: String { "\(file) \(options.joined(separator: " "))" }

  static let location = """
    exiftool -q -overwrite_original -GPSLatitude=48.1 -GPSLatitudeRef=N -GPSLongitude=11.5 -GPSLongitudeRef=E \
    -XMP:Creator=alice -Artist=alice -Comment=home
    """

  /// A photo with an orientation in its metadata; `undo` turns the pixels the opposite way, so it is shown upright.
  private static func turned(_ orientation: Int, _ ending: String, _ undo: String, _ type: String) -> AttachRow {
    let file = "turned-\(orientation).\(ending)"
    let make =
      "cp upright.png a.png; \(undo); vips copy a.png \(file)\(ending == "png" ? "" : "[Q=95]"); \(location) -Orientation#=\(orientation) \(file)"
    let result = Result(type: type, size: "120x80")
    var seen = result
    seen.hasThumbnail = true
    return AttachRow(file: file, make: make, withTools: seen, without: result)
  }

  private static let undoings = [
    ":", "vips flip a.png b.png horizontal && mv b.png a.png", "vips rot a.png b.png d180 && mv b.png a.png",
    "vips flip a.png b.png vertical && mv b.png a.png",
    "vips rot a.png c.png d90 && vips flip c.png b.png horizontal && mv b.png a.png",
    "vips rot a.png b.png d270 && mv b.png a.png",
    "vips rot a.png c.png d270 && vips flip c.png b.png horizontal && mv b.png a.png",
    "vips rot a.png b.png d90 && mv b.png a.png",
  ]

  static let photos =
    undoings.enumerated().map { turned($0 + 1, "jpg", $1, "image/jpeg") }
    + [6, 3].flatMap {
      [turned($0, "png", undoings[$0 - 1], "image/png"), turned($0, "webp", undoings[$0 - 1], "image/webp")]
    }

  private static func image(
    _ file: String, _ make: String, _ type: String, _ size: String, without: (inout Result) -> Void = { _ in }
  ) -> AttachRow {
    var plain = Result(type: type, size: size)
    let seen = Result(type: type, size: size, hasThumbnail: true)
    without(&plain)
    return AttachRow(file: file, make: make, withTools: seen, without: plain)
  }

  static let images = [
    image(
      "large.jpg", "vips resize upright.png large.jpg[Q=90] 25; \(location) -Orientation#=6 large.jpg", "image/jpeg",
      "1365x2048"
    ) {
      $0.size = "2000x3000"
    },
    image("cmyk.jpg", "vips colourspace upright.png cmyk.jpg cmyk; \(location) cmyk.jpg", "image/jpeg", "120x80"),
    image("deep.png", "vips colourspace upright.png deep.png rgb16; \(location) deep.png", "image/png", "120x80"),
    image(
      "large-deep.png",
      "vips colourspace upright.png a.v rgb16; vips resize a.v large-deep.png 20; \(location) large-deep.png",
      "image/png", "2048x1365"
    ) { $0.size = "2400x1600" },
    image(
      "moving.gif",
      "ffmpeg -v error -f lavfi -i testsrc=size=120x80:rate=5 -t 1 moving.gif; exiftool -q -overwrite_original -Comment=home moving.gif",
      "image/gif", "120x80"),
    image(
      "large-moving.gif", "ffmpeg -v error -f lavfi -i testsrc=size=2400x1600:rate=2 -t 1 large-moving.gif",
      "image/gif",
      "2048x1365"
    ) { $0.size = "2400x1600" },
    image("photo.heic", "vips heifsave upright.png photo.heic; \(location) photo.heic", "image/jpeg", "120x80") {
      ($0.type, $0.isUnchanged, $0.keepsLocation) = ("image/heic", true, true)
    },
    image(
      "photo.avif", "vips heifsave upright.png photo.avif --compression av1; \(location) photo.avif", "image/jpeg",
      "120x80"
    ) {
      ($0.type, $0.isUnchanged, $0.keepsLocation) = ("image/avif", true, true)
    },
    image("a-png-called.jpg", "cp upright.png a-png-called.jpg", "image/png", "120x80"),
    image(
      "photo-and-archive.jpg",
      "vips copy upright.png photo-and-archive.jpg; \(location) photo-and-archive.jpg; printf 'PK\\003\\004<script>alert(1)</script>' >>photo-and-archive.jpg",
      "image/jpeg", "120x80"),
    image(
      "picture-and-page.gif",
      "vips copy upright.png picture-and-page.gif; printf '*/=1;alert(1)//<html>' >>picture-and-page.gif",
      "image/gif", "120x80"),
    image(
      "half.jpg",
      "vips copy upright.png a.jpg[Q=98]; \(location) a.jpg; head -c -300 a.jpg >half.jpg",
      "image/jpeg", "120x80"),
  ]

  private static let refused = Result(refusal: "bad_attachment")
  private static func file(_ type: String, kind: String = "file") -> Result {
    Result(kind: kind, type: type, isUnchanged: true)
  }
  private static func same(_ file: String, _ make: String, _ result: Result, _ options: [String] = []) -> AttachRow {
    AttachRow(file: file, make: make, withTools: result, without: result, options: options)
  }

  static let others = [
    same("nothing", ": >nothing", file("application/octet-stream")),
    same("nothing.jpg", ": >nothing.jpg", file("application/octet-stream")),
    same("words-called.png", "echo hello >words-called.png", file("text/plain")),
    same("bomb.png", "vips black 'bomb.png[compression=1,bitdepth=1]' 50000 50000", refused),
    same("begin.png", "head -c 20 upright.png >begin.png", refused),
    same("turned-6.jpg", "", file("image/jpeg"), ["--as-file"]),
    same("bomb.png", "", file("image/png"), ["--as-file"]),
    AttachRow(
      file: "film.mp4",
      make:
        "ffmpeg -v error -f lavfi -i testsrc=size=96x64:rate=10 -f lavfi -i sine -t 1 a.mp4; ffmpeg -v error -i a.mp4 -c copy -metadata location=+48.1+011.5/ -metadata:s:v:0 rotate=90 film.mp4",
      withTools: Result(kind: "video", type: "video/mp4", size: "64x96", hasThumbnail: true, hasDuration: true),
      without: Result(
        kind: "video", type: "video/mp4", size: "64x96", hasDuration: true)),
    // ffmpeg does not write PCM audio into an MP4 file, so the metadata is removed in place.
    AttachRow(
      file: "with-pcm.mp4",
      make:
        "ffmpeg -v error -f lavfi -i testsrc=size=96x64:rate=10 -f lavfi -i sine -t 1 -c:a pcm_s16le -metadata location=+48.1+011.5/ a.mov; (head -c 8 a.mov; printf isom; tail -c +13 a.mov) >with-pcm.mp4",
      withTools: Result(kind: "video", type: "video/mp4", size: "96x64", hasThumbnail: true, hasDuration: true),
      without: Result(kind: "video", type: "video/mp4", size: "96x64", hasDuration: true)),
    AttachRow(
      file: "film.webm",
      make: "ffmpeg -v error -f lavfi -i testsrc=size=96x64:rate=10 -t 1 -c:v libvpx -metadata title=home film.webm",
      withTools: Result(kind: "video", type: "video/webm", size: "96x64", hasThumbnail: true, hasDuration: true),
      without: Result(kind: "video", type: "video/webm", isUnchanged: true, keepsLocation: true)),
    AttachRow(
      file: "film.avi", make: "ffmpeg -v error -f lavfi -i testsrc=size=96x64:rate=10 -t 1 film.avi",
      withTools: Result(kind: "video", type: "video/mp4", size: "96x64", hasThumbnail: true, hasDuration: true),
      without: Result(kind: "video", type: "video/x-msvideo", isUnchanged: true, keepsLocation: true),
      options: ["--transcode", "300k"]),
    AttachRow(
      file: "tone.mp3", make: "ffmpeg -v error -f lavfi -i sine -t 1 tone.mp3",
      withTools: Result(kind: "audio", type: "audio/mpeg", hasDuration: true, isUnchanged: true),
      without: Result(kind: "audio", type: "audio/mpeg", isUnchanged: true)),
    AttachRow(
      file: "speech.wav", make: "ffmpeg -v error -f lavfi -i sine -t 1 speech.wav",
      withTools: Result(kind: "voice", type: "audio/ogg", hasDuration: true),
      without: Result(kind: "audio", type: "audio/wav", hasDuration: true, isUnchanged: true), options: ["--voice"]),
  ]
}
