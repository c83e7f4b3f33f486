import FoundationEssentials
import Testing

@testable import DMKit
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

/// Damage that a faulty disk may do to a store.
struct FlipTortureTests {
  /// The offsets of the texts, nonces and ids of messages in the bytes of the database.
  private func content(_ store: TemporaryStore, in bytes: [UInt8]) throws -> [Int] {
    var parts: [[UInt8]] = []
    let connection = try Connection(path: store.location.database)
    var rows = try connection.prepare("SELECT text, nonce, uuid FROM message")
    while try rows.step() {
      parts += (0..<3).compactMap { rows.withBytes(Int32($0)) { $0.map { Array($0) } } }
    }
    return parts.flatMap { part in offsets(of: part, in: bytes).flatMap { $0..<($0 + part.count) } }
  }

  @Test func `each flipped bit of a message is found`() throws {
    let seed = SplitMix64.seed
    var dice = SplitMix64(seed: seed)
    let sound = try TemporaryStore.filled(messages: 30)
    try sound.settle()
    let bytes = try sound.bytes()
    let content = try content(sound, in: bytes)
    #expect(content.count > 60 * 16)
    let damaged = try TemporaryStore(bytes: bytes)
    #expect(try damaged.findings() == [])
    for flip in 0..<(SplitMix64.isTorture ? 1000 : 100) {
      let (offset, bit) = (content[dice.below(content.count)], dice.below(8))
      var changed = bytes
      changed[offset] ^= 1 << bit
      try damaged.replace(changed)
      #expect(try !damaged.findings().isEmpty, "seed \(seed), flip \(flip): bit \(bit) of byte \(offset)")
    }
  }

  /// The offsets of the leaf pages of a table, in the order of its keys; there are four or more.
  private func leaves(of table: String, in store: TemporaryStore) throws -> [Int] {
    let leaves = try store.integers(
      "SELECT pageno FROM dbstat WHERE name = '\(table)' AND pagetype = 'leaf' ORDER BY path"
    )
    .compactMap { $0[0].map { 4096 * (Int($0) - 1) } }
    try #require(leaves.count >= 4)
    return leaves
  }

  /// Two pages of the change log are swapped.
  ///
  /// A stream that continues after each number it has read would never end.
  @Test func `reading a change log whose pages are out of order is an error`() throws {
    let store = try TemporaryStore.filled(messages: 120)
    let alice = try store.messenger("alice")
    for number in 1...600 { try alice.say("more \(number)", to: "bob") }
    try store.settle()
    let leaves = try leaves(of: "change", in: store)
    var bytes = try store.bytes()
    let page = Array(bytes[leaves[1]..<(leaves[1] + 4096)])
    bytes.replaceSubrange(leaves[1]..<(leaves[1] + 4096), with: bytes[leaves[2]..<(leaves[2] + 4096)])
    bytes.replaceSubrange(leaves[2]..<(leaves[2] + 4096), with: page)
    try store.replace(bytes)
    let damaged = try #require(try alice.existingStore())
    let user = try #require(try damaged.users.key("alice"))
    let filter = Changes.Filter(user: user, kinds: [.message], conversations: nil)
    var last = Rev.zero
    let fault = try fault {
      _ = try damaged.changes.forEach(after: .zero, filter, limit: 10_000, as: Viewer(damaged, user)) { row in
        #expect(row.rev > last)
        last = row.rev
        return true
      }
    }
    #expect(fault?.code == .storeDamaged && fault?.message.contains("out of order") == true)
  }

  /// A key that is too small is followed by an unreadable page.
  ///
  /// A check that continues after the last key would never end.
  @Test(arguments: [1, 127]) func `a check ends even if the keys of a page are out of order`(key: UInt8)
    throws
  {
    let store = try TemporaryStore.filled(messages: 120)
    try store.settle()
    let leaves = try leaves(of: "message", in: store)
    var bytes = try store.bytes()
    // The last cell of a leaf begins with a size of one or two bytes; its key follows (sqlite.org/fileformat2.html, section 1.6).
    let (page, count) = (leaves[1], Int(bytes[leaves[1] + 3]) << 8 + Int(bytes[leaves[1] + 4]))
    let pointer = page + 8 + 2 * (count - 1)
    let cell = page + Int(bytes[pointer]) << 8 + Int(bytes[pointer + 1])
    bytes[cell + (bytes[cell] > 127 ? 2 : 1)] = key
    for offset in leaves[2]..<(leaves[2] + 4096) { bytes[offset] = 0 }
    try store.replace(bytes)
    let findings = try store.findings()
    #expect(findings.contains { $0.check == .digests && $0.message.contains("cannot be read") }, "\(findings)")
  }

  @Test func `a check of a damaged database ends with findings or an error, and never crashes`() throws {
    let seed = SplitMix64.seed
    var dice = SplitMix64(seed: seed)
    let sound = try TemporaryStore.filled(messages: 30)
    try sound.settle()
    let bytes = try sound.bytes()
    let damaged = try TemporaryStore(bytes: bytes)
    for run in 0..<(SplitMix64.isTorture ? 1000 : 100) {
      var changed = bytes
      switch run % 3 {
      case 0: changed[dice.below(bytes.count)] ^= UInt8(1 << dice.below(8))
      case 1:
        let start = dice.below(bytes.count)
        for offset in start..<min(start + 1 + dice.below(300), bytes.count) { changed[offset] = UInt8(dice.below(256)) }
      default:
        let page = 4096 * (1 + dice.below(bytes.count / 4096 - 1))
        for offset in page..<(page + 4096) { changed[offset] = 0 }
      }
      try damaged.replace(changed)
      do {
        // A change in free space may stay unnoticed, but a missing page may not.
        let isFound = try !damaged.findings().isEmpty
        #expect(isFound || run % 3 < 2, "seed \(seed), run \(run)")
      } catch let error as DMError {
        let isSaid = [.storeForeign, .storeTooNew, .storeDamaged, .inputOutput, .internal].contains(error.code)
        #expect(isSaid, "seed \(seed), run \(run): \(error)")
      }
    }
  }

  @Test func `messages after an unreadable page are still checked against their digests`() throws {
    let sound = try TemporaryStore.filled(messages: 300)
    try sound.settle()
    var bytes = try sound.bytes()
    // The page of an early message becomes unreadable, and the text of a message on a later page is changed.
    let early = try #require(offsets(of: Array("message 40 w".utf8), in: bytes).first)
    let late = try #require(offsets(of: Array("message 290 w".utf8), in: bytes).first)
    #expect(early / 4096 != late / 4096)
    for offset in (early / 4096 * 4096)..<((early / 4096 + 1) * 4096) { bytes[offset] = 0 }
    bytes[late] ^= 1
    let damaged = try TemporaryStore(bytes: bytes)
    let findings = try damaged.findings()
    #expect(findings.contains { $0.check == .integrity })
    #expect(findings.contains { $0.check == .digests && $0.message.contains("cannot be read") }, "\(findings)")
    #expect(findings.contains { $0.check == .digests && $0.message.contains("as it was written") }, "\(findings)")
  }
}
