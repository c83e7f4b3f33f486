/// A number that changes with each bit of what is put into it: FNV-1a with 64 bits
/// (draft-eastlake-fnv), whose every step can be undone, so that no single change is lost.
struct Digest {
  private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  var stored: Int64 { Int64(bitPattern: value) }

  mutating func add(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  mutating func add(_ number: Int64?) {
    guard let number else { return add(CollectionOfOne(0)) }
    add(CollectionOfOne(1))
    withUnsafeBytes(of: number.littleEndian) { add($0) }
  }

  mutating func add(text: (some Collection<UInt8>)?) {
    guard let text else { return add(nil as Int64?) }
    // The length first, so that no two texts run into each other.
    add(Int64(text.count))
    add(text)
  }
}

extension Store {
  /// What a digest is made of, for a query of `message m`: eight numbers, then six texts.
  static let digestColumns = """
    m.conversation, m.seq, m.sender, m.created_at, m.edited_at, m.expires_at, m.deleted_at, m.system_kind,
    m.uuid, m.text, m.nonce, m.reply_to, m.subject, m.mentions
    """

  /// The digest of a row of `digestColumns`.
  ///
  /// Reads bytes, not characters: what is no UTF-8 any more must not be repaired on the way.
  static func digest(_ row: borrowing Statement, from first: Int32) -> Int64 {
    digest(row, numbers: first..<first + 8, texts: first + 8..<first + 14)
  }

  static func digest(_ row: borrowing Statement, numbers: Range<Int32>, texts: Range<Int32>) -> Int64 {
    var digest = Digest()
    for column in numbers { digest.add(row.optionalInt64(column)) }
    for column in texts { row.withBytes(column) { digest.add(text: $0) } }
    return digest.stored
  }

  /// Writes the digest of a message whose row was changed; `nil` for all messages.
  func seal(_ key: Int64?) throws {
    var read = try connection.prepare(
      as: "seal", "SELECT m.id, \(Self.digestColumns) FROM message m WHERE id BETWEEN ? AND ?")
    read.bind(key ?? .min)
    read.bind(key ?? .max)
    while try read.step() {
      var write = try connection.prepare("UPDATE message SET digest = ? WHERE id = ?")
      write.bind(Self.digest(read, from: 1))
      write.bind(read.int64(0))
      try write.run()
    }
  }
}

extension Store {
  /// A table whose rows bear digests of what they have.
  struct SealedTable: Sendable {
    let name: String
    /// What its columns are named by.
    let alias: String
    let columns: String
    /// The column that may be long.
    let text: String
    let digest: @Sendable (borrowing Statement, Int32) -> Int64
    /// What a row is called.
    let reference: @Sendable (Int64, Store) throws -> String

    static let all = [
      SealedTable(
        name: "message", alias: "m", columns: digestColumns, text: "text", digest: { Store.digest($0, from: $1) },
        reference: { try $1.reference(to: $0) }),
      SealedTable(
        name: "attachment", alias: "a", columns: attachmentDigestColumns, text: "name",
        digest: { attachmentDigest($0, from: $1) }, reference: { try $1.reference(toAttachment: $0) }),
    ]

    /// Its rows, from a key on.
    func rows(from key: Int64, of connection: borrowing Connection) throws -> Statement {
      var rows = try connection.prepare(
        text: """
          SELECT \(alias).id, \(alias).digest, \(columns) FROM \(name) \(alias) WHERE \(alias).id >= ? ORDER BY \(alias).id
          """)
      rows.bind(key)
      return rows
    }

    /// Whether one of them is as it was written.
    func isSound(_ row: borrowing Statement) -> Bool { row.optionalInt64(1) == digest(row, 2) }
  }
}
