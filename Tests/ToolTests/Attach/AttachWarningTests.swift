import Foundation
import Testing

/// Files whose metadata may contain a location, and which are sent unchanged.
@Suite struct AttachWarningTests {
  static let files: [(name: String, bytes: [UInt8])] = [
    ("photo.tif", Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0, 1, 3, 0, 1, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0]),
    ("film.flv", Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]),
  ]

  @Test(arguments: files.indices)
  func `dm-attach warns of a file whose metadata it keeps, except with --as-file or --keep-metadata`(index: Int) throws
  {
    let f = try ToolFixture()
    try f.addUsers("alice")
    let (name, bytes) = Self.files[index]
    let path = "\(f.directory)/\(name)"
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let warned = try f.done("dm-attach", [path], as: "alice")
    #expect(warned.stderr == "dm-attach: '\(name)' keeps its metadata, which may tell where it was taken\n")
    #expect(!warned.output.isEmpty)
    for option in ["--as-file", "--keep-metadata"] {
      #expect(try f.done("dm-attach", [option, path], as: "alice").stderr.isEmpty, "\(option)")
    }
  }
}
