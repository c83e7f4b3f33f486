import Testing

@testable import DMMedia
@testable import DMModel
@testable import DMSystem
@testable import TestSupport

struct MoviePreparationTests {
  let folder: MediaFolder

  init() throws { folder = try MediaFolder() }

  static let missing =
    "without ffmpeg videos have no thumbnails, and sounds may have no duration; install ffmpeg"

  /// Makes a video with tags of all kinds; the extension of the name determines the format.
  private func film(_ name: String, _ size: String = "640x360", seconds: Int = 3, _ more: String...) throws {
    let input = [
      "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=10:duration=\(seconds)", "-f", "lavfi", "-i",
      "sine=duration=\(seconds)", "-metadata", "title=Secret", "-metadata", "location=+48.8577+002.295/", "-metadata",
      "creation_time=2020-01-02T03:04:05Z", "-metadata:s:v", "title=Secret", "-metadata:s:a", "title=Secret",
    ]
    let outcome = try folder.tool("ffmpeg", .init(memory: 4 << 30)).run(input + more + ["-y", name])
    #expect(outcome.isOK)
  }

  /// A hash of the video and audio streams, which ffmpeg(1) makes.
  private func frames(_ path: String) throws -> String {
    try folder.run("ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-map", "0:a", "-c", "copy", "-f", "md5", "-")
  }

  private func tags(_ path: String) throws -> String {
    try folder.run("ffprobe", "-v", "error", "-show_entries", "format_tags:stream_tags", "-of", "flat", path)
  }

  private func expect(_ file: PreparedFile, width: Int, height: Int, seconds: Double, thumbnail: [Int]) throws {
    #expect(file.kind == .video)
    #expect([file.width, file.height] == [width, height])
    let duration = try #require(file.duration)
    #expect(abs(Double(duration.microseconds) / 1_000_000 - seconds) < 0.2)
    let small = try #require(file.thumbnail)
    #expect(small.format == .jpeg)
    #expect([small.width, small.height] == thumbnail)
    #expect(try folder.secrets(small.path) == "")
    #expect(file.advice == [])
  }

