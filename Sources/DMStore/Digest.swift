package import DMModel

/// A 64-bit digest that depends on every bit of its input: FNV-1a (draft-eastlake-fnv).
///
/// Each step of the computation is reversible, so a change of one byte always changes the digest.
package struct Digest {
  package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  package var stored: Int64 { Int64(bitPattern: value) }

  /// The digest with its bits mixed, to be added to a sum.
  ///
  /// Without mixing, small changes in two rows could cancel each other out.
  ///
  /// The mixing is the last step of MurmurHash3, which is reversible, too.
  var mixed: UInt64 {
    var mixed = (value ^ (value >> 33)) &* 0xFF51_AFD7_ED55_8CCD
    mixed = (mixed ^ (mixed >> 33)) &* 0xC4CE_B9FE_1A85_EC53
    return mixed ^ (mixed >> 33)
  }

  private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }

  package mutating func add(_ bytes: some Sequence<UInt8>) {
    var digest = self
    // Reads contiguous storage if there is any. Iterating over a `String.UTF8View` takes five times as long.
    let isDone: Void? = bytes.withContiguousStorageIfAvailable { for byte in $0 { digest.add(byte) } }
    if isDone == nil { for byte in bytes { digest.add(byte) } }
    self = digest
  }

  package mutating func add(_ number: Int64?) {
    guard let number else { return add(0 as UInt8) }
    add(1 as UInt8)
    for shift in stride(from: 0 as UInt64, to: 64, by: 8) {
      add(UInt8(truncatingIfNeeded: UInt64(bitPattern: number) >> shift))
    }
  }

  package mutating func add(text: (some Collection<UInt8>)?) {
    guard let text else { return add(nil as Int64?) }
    // Adds the length first, so that the digest depends on where a text ends and the next text begins.
    add(Int64(text.count))
    add(text)
  }
}

extension Store {
  /// A table in which each row has a digest of its columns.
  package struct DigestedRows: Sendable {
    package let name: String
    /// The key column.
    package var key = "id"
    /// The digested columns: columns with numbers, then texts and blobs, then `laterCount` columns with numbers.
    package let columns: String
    let numberCount: Int32
    let textCount: Int32
    /// The number of digested columns that a later version of the schema added.
    ///
    /// These columns have numbers. A NULL in such a column does not change the digest, so the digests of older rows
    /// stay valid.
    var laterCount: Int32 = 0
    /// The column whose values may be long.
    package let longest: String
    /// Returns the words that identify a row in a finding of `dm-doctor check`.
    package let reference: @Sendable (RowNumber, Store) throws -> String

    package static let message = DigestedRows(
      name: "message",
      columns: """
        conversation, seq, sender, created_at, edited_at, expires_at, deleted_at, system_kind, uuid, text, nonce, reply_to,
        subject, mentions, forwarded_from
        """, numberCount: 8, textCount: 6, laterCount: 1, longest: "text",
      reference: { try $1.messages.reference(to: MessageKey(number: $0.number)) })
    package static let attachment = DigestedRows(
      name: "attachment",
      columns: """
        user, created_at, message, place, kind, size_bytes, width, height, duration, thumbnail_size_bytes, thumbnail_width,
        thumbnail_height, uuid, name, mime_type, sha256, waveform, thumbnail_sha256, thumbnail_mime_type
        """, numberCount: 12, textCount: 7, longest: "name",
      reference: { try $1.attachments.reference(to: AttachmentKey(number: $0.number)) })

    package static let change = DigestedRows(
      name: "change", key: "rev", columns: "at, kind, conversation, user, from_seq, to_seq, sender", numberCount: 7,
      textCount: 0, longest: "at", reference: { key, _ in "change \(key)" })
    package static let consumer = DigestedRows(
      name: "consumer", columns: "user, rev, seq, used_at, skipped_count, marks_delivered, name, conversations",
      numberCount: 6, textCount: 2, longest: "conversations", reference: { key, _ in "consumer \(key)" })

    package static let all = [message, attachment, change, consumer]

    /// The rows with keys in a range, in ascending order of the keys.
    package func rows(_ keys: ClosedRange<RowNumber>, of connection: borrowing Connection) throws -> Statement {
      var rows = try connection.prepare(
        text: "SELECT \(key), digest, \(columns) FROM \(name) WHERE \(key) BETWEEN ? AND ? ORDER BY \(key)")
      rows.bind(keys.lowerBound.number)
      rows.bind(keys.upperBound.number)
      return rows
    }

    /// Whether the digest of a row matches its columns.
    package func matchesDigest(_ row: borrowing Statement) -> Bool { row.optionalInt64(1) == digest(row) }

    /// The digest of the columns of a row.
    ///
    /// Reads bytes, not characters, because decoding would repair invalid UTF-8 and so hide damage.
    private func digest(_ row: borrowing Statement) -> Int64 {
      var digest = Digest()
      let texts = 2 + numberCount
      for column in 2..<texts { digest.add(row.optionalInt64(column)) }
      let later = texts + textCount
      for column in texts..<later { row.withBytes(column) { digest.add(text: $0) } }
      for column in later..<later + laterCount { if let number = row.optionalInt64(column) { digest.add(number) } }
      return digest.stored
    }

    /// Computes and stores the digest of each row whose key is in a range.
    func writeDigests(_ keys: ClosedRange<RowNumber>, on connection: borrowing Connection) throws {
      var rows = try rows(keys, of: connection)
      while try rows.step() {
        var write = try connection.prepare(text: "UPDATE \(name) SET digest = ? WHERE \(key) = ?")
        write.bind(digest(rows))
        write.bind(rows.int64(0))
        try write.run()
      }
    }
  }

  /// Computes and stores the digest of a row that was changed.
  func writeDigest(of key: some RowKey, in table: DigestedRows) throws {
    let number = RowNumber(number: key.number)
    try table.writeDigests(number...number, on: connection)
  }
}

extension ClosedRange<RowNumber> {
  /// The range of all row numbers.
  package static var all: Self { RowNumber(number: .min)...RowNumber(number: .max) }
}
