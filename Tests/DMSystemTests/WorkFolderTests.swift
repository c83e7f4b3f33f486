import FoundationEssentials
import Glibc
import Testing

@testable import DMModel
@testable import DMSystem
@testable import TestSupport

struct WorkFolderTests {
  /// Makes a work folder as a killed process leaves it.
  private func abandon(_ kind: WorkFolder.Kind, in folder: String) throws -> String {
    let path = try temporaryName(in: folder, kind.rawValue, isFolder: true)
    for name in ["", "/attachments", "/attachments/ab"] {
      try FileManager.default.createDirectory(atPath: path + name, withIntermediateDirectories: true)
      try Data("all texts".utf8).write(to: URL(filePath: path + name + "/file"))
    }
    return fileName(of: path)
  }

  private func names(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  @Test(arguments: [WorkFolder.Kind.attachment, .backup, .restore])
  func `an abandoned work folder is removed with its files, and one in use is not`(_ kind: WorkFolder.Kind) throws {
    let folder = try TemporaryFolder()
    let used = try WorkFolder(kind, in: folder.path)
    _ = try abandon(kind, in: folder.path)
    try WorkFolder.removeAbandoned(kind, in: folder.path)
    #expect(try names(folder.path) == [fileName(of: used.path)])
    _ = consume used
    #expect(try names(folder.path) == [])
  }

  @Test func `a folder, file or link that only resembles a work folder is not removed`() throws {
    let folder = try TemporaryFolder()
    let others = [".dm-backup-", ".dm-backup-of-mine", "dm-backup-aaaaaa", ".dm-backup-aaaaaaa"]
    for name in others {
      try FileManager.default.createDirectory(atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
    }
    try Data().write(to: URL(filePath: folder.path + "/.dm-backup-file00"))
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/.dm-backup-link00", withDestinationPath: folder.path + "/.dm-backup-of-mine")
    let before = try names(folder.path)
    for kind in [WorkFolder.Kind.backup, .restore, .attachment] {
      try WorkFolder.removeAbandoned(kind, in: folder.path)
    }
    #expect(try names(folder.path) == before)
  }

  @Test(.enabled(if: geteuid() == 0, "needs root"))
  func `a work folder of another user outside a store is not removed`() throws {
    let folder = try TemporaryFolder()
    let name = try abandon(.backup, in: folder.path)
    #expect(chown("\(folder.path)/\(name)", 65534, 65534) == 0)
    try WorkFolder.removeAbandoned(.backup, in: folder.path)
    #expect(try names(folder.path) == [name])
  }

  @Test func `an abandoned folder elsewhere is found by its link and removed with it`() throws {
    let (store, elsewhere) = (try TemporaryFolder(), try TemporaryFolder())
    let used = try WorkFolder(.backup, in: elsewhere.path, tracedIn: store.path)
    let abandoned = try abandon(.backup, in: elsewhere.path)
    try FileManager.default.createSymbolicLink(
      atPath: store.path + "/.trace-000000", withDestinationPath: "\(elsewhere.path)/\(abandoned)")
    #expect(try names(store.path).count == 2)
    try WorkFolder.removeAbandoned(tracedIn: store.path)
    #expect(try names(elsewhere.path) == [fileName(of: used.path)])
    #expect(try names(store.path).count == 1)
    _ = consume used
    #expect(try names(store.path) + names(elsewhere.path) == [])
  }

  @Test func `a link to anything other than a work folder removes nothing`() throws {
    let (store, elsewhere) = (try TemporaryFolder(), try TemporaryFolder())
    try Data().write(to: URL(filePath: elsewhere.path + "/kept"))
    try FileManager.default.createSymbolicLink(
      atPath: store.path + "/.trace-000000", withDestinationPath: elsewhere.path)
    try WorkFolder.removeAbandoned(tracedIn: store.path)
    #expect(try names(elsewhere.path) == ["kept"])
  }

  @Test func `an unreadable folder is an error, and so is a missing folder that is not optional`() throws {
    let folder = try TemporaryFolder()
    let file = folder.path + "/file"
    try Data().write(to: URL(filePath: file))
    #expect(try DMSystem.names(in: folder.path) == ["file"])
    #expect(try code { try DMSystem.names(in: file) } == .inputOutput)
    #expect(try code { try DMSystem.names(in: file, mayBeAbsent: true) } == .inputOutput)
    #expect(try code { try DMSystem.names(in: folder.path + "/absent") } == .inputOutput)
    #expect(try DMSystem.names(in: folder.path + "/absent", mayBeAbsent: true) == [])
  }
}
