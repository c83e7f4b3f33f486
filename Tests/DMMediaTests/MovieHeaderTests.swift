import Testing

@testable import DMMedia
@testable import DMModel
@testable import TestSupport

struct MovieHeaderTests {
  @Test(arguments: ["moving.mp4", "moving.mov", "sound.m4a", "sound.wav"])
  func `what is read from the header of a video or sound agrees with ffprobe`(_ name: String) throws {
    let folder = try SampleFolder()
    try folder.makeFilm(name)
    let header = try #require(try folder.film(name))
    let isAnimated = name.hasPrefix("moving")
    #expect(header.hasVideo == isAnimated)
    #expect(header.width == (isAnimated ? 96 : nil))
    #expect(header.height == (isAnimated ? 64 : nil))
    let probed = try folder.run(
      "ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", name)
    let seconds = try #require(Double(String(decoding: probed, as: UTF8.self).filter { $0 != "\n" }))
    #expect(abs(try #require(header.duration) / .seconds(1) - seconds) < 0.002)
  }

  @Test(arguments: ["90", "180", "270"])
  func `the size of a rotated video is its displayed size`(_ degrees: String) throws {
    let folder = try SampleFolder()
    try folder.makeFilm("moving.mp4")
    try folder.run(
      "ffmpeg", "-v", "error", "-i", "moving.mp4", "-c", "copy", "-metadata:s:v:0", "rotate=\(degrees)", "turned.mp4")
    let header = try #require(try folder.film("turned.mp4"))
    #expect(header.width == (degrees == "180" ? 96 : 64))
    #expect(header.height == (degrees == "180" ? 64 : 96))
  }

  @Test func `a WAV without a valid data length has the duration of its data`() throws {
    let folder = try SampleFolder()
    try folder.makeFilm("sound.wav")
    var bytes = try folder.bytes("sound.wav")
    let expected = try #require(try folder.film("sound.wav")).duration
    let size = try #require(offsets(of: Array("data".utf8), in: bytes).first) + 4
    bytes.replaceSubrange(size..<size + 4, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(bytes.withCheckedBytes { MovieHeader.read($0, as: .wav) }?.duration == expected)
  }

  @Test func `bytes that are not a video have no header`() {
    #expect([UInt8]().withCheckedBytes { MovieHeader.read($0, as: .mp4) } == nil)
    #expect([UInt8](repeating: 0, count: 100).withCheckedBytes { MovieHeader.read($0, as: .webm) } == nil)
  }

  @Test func `an impossible duration is nil`() throws {
    let folder = try SampleFolder()
    try folder.makeFilm("moving.mp4")
    let bytes = try folder.bytes("moving.mp4")
    // After the name are a version and flags, two times, the time scale, and the duration in units of the time scale.
    let scale = try #require(offsets(of: Array("mvhd".utf8), in: bytes).first) + 4 + 4 + 8
    func duration(_ scale: [UInt8], _ count: [UInt8], at offset: Int) -> Duration? {
      var bytes = bytes
      bytes.replaceSubrange(offset..<offset + 8, with: scale + count)
      return bytes.withCheckedBytes { MovieHeader.read($0, as: .mp4) }?.duration
    }
    #expect(duration([0, 0, 0, 4], [0, 0, 0, 5], at: scale) == .milliseconds(1250))
    #expect(duration([0, 0, 0, 4], [0, 0, 0, 0], at: scale) == nil)
    #expect(duration([0, 0, 0, 0], [0, 0, 0, 5], at: scale) == nil)
    #expect(duration([0, 0, 0, 1], [0x7F, 0xFF, 0xFF, 0xFF], at: scale) == nil)
    #expect(duration([0, 0, 0, 9], [0xFF, 0xFF, 0xFF, 0xFF], at: scale) == nil)
  }
}
