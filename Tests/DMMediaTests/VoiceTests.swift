import Testing

@testable import DMMedia
@testable import DMModel
@testable import DMSystem
@testable import TestSupport

struct VoiceTests {
  let folder: MediaFolder
  let options: PreparationOptions

  init() throws {
    folder = try MediaFolder()
    var options = PreparationOptions()
    options.isVoice = true
    self.options = options
  }

  /// Makes a sound of three seconds; the second one is silent.
  private func sound(_ name: String, _ more: String...) throws {
    let outcome = try folder.tool("ffmpeg").run(
      [
        "-v", "error", "-f", "lavfi", "-i", "sine=frequency=300:duration=3", "-af",
        "volume=enable='between(t,1,2)':volume=0", "-ac", "2", "-metadata", "title=Secret",
      ] + more + ["-y", name])
    #expect(outcome.isOK)
  }

  @Test(arguments: ["wav", "mp3", "m4a", "ogg", "flac"])
  func `a sound becomes mono Opus without tags, with a waveform`(_ kind: String) throws {
    try sound("source.\(kind)")
    let file = try folder.prepare("source.\(kind)", options)
    #expect(file.kind == .voice)
    #expect(file.format == .ogg)
    #expect(file.advice == [])
    let duration = try #require(file.duration)
    #expect(abs(duration.microseconds - 3_000_000) < 200_000)
    let stream = try folder.run(
      "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,channels", "-of", "csv=p=0", file.path)
    #expect(stream == "opus,1\n")
    #expect(try !folder.bytes(of: file.path).contains("Secret".utf8))
    #expect(fileSize(file.path) < 20_000)
    let shape = try #require(file.waveform)
    #expect(shape.count == 64)
    #expect(shape.max() == 255)
    #expect(shape[2..<19].allSatisfy { $0 > 150 })
    #expect(shape[24..<40].allSatisfy { $0 < 30 })
    #expect(shape[45..<62].allSatisfy { $0 > 150 })
  }

  @Test func `the sound of a video becomes a voice message`() throws {
    try folder.run(
      "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x64:duration=1", "-f", "lavfi", "-i",
      "sine=duration=1", "source.mp4")
    #expect(try folder.prepare("source.mp4", options).kind == .voice)
  }

  @Test func `a file without sound cannot become a voice message`() throws {
    try folder.run("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x64:duration=1", "source.mp4")
    try folder.picture("source.png", "64x64")
    try folder.write("text".utf8, to: "source.txt")
    for name in ["source.mp4", "source.png", "source.txt"] {
      let error = #expect(throws: DMError.self) { try folder.prepare(name, options) }
      #expect(error?.code == .badAttachment)
      #expect(error?.message.hasPrefix("'it' cannot be made a voice message: ") == true)
    }
  }

  @Test func `without ffmpeg a voice message is sent as an audio file, with a warning`() throws {
    try sound("source.wav")
    let file = try folder.prepare("source.wav", options, hasTools: false)
    #expect(file.kind == .audio)
    #expect(file.path == folder.file("source.wav"))
    #expect(file.waveform == nil)
    #expect(file.advice == ["without ffmpeg no voice messages are made; install ffmpeg"])
  }
}
