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
