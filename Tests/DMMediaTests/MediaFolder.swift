import DMModel
import FoundationEssentials
import Testing

@testable import DMMedia
@testable import DMSystem
@testable import TestSupport

/// A folder for images and videos.
final class MediaFolder: ToolFolder {
  /// Prepares a file as for sending.
  ///
  /// - Parameter hasTools: whether vips and ffmpeg are found.
  func prepare(
    _ name: String, _ options: PreparationOptions = PreparationOptions(), hasTools: Bool = true
  ) throws -> PreparedFile {
    let path = hasTools ? Tool.environmentPath : "/nowhere"
    return try Preparer(folder: self.path, options: options, progress: { _ in }, name: "it", searchPath: path)
      .prepare(file(name))
  }

  /// The private metadata that exiftool(1) finds; "" if there is none.
  func secrets(_ path: String) throws -> String {
    try run(
      "exiftool", "-q", "-q", "-ee", "-s", "-GPS*", "-Location*", "-Make", "-Model", "-Artist", "-Title", "-Comment*",
      "-XMP:all", "-CreateDate", "-DateTimeOriginal", "-Trailer:all", path
    )
  }

  /// Makes a test image with ffmpeg(1); the extension of the name determines the format.
  func picture(_ name: String, _ size: String, _ more: String...) throws {
    let arguments =
      ["-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size)", "-frames:v", "1"] + more + ["-y", name]
    _ = try tool("ffmpeg", Tool.Limits(memory: 2 << 30)).run(arguments)
  }

  func header(_ file: PreparedFile) throws -> ImageHeader? {
    try ImageHeader.read(file.path, as: file.format)
  }
}
