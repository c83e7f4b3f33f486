import DMMedia
import DMStore
import FoundationEssentials
import Glibc
import Testing

@testable import DMKit
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

struct AttachmentFilesTests {
  private func prepare(_ path: String, in store: TemporaryStore) throws -> Messenger.Prepared {
    try store.messenger("alice").prepare(.file(path))
  }

  @Test func `preparing a file that is not regular fails at once`() throws {
    let store = try TemporaryStore()
    let pipe = try store.elsewhere("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    for path in [pipe, store.location.directory, "/dev/zero", "/dev/null"] {
      let fault = try fault { try prepare(path, in: store) }
      #expect(fault?.code == .badAttachment && fault?.subject == path)
    }
    for path in [try store.elsewhere("none"), "", "/dev/null/file"] {
      #expect(try code { try prepare(path, in: store) } == .unknownFile, "\(path)")
    }
    #expect(try names(in: store.location.contents.path).isEmpty, "no file is left")
  }

  @Test(.enabled(if: geteuid() != 0, "root reads everything"))
  func `preparing a file without read permission fails`() throws {
    let store = try TemporaryStore()
    let path = try store.file("secret")
    try #require(chmod(path, 0) == 0)
    #expect(try code { try prepare(path, in: store) } == .inputOutput)
  }

  @Test func `preparing a symbolic link attaches the file that it points to`() throws {
    let store = try TemporaryStore()
    let link = try store.elsewhere("link.txt")
    try #require(symlink(try store.file("one"), link) == 0)
    let attachment = try prepare(link, in: store).attachment
    #expect(attachment.name == "link.txt" && attachment.sizeBytes == 3)
  }

  @Test func `preparing a file that changes during the preparation fails and stores nothing`() throws {
    let store = try TemporaryStore()
    let path = try store.file("one")
    var isChanged = false
    let code = try code {
      try store.messenger("alice").prepare(.file(path)) { _ in
        if !isChanged { try Data("one more".utf8).write(to: URL(filePath: path), options: []) }
        isChanged = true
      }
    }
    #expect(code == .fileChanged && isChanged)
    #expect(try names(in: store.location.contents.path).isEmpty, "no file is left")
    #expect(try store.integers("SELECT count(*) FROM attachment") == [[0]])
  }

  @Test func `aborting the preparation of a file leaves no file behind`() throws {
    struct GivenUp: Error {}
    let store = try TemporaryStore()
    let path = try store.file("one")
    #expect(throws: GivenUp.self) {
      try store.messenger("alice").prepare(.file(path)) { _ in throw GivenUp() }
    }
    #expect(try names(in: store.location.contents.path, mayBeAbsent: true).isEmpty)
  }

  @Test func `only a user of the store can prepare a file`() throws {
    let store = try TemporaryStore()
    let stranger = try store.messenger("eve")
    #expect(try code { try stranger.prepare(.file(store.file("one"))) } == .unknownUser)
    #expect(try names(in: store.location.directory + "/attachments", mayBeAbsent: true).isEmpty)
  }

  @Test func `equal contents are stored once, under their SHA-256, readable by the owner only`() throws {
    let store = try TemporaryStore()
    let (one, again) = (try store.prepared("one"), try store.prepared("one", by: "bob", "other.txt"))
    #expect(one.sha256 == again.sha256 && one.id != again.id)
    // The hash as sha256sum(1) prints it.
    #expect(one.sha256.description == "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed")
    let contents = store.location.contents
    #expect(try contents.all == [one.sha256])
    #expect(contents.path(of: one.sha256) == "\(contents.path)/76/\(one.sha256)")
    var status = stat()
    try #require(stat(contents.path(of: one.sha256), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }

  @Test func `a content that is damaged or missing is neither read nor saved`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let one = try store.prepared("one")
    let path = store.location.contents.path(of: one.sha256)
    let out = try store.elsewhere("out.txt")
    try Data("two".utf8).write(to: URL(filePath: path))
    var bytes = 0
    #expect(try code { try alice.read(.content, of: one) { bytes += $0.count } } == .storeDamaged)
    #expect(bytes == 0)
    #expect(try code { try alice.save(.content, of: one, to: out) } == .storeDamaged)
    try FileManager.default.removeItem(atPath: path)
    #expect(try code { try alice.save(.content, of: one, to: out) } == .storeDamaged)
    #expect(try !store.namesElsewhere.contains { $0.hasPrefix("out") || $0.hasPrefix(".dm-") })
    // Preparing the same content again replaces the missing file.
    _ = try store.prepared("one")
    #expect(try alice.content(one) == "one")
  }

  @Test func `saving an attachment uses its name, and does not overwrite a file or follow a link`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let one = try store.prepared("one")
    let folder = try store.elsewhere("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    #expect(try alice.save(.content, of: one, to: folder).path == "\(folder)/notes.txt")
    #expect(try code { try alice.save(.content, of: one, to: folder) } == .cannotCreate)
    try #require(symlink("aim", "\(folder)/link") == 0)
    #expect(try code { try alice.save(.content, of: one, to: "\(folder)/link") } == .cannotCreate)
    _ = try alice.save(.content, of: one, to: "\(folder)/link", replacesAny: true)
    var status = stat()
    #expect(lstat("\(folder)/link", &status) == 0 && status.st_mode == S_IFREG | 0o600)
    #expect(try names(in: folder).sorted() == ["link", "notes.txt"])
    #expect(try code { try alice.save(.thumbnail, of: one, to: folder) } == .unknownAttachment)
  }

  @Test func `several attachments are saved into a folder under different names`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let files = try ["one", "two", "three"].map { try store.prepared($0) } + [store.prepared("four", "notes-2.txt")]
    let folder = try store.elsewhere("folder")
    let save: (String) throws -> [String] = { path in
      var saved: [String] = []
      try alice.save(.content, of: files, to: path, replacesAny: true) { saved.append(fileName(of: $0.path)) }
      return saved
    }
    #expect(try code { try save(folder) } == .cannotCreate, "the target is not a folder")
    #expect(try code { try save(store.file("precious")) } == .cannotCreate)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    #expect(try save(folder) == ["notes.txt", "notes-2.txt", "notes-3.txt", "notes-2-2.txt"])
  }
}
