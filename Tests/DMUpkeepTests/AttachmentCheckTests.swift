import DMStore
import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMMedia
@testable import DMSystem
@testable import DMUpkeep
@testable import StoreSupport
@testable import TestSupport

struct AttachmentCheckTests {
  @Test func `a check finds nothing in a sound store with attachments`() throws {
    let store = try TemporaryStore.carrying()
    #expect(try store.contents.all.count == 6)
    #expect(try store.upkeep.check(deep: false).findings == [])
    #expect(try store.findings() == [])
  }

  /// SQL that breaks one rule, and the checks that find this.
  static let faults: [(sql: String, checks: Set<Finding.Check>)] = [
    ("UPDATE attachment SET name = 'another' WHERE id = 1", [.digests]),
    ("UPDATE attachment SET digest = NULL WHERE id = 1", [.digests]),
    ("UPDATE attachment SET size_bytes = size_bytes + 1 WHERE id = 1", [.digests, .attachments]),
    ("UPDATE attachment SET sha256 = zeroblob(32) WHERE id = 1", [.digests, .attachments]),
    (
      "UPDATE attachment SET thumbnail_sha256 = zeroblob(32) WHERE thumbnail_sha256 NOT NULL", [.digests, .attachments]
    ),
    ("UPDATE attachment SET place = place + 1 WHERE place = 2", [.digests, .counts]),
    ("DELETE FROM attachment WHERE place = 2", [.counts]),
    ("UPDATE message SET attachment_count = 1 WHERE attachment_count = 0", [.counts]),
    ("UPDATE message SET attachment_count = 0", [.counts]),
    ("UPDATE attachment SET message = 2, place = 1 WHERE message IS NULL", [.digests, .counts]),
    ("UPDATE attachment SET message = 9999, place = 1 WHERE message IS NULL", [.digests, .foreignKeys]),
    ("UPDATE attachment SET name = 'a/b' WHERE id = 1", [.digests, .values]),
    ("UPDATE attachment SET name = CAST(x'410041' AS TEXT) WHERE id = 1", [.digests, .values]),
    ("UPDATE attachment SET name = '..' WHERE id = 1", [.digests, .values]),
    ("UPDATE attachment SET name = printf('%.300c', 'a') WHERE id = 1", [.digests, .values]),
    ("UPDATE attachment SET mime_type = 'a' || char(10) WHERE id = 1", [.digests, .values]),
    ("UPDATE attachment SET thumbnail_mime_type = CAST(x'4100' AS TEXT) WHERE waveform NOT NULL", [.digests, .values]),
    ("UPDATE attachment SET duration = 1 << 60 WHERE id = 1", [.digests, .values]),
    ("UPDATE attachment SET size_bytes = 1 << 60 WHERE id = 1", [.digests, .values, .attachments]),
    ("UPDATE attachment SET width = 1 << 40, height = 1 WHERE id = 1", [.digests, .values]),
    ("UPDATE attachment SET created_at = 1 << 62 WHERE id = 1", [.digests, .values]),
    ("UPDATE attachment SET user = 99 WHERE id = 1", [.digests, .foreignKeys]),
  ]

  @Test(arguments: faults.indices)
  func `each violation of a rule for attachments is found`(index: Int) throws {
    let (sql, checks) = Self.faults[index]
    // The contents are small, because only the rows matter here.
    let store = try TemporaryStore.carrying(chunk: 1000)
    try store.execute(sql)
    let findings = try store.findings()
    #expect(Set(findings.map(\.check)) == checks, "\(sql): \(findings)")
  }

  @Test func `a tombstone with attachments is found`() throws {
    let store = try TemporaryStore.carrying()
    try store.damage("UPDATE message SET deleted_at = created_at, text = NULL WHERE attachment_count = 2")
    #expect(try store.findings().contains { $0.check == .counts && $0.message.contains("carries attachments") })
  }

  @Test func `a repair corrects the attachment counts`() throws {
    let store = try TemporaryStore.carrying()
    try store.execute(
      "UPDATE message SET attachment_count = 7 WHERE id IN (2, 3); DELETE FROM attachment WHERE place = 2")
    #expect(try store.upkeep.repair().messagesCount == 4)
    #expect(try store.findings() == [])
  }

  @Test func `a content that is missing, too short, too long or not a file is found by a deep check only`() throws {
    let store = try TemporaryStore.carrying()
    let hash = try store.content(named: "long.bin")
    let path = store.contents.path(of: hash)
    let bytes = Array(try Data(contentsOf: URL(filePath: path)))
    for changed in [nil, bytes.dropLast(), bytes + [0]] {
      try changed.map { try Data($0).write(to: URL(filePath: path)) } ?? FileManager.default.removeItem(atPath: path)
      try changed.map { _ in
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      }
      let findings = try store.findings()
      #expect(Set(findings.map(\.check)) == [.attachments])
      #expect(Set(findings.map(\.subject)) == [store.contents.name(of: hash)])
      #expect(try store.upkeep.check(deep: false).findings == [])
    }
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: store.location.database)
    #expect(try store.findings().contains { $0.check == .attachments })
  }

  @Test func `contents that other users can read are found`() throws {
    let store = try TemporaryStore.carrying()
    let content = store.contents.path(of: try store.content(named: "long.bin"))
    for (path, mode) in [(content, 0o600), (folder(of: content), 0o700), (store.contents.path, 0o700)] {
      try FileManager.default.setAttributes([.posixPermissions: mode | 0o40], ofItemAtPath: path)
      let findings = try store.findings()
      #expect(findings.map(\.check) == [.files])
      #expect(findings.first?.message.contains("chmod \(String(mode, radix: 8))") == true)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    #expect(try store.findings() == [])
  }

  @Test func `once it is installed, a content that another program wrote is readable only by its owner`() throws {
    let store = try TemporaryStore.carrying()
    let folder = try WorkFolder(.attachment, in: store.contents.path)
    let path = "\(folder.path)/content"
    try Data([1]).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
    try store.contents.install(path, as: contentHash(ofFile: path))
    #expect(try store.findings() == [])
  }
}
