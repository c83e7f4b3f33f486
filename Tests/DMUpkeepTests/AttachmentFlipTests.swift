import DMMedia
import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore
@testable import DMSystem
@testable import StoreSupport
@testable import TestSupport

/// Damage that a faulty disk may do to attachments.
struct AttachmentFlipTests {
  private static let numbers = [
    "user", "created_at", "message", "place", "kind", "size_bytes", "width", "height", "duration",
    "thumbnail_size_bytes",
    "thumbnail_width", "thumbnail_height", "digest",
  ]

  /// The offsets of the texts and blobs of attachment rows in the bytes of the database.
  private func values(_ store: TemporaryStore, in bytes: [UInt8]) throws -> [Int] {
    var parts: [[UInt8]] = []
    let connection = try Connection(path: store.location.database)
    var rows = try connection.prepare(
      "SELECT uuid, name, mime_type, sha256, waveform, thumbnail_sha256, thumbnail_mime_type FROM attachment")
    while try rows.step() { parts += (0..<7).compactMap { rows.withBytes(Int32($0)) { $0.map { Array($0) } } } }
    return parts.flatMap { part in offsets(of: part, in: bytes).flatMap { $0..<($0 + part.count) } }
  }

  /// Flips a random bit of a number in a random attachment row.
  ///
  /// - Returns: false if the schema prevented the change.
  private func flipNumber(_ store: TemporaryStore, _ dice: inout SplitMix64) throws -> Bool {
    let (column, bit) = (Self.numbers[dice.below(Self.numbers.count)], "1 << \(dice.below(63))")
    let row = "SELECT id FROM attachment WHERE \(column) IS NOT NULL LIMIT 1 OFFSET \(dice.below(2))"
    let before = try store.texts("SELECT group_concat(ifnull(\(column), '-')) FROM attachment")
    do {
      try store.execute(
        """
        PRAGMA ignore_check_constraints = ON;
        UPDATE attachment SET \(column) = (\(column) | \(bit)) - (\(column) & \(bit)) WHERE id = (\(row))
        """)
    } catch let error as DMError {
      // The change would give two attachments of a message the same position, which a unique index forbids.
      guard error.code == .internal else { throw error }
    }
    return try store.texts("SELECT group_concat(ifnull(\(column), '-')) FROM attachment") != before
  }

  @Test func `each flipped bit of an attachment row or of a content is found`() throws {
    let seed = SplitMix64.seed
    var dice = SplitMix64(seed: seed)
    let store = try TemporaryStore.carrying(chunk: 300)
    try store.settle()
    let bytes = try store.bytes()
    let values = try values(store, in: bytes)
    // The empty content has no bits.
    let contents = try store.contents.all.map(store.contents.path).filter { fileSize($0) > 0 }
    #expect(values.count > 500 && contents.count == 5)
    for flip in 0..<(SplitMix64.isTorture ? 1000 : 100) {
      var what = ""
      switch flip % 3 {
      case 0:
        let (offset, bit) = (values[dice.below(values.count)], dice.below(8))
        what = "bit \(bit) of byte \(offset)"
        var changed = bytes
        changed[offset] ^= 1 << bit
        try store.replace(changed)
      case 1:
        while try !flipNumber(store, &dice) {}
        what = "a number"
      default:
        let path = contents[dice.below(contents.count)]
        let sound = try Data(contentsOf: URL(filePath: path))
        var changed = sound
        changed[dice.below(sound.count)] ^= 1 << dice.below(8)
        try changed.write(to: URL(filePath: path))
        #expect(try store.findings().map(\.check) == [.attachments], "seed \(seed), flip \(flip) of \(path)")
        try sound.write(to: URL(filePath: path))
        continue
      }
      #expect(try !store.findings().isEmpty, "seed \(seed), flip \(flip): \(what)")
      try store.replace(bytes)
    }
    #expect(try store.findings() == [])
  }
}
