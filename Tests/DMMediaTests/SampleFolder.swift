import Foundation
import Synchronization
import Testing

@testable import DMMedia
@testable import DMModel
@testable import DMSystem
@testable import TestSupport

/// A folder for sample files that vips, ffmpeg and exiftool make.
final class SampleFolder: TemporaryFolder {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private var url: URL { URL(filePath: path) }

  /// Runs a command in the folder and returns its output; a failed command is an error.
  @discardableResult
  func run(_ command: String, _ arguments: String...) throws -> [UInt8] { try run([command] + arguments) }

  @discardableResult
  func run(_ words: [String]) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = words
    process.currentDirectoryURL = url
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let output = Foundation.Pipe()
    process.standardOutput = output
    try process.run()
    let printed = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: "\(words.joined(separator: " ")): status \(process.terminationStatus)")
    }
    return Array(printed)
  }

  /// The files that commands have made, by command.
  private static let made = Mutex<[String: [UInt8]]>([:])

  /// Makes a file with a command, or writes the stored result of the same command, because most commands take longer
  /// than the tests.
  func make(_ name: String, _ words: [String]) throws {
    let key = words.joined(separator: " ")
    if let before = Self.made.withLock({ $0[key] }) { return try write(before, name) }
    try run(words)
    let bytes = try bytes(name)
    Self.made.withLock { $0[key] = bytes }
  }

  func path(_ name: String) -> String { url.appending(path: name).path }

  func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: url.appending(path: name))) }

  func write(_ bytes: [UInt8], _ name: String) throws { try Data(bytes).write(to: url.appending(path: name)) }

  /// Makes the image from which the samples are made: 67 by 45 pixels of many colors.
  func makePicture(_ name: String = "picture.png") throws {
    try make(name, ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=67x45", "-frames:v", "1", name])
  }

  /// Makes an animation of ten frames.
  func makeAnimation(_ name: String = "animation.gif") throws {
    let source = ["-f", "lavfi", "-i", "testsrc=size=67x45:rate=5", "-t", "2", "-f", format(name)]
    try make(name, ["ffmpeg", "-v", "error"] + source + [name])
  }

  /// Makes a video with a tone, or only the tone, of 1.5 seconds.
  func makeFilm(_ name: String, _ options: [String] = []) throws {
    let picture = ["-f", "lavfi", "-i", "testsrc=size=96x64:rate=10"]
    let tone = ["-f", "lavfi", "-i", "sine=frequency=440"]
    let inputs = name.hasPrefix("moving") ? picture + tone : tone
    let words = ["ffmpeg", "-v", "error"] + inputs + options + ["-t", "1.5", name]
    if options.isEmpty { try make(name, words) } else { try run(words) }
  }

  func film(_ name: String) throws -> MovieHeader? {
    let file = try MappedFile(path: path(name))
    return MovieHeader.read(file.bytes, as: MediaFormat.of(file.bytes))
  }

  private func format(_ name: String) -> String { name.split(separator: ".").last.map(String.init) ?? "" }

  /// Makes copies of a file, one for each Exif orientation.
  func turn(_ name: String, _ options: [String] = []) throws -> [(orientation: Int, name: String)] {
    let turned = (1...8).map { (orientation: $0, name: "\($0)-\(name)") }
    for (_, copy) in turned { try write(try bytes(name), copy) }
    let commands = turned.map {
      ["-m", "-overwrite_original"] + options + ["-Orientation#=\($0.orientation)", $0.name]
    }
    try run(["exiftool"] + commands.joined(separator: ["-execute"]))
    return turned
  }

  /// The tags that exiftool finds, as "group:tag", without those of the file itself, such as its size.
  func tags(_ name: String) throws -> Set<String> {
    let text = String(decoding: try run("exiftool", "-a", "-G1", "-s", "-n", name), as: UTF8.self)
    let tags = text.split(separator: "\n").compactMap { line -> String? in
      let words = line.split { " []:".contains($0) }
      return words.count < 2 || ["ExifTool", "System", "Composite"].contains(words[0])
        ? words.contains("Warning") || words.contains("Error") ? String(line) : nil : "\(words[0]):\(words[1])"
    }
    return Set(tags)
  }

  /// The pixels of all frames.
  func pixels(_ name: String) throws -> [UInt8] {
    let raw = "\(name).raw"
    let isAnimated = name.hasSuffix("gif") || name.hasSuffix("webp")
    if name.hasSuffix("apng") {
      return try run("ffmpeg", "-v", "error", "-f", "apng", "-i", name, "-f", "rawvideo", "-pix_fmt", "rgba", "-")
    }
    try run("vips", "rawsave", isAnimated ? "\(name)[n=-1]" : name, raw)
    return try bytes(raw)
  }

  /// Strips a file, and writes the result to another one.
  ///
  /// - Returns: the pieces of the result.
  @discardableResult
  func cut(_ name: String, to result: String, keepsOrientation: Bool = false) throws -> [StrippedImage.Piece] {
    let file = try MappedFile(path: path(name))
    let format = MediaFormat.of(file.bytes)
    let cut = try #require(StrippedImage.of(file.bytes, as: format, keepsOrientation: keepsOrientation))
    #expect(cut.isFullyParsed)
    try StrippedImage.write(cut.pieces, of: file, to: path(result))
    return cut.pieces
  }

  func header(_ name: String) throws -> ImageHeader? {
    let file = try MappedFile(path: path(name))
    return ImageHeader.read(file.bytes, as: MediaFormat.of(file.bytes))
  }

  func format(of name: String) throws -> MediaFormat {
    let file = try MappedFile(path: path(name))
    return .of(file.bytes)
  }

  /// The value of a field of the image, as vips reads it.
  func field(_ field: String, of name: String) throws -> Int? {
    let text = String(decoding: try run("vipsheader", "-f", field, name), as: UTF8.self)
    return Int(text.filter { $0 != "\n" })
  }
}

extension MediaFormat {
  static func of(_ bytes: [UInt8]) -> MediaFormat { bytes.withCheckedBytes { of($0) } }
}

extension ImageHeader {
  static func read(_ bytes: [UInt8], as format: MediaFormat) -> ImageHeader? {
    bytes.withCheckedBytes { read($0, as: format) }
  }
}

extension StrippedImage {
  /// The bytes of the stripped image; nil if it cannot be stripped.
  static func result(of bytes: [UInt8], as format: MediaFormat, keepsOrientation: Bool = false) -> [UInt8]? {
    let found = bytes.withCheckedBytes { of($0, as: format, keepsOrientation: keepsOrientation) }
    guard let found else { return nil }
    return found.pieces.flatMap { piece -> [UInt8] in
      switch piece {
      case .bytes(let added): added
      case .range(let range): Array(bytes[range])
      }
    }
  }
}

extension [UInt8] {
  /// Calls `body` with the bytes, as with those of a mapped file.
  func withCheckedBytes<Result>(_ body: (CheckedBytes) throws -> Result) rethrows -> Result {
    try withUnsafeBytes { try body(CheckedBytes($0)) }
  }
}
