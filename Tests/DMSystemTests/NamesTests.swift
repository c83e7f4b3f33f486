import FoundationEssentials
import Testing

@testable import DMModel
@testable import DMSystem
@testable import TestSupport

struct NamesTests {
  private func make(_ path: String, _ text: String = "") throws { try Data(text.utf8).write(to: URL(filePath: path)) }

  @Test func `creating a folder or a file returns whether it already existed`() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let creations: [(name: String, create: (String) -> Creation)] = [
      ("folder", { createFolder($0) }), ("file", createFile),
    ]
    for (name, create) in creations {
      let path = "\(folder.path)/\(name)"
      guard case .made = create(path), case .existed = create(path) else {
        Issue.record("'\(path)' was not created, or was created twice")
        return
      }
      guard case .failed(.notFound) = create("\(folder.path)/none/x") else {
        Issue.record("creating '\(folder.path)/none/x' did not fail")
        return
      }
    }
  }

  @Test func `a folder that is moved replaces an empty folder, but not a full one`() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let (new, old) = (folder.path + "/new", folder.path + "/old")
    for path in [new, old] { _ = createFolder(path) }
    try make(old + "/file")
    #expect(try !moveFolder(new, to: old))
    removeFile(old + "/file")
    #expect(try moveFolder(new, to: old))
    #expect(FileStatus(new) == nil && FileStatus(old)?.kind == .folder)
    #expect(try code { _ = try moveFolder(new, to: old) } == .cannotCreate)
  }

  @Test func `a link does not replace an existing file, and a move does`() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let (new, old) = (folder.path + "/new", folder.path + "/old")
    try make(new, "new")
    try make(old, "old one")
    #expect(throws: SystemFailure.exists) { try linkFile(new, as: old) }
    #expect(fileSize(old) == 7)
    try moveFile(new, to: old)
    #expect(fileSize(old) == 3 && !fileExists(new))
  }

  @Test func `the nearest existing parent folder of a path is found`() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    #expect(nearestExisting(folder.path + "/a/b/c") == folder.path)
    #expect(nearestExisting(folder.path) == folder.path)
    #expect(nearestExisting("no-such-folder/a") == ".")
  }
}
