import Testing

@testable import DMMedia
@testable import TestSupport

struct MediaFormatTests {
  /// Names of files that ffmpeg makes, with the expected formats.
  @Test(arguments: [
    ("moving.mp4", MediaFormat.mp4), ("moving.mov", .quickTime), ("moving.webm", .webm), ("moving.mkv", .matroska),
    ("moving.avi", .avi), ("sound.mp3", .mp3), ("sound.m4a", .m4a), ("sound.mp4", .m4a), ("sound.aac", .aac),
    ("sound.ogg", .ogg), ("sound.opus", .ogg), ("sound.flac", .flac), ("sound.wav", .wav),
  ])
  func `video and audio formats are recognized by their content`(_ name: String, _ format: MediaFormat) throws {
    let folder = try SampleFolder()
    try folder.makeFilm(name)
    #expect(try folder.format(of: name) == format)
    #expect(format.fileExtensions.contains(name.split(separator: ".").last.map(String.init) ?? ""))
  }

  @Test(arguments: ["8000", "22050", "44100"])
  func `an MP3 without a tag is recognized`(_ frequency: String) throws {
    let folder = try SampleFolder()
    try folder.makeFilm("sound.mp3", ["-id3v2_version", "0", "-write_xing", "0", "-ar", frequency])
    #expect(try folder.bytes("sound.mp3").first == 0xFF)
    #expect(try folder.format(of: "sound.mp3") == .mp3)
  }

  @Test func `the format after an ID3 tag is recognized`() throws {
    let folder = try SampleFolder()
    let tag = Array("ID3\u{4}\0\0\0\0\0\u{5}hello".utf8)
    for (name, format) in [("sound.flac", MediaFormat.flac), ("sound.aac", .aac)] {
      try folder.makeFilm(name)
      #expect(MediaFormat.of(tag + (try folder.bytes(name))) == format)
    }
    #expect(MediaFormat.of(tag) == .mp3)
  }

  @Test(arguments: [
    ("%PDF-1.7\n", MediaFormat.pdf), ("PK\u{3}\u{4}", .zip), ("PK\u{5}\u{6}", .zip), ("GIF89a", .gif), ("GIF87a", .gif),
    ("RIFF\0\0\0\0WEBP", .webp), ("RIFF\0\0\0\0ACON", .binary), ("RIFF", .text),
    ("\0\0\0\u{10}ftypheic\0\0\0\0", .heic),
    ("\0\0\0\u{14}ftypmif1\0\0\0\0avif", .avif), ("\0\0\0\u{14}ftypmif1\0\0\0\0heic", .heic),
    ("\0\0\0\u{10}ftypavis\0\0\0\0", .avif), ("\0\0\0\u{10}ftypqt  \0\0\0\0", .quickTime),
    ("\0\0\0\u{10}ftypM4A \0\0\0\0", .m4a), ("\0\0\0\u{10}ftypisom\0\0\0\0", .mp4),
    ("\0\0\0\u{8}wide\0\0\0\u{8}moov", .quickTime), ("\0\0\0\u{8}wide\0\0\0\0moov", .quickTime),
    ("\0\0\0\u{8}wide\0\0\0\u{8}mdat", .binary),
    ("Get free wide skip", .text), ("The free lunch", .text),
  ])
  func `a file is recognized by its first bytes, whatever follows`(_ text: String, _ format: MediaFormat) {
    #expect(MediaFormat.of(Array(text.utf8)) == format)
    #expect(MediaFormat.of(Array(text.utf8) + Array("<script>".utf8)) == (format == .binary ? .binary : format))
  }

  @Test func `gzip is recognized`() throws {
    let folder = try SampleFolder()
    try folder.write(Array("text".utf8), "text")
    #expect(MediaFormat.of(try folder.run("gzip", "-c", "text")) == .gzip)
    #expect(MediaFormat.of([0x1F, 0x8B, 0x07]) == .binary)
  }

  @Test func `text is UTF-8 without control characters`() {
    for text in ["a", "a\tb\r\n\u{C}", "<svg/>", "\u{FEFF}wörd 日本 👩‍👩‍👧", "#!/bin/sh"] {
      #expect(MediaFormat.of(Array(text.utf8)) == .text, "\(text.debugDescription)")
    }
    for text in ["", "\0", "a\u{1B}[0m", "a\u{7F}", "a\u{85}b", "\u{8}"] {
      #expect(MediaFormat.of(Array(text.utf8)) == .binary, "\(text.debugDescription)")
    }
    let foreign: [[UInt8]] = [[0xFF, 0xFE, 0x61, 0], [0xE9], [0x61, 0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]]
    for bytes in foreign { #expect(MediaFormat.of(bytes) == .binary) }
  }

  @Test func `only the first 64 KiB of a text are checked, even if they end inside a character`() {
    let limit = 64 * 1024
    for character in ["é", "日", "👩"] {
      for count in (limit - 4)...limit {
        let text = String(repeating: "a", count: count) + character + String(repeating: "b", count: 9)
        #expect(MediaFormat.of(Array(text.utf8)) == .text)
      }
    }
    #expect(MediaFormat.of([UInt8](repeating: 0x61, count: limit) + [0]) == .text)
    #expect(MediaFormat.of([UInt8](repeating: 0x61, count: limit - 1) + [0]) == .binary)
    #expect(MediaFormat.of([UInt8](repeating: 0xFF, count: limit + 9)) == .binary)
  }

  @Test func `each format has its file extensions`() {
    for format in MediaFormat.allCases where format != .text && format != .binary {
      #expect(!format.fileExtensions.isEmpty)
    }
    #expect(MediaFormat.jpeg.fileExtensions.first == "jpg")
    #expect(MediaFormat.text.fileExtensions.isEmpty)
  }
}