  @Test(arguments: [
    ("mp4", MediaFormat.mp4), ("mov", .quickTime), ("webm", .webm), ("mkv", .matroska), ("avi", .avi),
  ])
  func `a video keeps its streams and loses its tags`(_ kind: String, _ format: MediaFormat) throws {
    try film("source.\(kind)")
    #expect(try tags(folder.file("source.\(kind)")).contains("Secret"))
    let file = try folder.prepare("source.\(kind)")
    #expect(file.format == format)
    try expect(file, width: 640, height: 360, seconds: 3, thumbnail: [320, 180])
    let left = try tags(file.path)
    for secret in ["Secret", "48.8", "2020"] { #expect(!left.contains(secret)) }
    #expect(try folder.secrets(file.path).replacing(" 0000:00:00 00:00:00", with: "").contains("Secret") == false)
    if format != .avi { #expect(try frames(file.path) == frames(folder.file("source.\(kind)"))) }
  }

  @Test func `with keepsMetadata a video is sent unchanged`() throws {
    try film("source.mp4")
    var options = PreparationOptions()
    options.keepsMetadata = true
    let file = try folder.prepare("source.mp4", options)
    #expect(file.path == folder.file("source.mp4"))
    try expect(file, width: 640, height: 360, seconds: 3, thumbnail: [320, 180])
  }

  @Test func `the size of a video takes its rotation and pixel aspect ratio into account`() throws {
    try film("upright.mp4", "640x360", seconds: 1, "-vf", "setsar=4/3")
    try folder.run(
      "ffmpeg", "-v", "error", "-i", "upright.mp4", "-c", "copy", "-metadata:s:v:0", "rotate=90", "source.mp4")
    let file = try folder.prepare("source.mp4")
    try expect(file, width: 360, height: 853, seconds: 1, thumbnail: [135, 320])
  }

  @Test func `subtitle and data streams are removed`() throws {
    try film("film.mp4", "64x64", seconds: 1)
    try folder.write("1\n00:00:00,000 --> 00:00:01,000\nSecret\n".utf8, to: "where.srt")
    try folder.run(
      "ffmpeg", "-v", "error", "-i", "film.mp4", "-i", "where.srt", "-map", "0", "-map", "1", "-c", "copy", "-c:s",
      "mov_text", "source.mp4")
    let file = try folder.prepare("source.mp4")
    let kinds = try folder.run(
      "ffprobe", "-v", "error", "-show_entries", "stream=codec_type", "-of", "csv=p=0", file.path)
    #expect(kinds == "video\naudio\n")
    #expect(try !folder.bytes(of: file.path).contains("Secret".utf8))
  }

  @Test func `a video is scaled and encoded again if a bitrate is given`() throws {
    try film("source.webm", "2001x1002", seconds: 2)
    var options = PreparationOptions()
    options.videoBitrate = 300
    let file = try folder.prepare("source.webm", options)
    #expect(file.format == .mp4)
    try expect(file, width: 1920, height: 962, seconds: 2, thumbnail: [320, 160])
    let streams = try folder.run(
      "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,pix_fmt", "-of", "csv=p=0", file.path)
    #expect(streams == "h264,yuv420p\naac\n")
    #expect(fileSize(file.path) < 2 * (300 + 128) * 1000 / 8 * 2)
    let index = try folder.bytes(of: file.path)
    #expect(
      try #require(index.firstRange(of: "moov".utf8)).lowerBound
        < #require(index.firstRange(of: "mdat".utf8)).lowerBound)
  }

  @Test func `encoding reports its progress, and the caller can stop it`() throws {
    struct Stopped: Error {}
    try film("source.mp4", "1280x720", seconds: 60, "-preset", "ultrafast")
    var options = PreparationOptions()
    options.videoBitrate = 1000
    var reports: [String] = []
    let preparer = Preparer(
      folder: folder.path, options: options,
      progress: {
        reports.append($0)
        if $0.hasPrefix("converting "), $0 != "converting 0 %" { throw Stopped() }
      })
    #expect(throws: Stopped.self) { try preparer.prepare(folder.file("source.mp4")) }
    #expect(reports.last?.hasSuffix(" %") == true)
  }

  @Test func `a video file without moving images is audio, even with a cover image`() throws {
    try folder.picture("cover.jpg", "64x64")
    try folder.run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=2", "sound.wav")
    try folder.run(
      "ffmpeg", "-v", "error", "-i", "sound.wav", "-i", "cover.jpg", "-map", "0", "-map", "1", "-c:v", "copy",
      "-disposition:v", "attached_pic", "source.mp4")
    try folder.run("ffmpeg", "-v", "error", "-i", "sound.wav", "source.webm")
    for (name, format) in [("source.mp4", MediaFormat.m4a), ("source.webm", .webm)] {
      let file = try folder.prepare(name)
      #expect(file.kind == .audio)
      #expect(file.format == format)
      #expect(file.path == folder.file(name))
      #expect(file.thumbnail == nil)
      #expect(file.width == nil)
      #expect(file.advice == [])
    }
  }

  @Test(arguments: ["mp3", "m4a", "aac", "ogg", "flac", "wav"])
  func `an audio file is not changed, and its duration is read`(_ kind: String) throws {
    try folder.run(
      "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=2", "-metadata", "title=Kept", "source.\(kind)")
    let file = try folder.prepare("source.\(kind)")
    #expect(file.kind == .audio)
    #expect(file.path == folder.file("source.\(kind)"))
    #expect(file.advice == [])
    let duration = try #require(file.duration)
    #expect(abs(duration.microseconds - 2_000_000) < 200_000)
  }

  @Test func `without ffmpeg a video gets size and duration from its header, and a warning`() throws {
    try film("source.mp4")
    let file = try folder.prepare("source.mp4", hasTools: false)
    #expect(file.kind == .video)
    #expect(file.path == folder.file("source.mp4"))
    #expect([file.width, file.height] == [640, 360])
    #expect(file.duration != nil)
    #expect(file.thumbnail == nil)
    #expect(file.advice == [Self.missing])
    try folder.run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=2", "source.m4a")
    #expect(try folder.prepare("source.m4a", hasTools: false).advice == [])
    try folder.run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=2", "source.mp3")
    #expect(try folder.prepare("source.mp3", hasTools: false).advice == [Self.missing])
  }

  @Test func `a video that ffmpeg cannot read is sent unchanged, with the error of ffmpeg as a warning`() throws {
    try film("whole.mp4", "64x64", seconds: 1)
    try folder.write(try folder.bytes(of: "whole.mp4").prefix(2000), to: "source.mp4")
    let file = try folder.prepare("source.mp4")
    #expect(file.kind == .video)
    #expect(file.path == folder.file("source.mp4"))
    #expect(file.advice.count == 2)
    #expect(file.advice.first?.hasPrefix("'it' has no thumbnail: ") == true)
    #expect(file.advice.last == "'it' keeps its metadata, which may tell where it was taken")
  }

  static let kept = "'it' keeps its metadata, which may tell where it was taken"

  @Test func `without ffmpeg an MP4 with invalid boxes gives a warning unless its metadata is to be kept`()
    throws
  {
    try film("source.mp4", "64x64", seconds: 1)
    let whole = try folder.bytes(of: "source.mp4")
    // The offsets of boxes whose sizes are made invalid.
    let offsets = [0] + ["moov", "stbl", "stts"].compactMap { whole.firstRange(of: $0.utf8).map { $0.lowerBound - 4 } }
    #expect(offsets.count == 4)
    for offset in offsets {
      var bytes = whole
      bytes[offset] = 0x40
      try folder.write(bytes, to: "source.mp4")
      let file = try folder.prepare("source.mp4", hasTools: false)
      #expect(file.advice == [Self.missing, Self.kept], "\(offset)")
      var options = PreparationOptions()
      options.keepsMetadata = true
      #expect(try folder.prepare("source.mp4", options, hasTools: false).advice == [Self.missing])
    }
    try film("other.webm", "64x64", seconds: 1)
    #expect(try folder.prepare("other.webm", hasTools: false).advice == [Self.missing, Self.kept])
  }

  @Test func `without ffmpeg subtitles, handler names and tags in fragments are removed from an MP4`() throws {
    try film("film.mp4", "64x64", seconds: 2)
    try folder.write("1\n00:00:00,000 --> 00:00:01,000\nWhere it was\n".utf8, to: "where.srt")
    try folder.run(
      "ffmpeg", "-v", "error", "-i", "film.mp4", "-i", "where.srt", "-map", "0", "-map", "1", "-c", "copy", "-c:s",
      "mov_text", "-metadata:s:v", "handler_name=Secret camera", "source.mp4")
    #expect(try folder.bytes(of: "source.mp4").contains("Where it was".utf8))
    #expect(try folder.bytes(of: "source.mp4").contains("Secret camera".utf8))
    let before = try frames(folder.file("source.mp4"))
    let file = try folder.prepare("source.mp4", hasTools: false)
    #expect(file.advice == [Self.missing])
    let left = try folder.bytes(of: file.path)
    #expect(!left.contains("Where it was".utf8) && !left.contains("Secret".utf8) && !left.contains("VideoHandler".utf8))
    #expect(try frames(file.path) == before)
    try folder.run(
      "ffmpeg", "-v", "error", "-i", "film.mp4", "-c", "copy", "-movflags", "frag_keyframe+empty_moov", "fragments.mp4")
    let fragments = try folder.prepare("fragments.mp4", hasTools: false)
    #expect(fragments.advice == [Self.missing])
    #expect(try !folder.bytes(of: fragments.path).contains("Secret".utf8))
  }

  @Test(arguments: [true, false]) func `a file that may contain a GPS position gives a warning`(hasTools: Bool) throws {
    try folder.picture("source.tiff", "64x64")
    try film("source.ts", "64x64", seconds: 1)
    try film("source.flv", "64x64", seconds: 1, "-ar", "44100")
    try folder.run("sh", "-c", "printf '\\0\\0\\0\\020free\\0\\0\\0\\0GPS!' >source.bin")
    try folder.write("just text".utf8, to: "source.txt")
    for name in ["source.tiff", "source.ts", "source.flv", "source.bin", "source.txt"] {
      let file = try folder.prepare(name, hasTools: hasTools)
      #expect(file.kind == .file)
      #expect(file.advice == (name == "source.txt" ? [] : [Self.kept]), "\(name)")
      var options = PreparationOptions()
      options.keepsMetadata = true
      #expect(try folder.prepare(name, options, hasTools: hasTools).advice == [])
      options.asFile = true
      #expect(try folder.prepare(name, options, hasTools: hasTools).advice == [])
    }
  }

  @Test func `an MP4 that begins with a metadata box is recognized, and the box is removed`() throws {
    try film("film.mp4", "64x64", seconds: 1)
    let metadata: [UInt8] = [0, 0, 0, 40] + Array("uuid0123456789abcdefGPS 48.8577 2.29".utf8)
    try folder.write(metadata + folder.bytes(of: "film.mp4"), to: "source.mp4")
    for hasTools in [true, false] {
      let file = try folder.prepare("source.mp4", hasTools: hasTools)
      #expect(file.kind == .video && file.format == .mp4)
      #expect(try !folder.bytes(of: file.path).contains("48.8577".utf8))
    }
  }

  @Test func `an audio file with a GPS position gives a warning`() throws {
    try folder.run(
      "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=duration=1", "-metadata", "location=+48.8577+002.295/", "-f",
      "mov", "source.m4a")
    let file = try folder.prepare("source.m4a")
    #expect(file.kind == .audio && file.advice == [Self.kept])
    var options = PreparationOptions()
    options.keepsMetadata = true
    #expect(try folder.prepare("source.m4a", options).advice == [])
  }

  @Test func `a playlist does not make ffmpeg read other files`() throws {
    try film("secret.mp4", "64x64", seconds: 1)
    let list = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nfile://\(folder.file("secret.mp4"))\n#EXT-X-ENDLIST\n"
    try folder.write(list.utf8, to: "source.m3u8")
    // The playlist is not opened, whichever format it is taken for.
    for format in MediaFormat.allCases where [.video, .audio].contains(format.kind) {
      var outcome = Tool.Outcome.missing
      let bench = ToolContext(folder: folder.path, searchPath: Tool.environmentPath, progress: { _ in })
      let header = try MovieTool(bench: bench).probe("source.m3u8", format, &outcome)
      #expect(header?.hasVideo != true)
    }
  }
}
