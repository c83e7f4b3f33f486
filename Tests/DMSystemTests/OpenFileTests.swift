import FoundationEssentials
import Testing

@testable import DMModel
@testable import DMSystem
@testable import TestSupport

struct OpenFileTests {
  private func open(_ path: String, for purpose: OpenFile.Purpose) throws(DMError) -> OpenFile {
    try OpenFile(path, for: purpose) { fileError($0.isAbsence ? .unknownFile : .inputOutput, "open", path, $0) }
  }

  @Test func `a file that is created can be written, synced and read`() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    do {
      let file = try open(folder.path + "/file", for: .creating)
      try file.write(Array("abcdef".utf8))
      file.seek(to: 2)
      try file.write(Array("X".utf8))
      try file.sync()
    }
    let file = try open(folder.path + "/file", for: .reading)
    let (start, rest, status) = (file.read(4), file.read(4), try file.status())
    #expect(start == Array("abXd".utf8))
    #expect(rest == Array("ef".utf8))
    #expect(status.size == 6 && status.permissions == 0o600)
  }

  @Test func `creating refuses an existing file, and creatingOrEmptying empties it`() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let path = folder.path + "/file"
    try Data("text".utf8).write(to: URL(filePath: path))
    #expect(try fault { _ = try open(path, for: .creating) }?.message == "cannot open '\(path)': File exists")
    #expect(fileSize(path) == 4)
    _ = try open(path, for: .creatingOrEmptying)
    #expect(fileSize(path) == 0)
  }

  @Test(arguments: [OpenFile.Purpose.readingItself, .writing, .readingAndWriting, .creating, .creatingOrEmptying])
  func `a symbolic link is an error unless links are followed`(_ purpose: OpenFile.Purpose) throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let (path, link) = (folder.path + "/file", folder.path + "/link")
    try Data("text".utf8).write(to: URL(filePath: path))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    #expect(try code { _ = try open(link, for: purpose) } == .inputOutput)
    let text = try open(link, for: .reading).read(9)
    #expect(text == Array("text".utf8))
    #expect(fileSize(path) == 4)
  }

  @Test func `an absent file cannot be opened, and a folder can be neither written nor read`() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    #expect(try code { _ = try open(folder.path + "/none", for: .reading) } == .unknownFile)
    #expect(try code { _ = try open(folder.path, for: .writing) } == .inputOutput)
    let bytes = try open(folder.path, for: .reading).read(9)
    #expect(bytes == nil)
  }
}
