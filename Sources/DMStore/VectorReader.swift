internal import CVectors
package import DMModel
internal import DMSystem

/// Reads a file of vectors.
///
/// The file is read with pread(2) and not mapped: a search reads each page once, and a page fault costs more than the
/// copy of a page (docs/decisions/0043).
package final class VectorReader {
  private let file: VectorFile
  private let opened: OpenFile
  private let blocks: Int

  /// A message, and how much it is like the query: 1 is the most, and 0 is nothing in common.
  package struct Match {
    package let key: MessageKey
    package let likeness: Float
  }

  package init(_ file: VectorFile) throws {
    self.file = file
    opened = try OpenFile(file.path, for: .readingItself) { fileError(.inputOutput, "open", file.path, $0) }
    blocks = file.layout.blocks(in: try opened.status().size)
  }

  private var layout: VectorLayout { file.layout }

  /// The check of a message's slot.
  private func check(_ key: MessageKey) throws -> UInt64 {
    let slot = VectorLayout.Slot(key)
    return slot.block < blocks ? try number(at: layout.check(slot)) : VectorFile.Check.absent
  }

  private func number<Number: BitwiseCopyable & ExpressibleByIntegerLiteral>(at offset: Int) throws -> Number {
    var number: Number = 0
    try withUnsafeMutableBytes(of: &number) { try opened.read(into: $0, at: offset) }
    return number
  }

  package func has(_ key: MessageKey) throws -> Bool { try check(key) > VectorFile.Check.outdated }

  /// Whether the vector of a message was computed from this text.
  package func has(_ key: MessageKey, of text: String) throws -> Bool { try check(key) == VectorFile.check(of: text) }

  /// The messages whose vectors have to be computed again.
  package func outdated() throws -> [MessageKey] {
    var keys: [MessageKey] = []
    var checks = [UInt64](repeating: 0, count: VectorLayout.slots)
    for block in 0..<blocks {
      try checks.withUnsafeMutableBytes { try opened.read(into: $0, at: layout.checks(of: block)) }
      for (index, check) in checks.enumerated() where check == VectorFile.Check.outdated {
        keys.append(MessageKey(number: Int64(block * VectorLayout.slots + index)))
      }
    }
    return keys
  }

  // MARK: Search

  /// Passes the messages to `body` that are most like a vector, the best first, until `body` returns false.
  ///
  /// All codes are compared first; the vectors of those that differ in the fewest bits are then compared in full. If
  /// `body` wants more of them, more are compared. So the order is exact within each of these lists.
  ///
  /// Linear in the number of messages.
  ///
  /// - Parameters:
  ///   - vector: has the number of dimensions of the file.
  ///   - keys: the messages to search; nil for all.
  package func search(_ vector: [Float], among keys: KeySet?, _ body: (Match) throws -> Bool) throws {
    let distances = try distances(to: vector, among: keys)
    var query = StoredVector.unit(vector)
    query += [Float](repeating: 0, count: layout.numberBytes - query.count)
    var wanted = max(Self.fewest, distances.count / Self.part)
    // The distances that were handed on already.
    var from: UInt16 = 0
    while let limit = limit(of: wanted, in: distances, from: from) {
      var matches: [Match] = []
      for index in distances.indices where from...limit ~= distances[index] {
        let key = MessageKey(number: Int64(index))
        matches.append(Match(key: key, likeness: try likeness(of: key, to: query)))
      }
      matches.sort { $0.likeness != $1.likeness ? $0.likeness > $1.likeness : $0.key > $1.key }
      for match in matches { guard try body(match) else { return } }
      (from, wanted) = (limit + 1, wanted * 4)
    }
  }

  /// How many messages are compared in full at first: this number, or one of `part` of all.
  private static let (fewest, part) = (1000, 500)

  /// For each slot, how many bits of its code differ from that of a vector.
  private func distances(to vector: [Float], among keys: KeySet?) throws -> [UInt16] {
    let query = StoredVector.code(of: vector, layout)
    let slots = VectorLayout.slots
    var distances = [UInt16](repeating: UInt16(DM_NO_VECTOR), count: blocks * slots)
    // The checks, the scales and the codes of a block, which follow each other.
    var words = [UInt64](repeating: 0, count: (layout.numbers(of: 0) - layout.checks(of: 0)) / 8)
    let codes = (layout.codes(of: 0) - layout.checks(of: 0)) / 8
    for block in 0..<blocks {
      try words.withUnsafeMutableBytes { try opened.read(into: $0, at: layout.checks(of: block)) }
      words.withUnsafeBufferPointer { words in
        distances.withUnsafeMutableBufferPointer { distances in
          guard let start = words.baseAddress, let target = distances.baseAddress else { return }
          dm_distances(start, start + codes, query, Int32(layout.words), Int32(slots), target + block * slots)
        }
      }
    }
    guard let keys else { return distances }
    for index in distances.indices where !keys.contains(MessageKey(number: Int64(index))) {
      distances[index] = UInt16(DM_NO_VECTOR)
    }
    return distances
  }

  /// The least distance, at least `from`, up to which there are `count` messages, or all; nil if there are none.
  private func limit(of count: Int, in distances: [UInt16], from: UInt16) -> UInt16? {
    var counts = [Int](repeating: 0, count: layout.words * 64 + 1)
    for distance in distances where distance != UInt16(DM_NO_VECTOR) { counts[Int(distance)] += 1 }
    var (sum, last): (Int, UInt16?) = (0, nil)
    for distance in counts.indices.dropFirst(Int(from)) where counts[distance] > 0 {
      sum += counts[distance]
      last = UInt16(distance)
      if sum >= count { break }
    }
    return last
  }

  /// The cosine of the angle between the vectors.
  private func likeness(of key: MessageKey, to query: [Float]) throws -> Float {
    let slot = VectorLayout.Slot(key)
    let product = try withUnsafeTemporaryAllocation(byteCount: layout.numberBytes, alignment: 8) { bytes in
      try opened.read(into: bytes, at: layout.numbers(slot))
      guard let numbers = bytes.assumingMemoryBound(to: Int8.self).baseAddress else { return 0 as Float }
      return dm_product(numbers, query, Int32(layout.numberBytes))
    }
    let cosine = product * (try number(at: layout.scale(slot)))
    // Damaged bytes of the file must not become a number that cannot be printed.
    return cosine.isFinite ? min(1, max(-1, cosine)) : 0
  }
}
