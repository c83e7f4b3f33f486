package import DMModel
internal import DMSystem

// The conversation ids that a hub accepts: half of each id is a digest that depends on the users who may start the
// conversation, so that no other user can take the id of a conversation that the hub has lost.

extension Identifier {
  /// 128 random bits, for the nonce of an operation or the id of a file.
  package static func random() -> Identifier {
    Identifier(high: .random(in: 0...UInt64.max), low: .random(in: 0...UInt64.max))
  }

  /// An id for a group that this user creates.
  package static func group(begunBy handle: Handle, at time: Timestamp) -> Identifier {
    Identifier(at: time).bound(to: "group \(handle)")
  }

  /// An id for the direct conversation of two users, or of a user with themselves.
  package static func direct(_ one: Handle, _ other: Handle, at time: Timestamp) -> Identifier {
    Identifier(at: time).bound(to: pair(one, other))
  }

  /// Whether this user may create a group with the id.
  package func isGroup(begunBy handle: Handle) -> Bool { self == bound(to: "group \(handle)") }

  package func isDirect(_ one: Handle, _ other: Handle) -> Bool { self == bound(to: Self.pair(one, other)) }

  private static func pair(_ one: Handle, _ other: Handle) -> String {
    let names = [one, other].map(\.description).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return "direct \(names[0]) \(names[1])"
  }

  /// The first half of the id, then 64 bits of the SHA-256 of that half and `words`; the variant of a UUID (RFC 9562,
  /// section 4.1) replaces two of the bits.
  private func bound(to words: String) -> Identifier {
    var hash = SHA256()
    let half = withUnsafeBytes(of: high.bigEndian) { Array($0) }
    (half + Array(words.utf8)).withUnsafeBytes { hash.update($0) }
    let digest = hash.finish().bytes.prefix(8).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
    return Identifier(high: high, low: digest & (UInt64.max >> 2) | 1 << 63)
  }
}
