internal import CVectors
package import DMModel
internal import DMSystem

/// A file of vectors, mapped into memory for a search.
package final class VectorMap {
  private let file: VectorFile
  private let mapped: MappedFile
  private let blocks: Int

  /// A message, and how much it is like the query: 1 is the most, and 0 is nothing in common.
  package struct Match {
    package let key: MessageKey
    package let likeness: Float
  }

  package init(_ file: VectorFile) throws {
    self.file = file
    mapped = try MappedFile(path: file.path)
    blocks = file.layout.blocks(in: mapped.bytes.count)
  }

  private var layout: VectorLayout { file.layout }

  /// The check of a message's slot.
  private func check(_ key: MessageKey) -> UInt64 {
    let slot = VectorLayout.Slot(key)
    guard slot.block < blocks else { return VectorFile.Check.absent }
    return number(at: layout.check(slot))
  }

  private func number<Number: BitwiseCopyable>(at offset: Int) -> Number {
    mapped.bytes.buffer(of: offset..<offset + MemoryLayout<Number>.size).loadUnaligned(as: Number.self)
  }

  package func has(_ key: MessageKey) -> Bool { check(key) > VectorFile.Check.outdated }

  /// Whether the vector of a message was computed from this text.
  package func has(_ key: MessageKey, of text: String) -> Bool { check(key) == VectorFile.check(of: text) }

  /// The messages whose vectors have to be computed again.
  package func outdated() -> [MessageKey] {
    var keys: [MessageKey] = []
    for block in 0..<blocks {
      let start = layout.checks(of: block)
      let checks = mapped.bytes.buffer(of: start..<start + VectorLayout.slots * VectorLayout.checkBytes)
        .assumingMemoryBound(to: UInt64.self)
      for index in checks.indices where checks[index] == VectorFile.Check.outdated {
        keys.append(MessageKey(number: Int64(block * VectorLayout.slots + index)))
      }
    }
    return keys
  }

  /// The vector of a message, with the length of 1; nil if there is none.
  package func vector(of key: MessageKey) -> [Float]? {
    guard has(key) else { return nil }
    let slot = VectorLayout.Slot(key)
    let scale: Float = number(at: layout.scale(slot))
    let start = layout.numbers(slot)
    return mapped.bytes.buffer(of: start..<start + layout.dimension).map { Float(Int8(bitPattern: $0)) * scale }
  }

  // MARK: Search

  /// Passes the messages to `body` that are most like a vector, the best first, until `body` returns false.
  ///
  /// All codes are compared first; the vectors of those that differ in the fewest bits are then compared in full. If
  /// `body` wants more of them, more are compared. So the order is exact within each of these lists.
  ///
  /// Linear in the number of messages: 2 ms for a million messages of 256 dimensions in memory.
  ///
  /// - Parameters:
  ///   - vector: has the number of dimensions of the file.
  ///   - keys: the messages to search; nil for all.
  package func search(_ vector: [Float], among keys: KeySet?, _ body: (Match) throws -> Bool) throws {
    let distances = distances(to: vector, among: keys)
    let length = vector.reduce(into: 0) { $0 += $1 * $1 }.squareRoot()
    var query = vector.map { length > 0 ? $0 / length : 0 }
    query += [Float](repeating: 0, count: layout.numberBytes - query.count)
    var wanted = max(Self.fewest, distances.count / Self.part)
    // The distances that were handed on already.
    var from: UInt16 = 0
    while let limit = Self.limit(of: wanted, in: distances, from: from) {
      var matches: [Match] = []
      for index in distances.indices where from...limit ~= distances[index] {
        let key = MessageKey(number: Int64(index))
        matches.append(Match(key: key, likeness: likeness(of: key, to: query)))
      }
      matches.sort { $0.likeness != $1.likeness ? $0.likeness > $1.likeness : $0.key > $1.key }
      for match in matches { guard try body(match) else { return } }
      (from, wanted) = (limit + 1, wanted * 4)
    }
  }

  /// How many messages are compared in full at first: this number, or one of `part` of all.
  private static let (fewest, part) = (1000, 250)

  /// For each slot, how many bits of its code differ from that of a vector.
  private func distances(to vector: [Float], among keys: KeySet?) -> [UInt16] {
    let query = StoredVector.code(of: vector, layout)
    let slots = VectorLayout.slots
    var distances = [UInt16](unsafeUninitializedCapacity: blocks * slots) { found, count in
      count = blocks * slots
      for block in 0..<blocks {
        let checks = mapped.bytes.buffer(of: layout.checks(of: block)..<layout.scales(of: block))
        let codes = mapped.bytes.buffer(of: layout.codes(of: block)..<layout.numbers(of: block))
        guard let target = found.baseAddress,
          let checks = checks.assumingMemoryBound(to: UInt64.self).baseAddress,
          let codes = codes.assumingMemoryBound(to: UInt64.self).baseAddress
        else { continue }
        dm_distances(checks, codes, query, Int32(layout.words), Int32(slots), target + block * slots)
      }
    }
    if let keys {
      for index in distances.indices where !keys.contains(MessageKey(number: Int64(index))) {
        distances[index] = UInt16(DM_NO_VECTOR)
      }
    }
    return distances
  }

  /// The least distance, at least `from`, up to which there are `count` messages, or all; nil if there are none.
  private static func limit(of count: Int, in distances: [UInt16], from: UInt16) -> UInt16? {
    var counts = [Int](repeating: 0, count: Int(UInt16.max) + 1)
    for distance in distances { counts[Int(distance)] += 1 }
    var (sum, last): (Int, UInt16?) = (0, nil)
    for distance in Int(from)..<Int(DM_NO_VECTOR) where counts[distance] > 0 {
      sum += counts[distance]
      last = UInt16(distance)
      if sum >= count { break }
    }
    return last
  }

  /// The cosine of the angle between the vectors.
  private func likeness(of key: MessageKey, to query: [Float]) -> Float {
    let slot = VectorLayout.Slot(key)
    let start = layout.numbers(slot)
    let bytes = mapped.bytes.buffer(of: start..<start + layout.numberBytes)
    guard let numbers = bytes.assumingMemoryBound(to: Int8.self).baseAddress else { return 0 }
    let scale: Float = number(at: layout.scale(slot))
    let cosine = dm_product(numbers, query, Int32(layout.numberBytes)) * scale
    // Damaged bytes of the file must not become a number that cannot be printed.
    return cosine.isFinite ? min(1, max(-1, cosine)) : 0
  }
}
