import CSHA256
package import DMModel

/// Computes a SHA-256 from bytes that are added piece by piece (FIPS 180-4, section 6.2).
///
/// Uses the instructions of the processor where it has them. Implemented here because the package swift-crypto adds 11 MB to
/// each binary (docs/decisions/0007).
package struct SHA256 {
  private var state: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (
    0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19
  )
  /// Bytes that do not fill a block yet.
  private var rest: [UInt8] = []
  private var count: UInt64 = 0
  private let isPortable: Bool

  private static let block = 64

  /// - Parameter isPortable: whether to use no special instructions, as on a processor that has none.
  package init(isPortable: Bool = false) { self.isPortable = isPortable }

  /// Adds bytes; linear in their number.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    count &+= UInt64(bytes.count)
    var bytes = bytes[...]
    if !rest.isEmpty {
      let missing = bytes.prefix(Self.block - rest.count)
      rest += missing
      bytes = bytes.dropFirst(missing.count)
      guard rest.count == Self.block else { return }
      compress(rest)
      rest.removeAll(keepingCapacity: true)
    }
    let whole = bytes.prefix(bytes.count / Self.block * Self.block)
    compress(UnsafeRawBufferPointer(rebasing: whole))
    rest += bytes.dropFirst(whole.count)
  }

  private mutating func compress(_ blocks: [UInt8]) { blocks.withUnsafeBytes { compress($0) } }

  /// Adds whole blocks to the state.
  private mutating func compress(_ blocks: UnsafeRawBufferPointer) {
    guard let bytes = blocks.baseAddress else { return }
    if isPortable || !compressed(bytes, blocks.count / Self.block) { Self.compress(&state, blocks) }
  }

  /// Adds blocks to the state with the instructions of the processor; false if it has none.
  private mutating func compressed(_ bytes: UnsafeRawPointer, _ blocks: Int) -> Bool {
    withUnsafeMutableBytes(of: &state) { state in
      guard let words = state.assumingMemoryBound(to: UInt32.self).baseAddress else { return false }
      return Self.constants.withUnsafeBufferPointer { constants in
        guard let constants = constants.baseAddress else { return false }
        return dm_sha256_add(words, constants, bytes, blocks) != 0
      }
    }
  }

  /// The hash of all bytes that were added.
  package consuming func finish() -> ContentHash {
    var end = rest + [0x80]
    end += [UInt8](repeating: 0, count: (120 - end.count) % Self.block)
    withUnsafeBytes(of: (count &* 8).bigEndian) { end += $0 }
    compress(end)
    return ContentHash(state)
  }

  @inline(__always)
  private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word &>> count | word &<< (32 &- count) }

  @inline(__always)
  private static func round(
    _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32, _ h: inout UInt32,
    _ word: UInt32
  ) {
    let first = h &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) &+ (g ^ (e & (f ^ g))) &+ word
    d = d &+ first
    h = first &+ (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ ((a & b) ^ (c & (a ^ b)))
  }

  /// Computes the words of a block (section 6.2.2, step 1).
  @inline(__always)
  private static func schedule(
    _ words: UnsafeMutableBufferPointer<UInt32>, _ bytes: UnsafeRawBufferPointer, at offset: Int
  ) {
    for index in 0..<16 {
      words[index] = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset &+ index &* 4, as: UInt32.self))
    }
    for index in 16..<64 {
      let (first, last) = (words[index &- 15], words[index &- 2])
      let low = rotated(first, 7) ^ rotated(first, 18) ^ first &>> 3
      let high = rotated(last, 17) ^ rotated(last, 19) ^ last &>> 10
      words[index] = words[index &- 16] &+ low &+ words[index &- 7] &+ high
    }
  }

  /// Adds whole blocks to the state, on any processor.
  private static func compress(
    _ state: inout (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32), _ bytes: UnsafeRawBufferPointer
  ) {
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
      constants.withUnsafeBufferPointer { constants in
        var offset = 0
        while offset < bytes.count {
          schedule(words, bytes, at: offset)
          var (a, b, c, d, e, f, g, h) = state
          // In eight rounds, each variable has each role once, so that no values need to be moved.
          for index in stride(from: 0, to: 64, by: 8) {
            round(a, b, c, &d, e, f, g, &h, constants[index] &+ words[index])
            round(h, a, b, &c, d, e, f, &g, constants[index &+ 1] &+ words[index &+ 1])
            round(g, h, a, &b, c, d, e, &f, constants[index &+ 2] &+ words[index &+ 2])
            round(f, g, h, &a, b, c, d, &e, constants[index &+ 3] &+ words[index &+ 3])
            round(e, f, g, &h, a, b, c, &d, constants[index &+ 4] &+ words[index &+ 4])
            round(d, e, f, &g, h, a, b, &c, constants[index &+ 5] &+ words[index &+ 5])
            round(c, d, e, &f, g, h, a, &b, constants[index &+ 6] &+ words[index &+ 6])
            round(b, c, d, &e, f, g, h, &a, constants[index &+ 7] &+ words[index &+ 7])
          }
          state.0 &+= a
          state.1 &+= b
          state.2 &+= c
          state.3 &+= d
          state.4 &+= e
          state.5 &+= f
          state.6 &+= g
          state.7 &+= h
          offset &+= block
        }
      }
    }
  }

  /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, section 4.2.2).
  private static let constants: [UInt32] = [
    0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
    0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
    0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
    0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
    0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
    0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
    0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
    0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
  ]
}

/// How many bytes of a file are read at once.
package let chunkBytes = 256 * 1024

/// Reads a descriptor to its end, and calls `body` with each chunk; if the input is empty, once with an empty chunk.
///
/// - Parameter onTick: called about five times a second while there is no input; an error that it throws ends the read.
package func chunks(
  _ descriptor: Int32, _ name: String, onTick: () throws -> Void = {}, _ body: (UnsafeRawBufferPointer) throws -> Void
) throws {
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkBytes, alignment: 64)
  defer { buffer.deallocate() }
  var (isFirst, isAtEnd) = (true, false)
  while !isAtEnd {
    var filled = 0
    while filled < buffer.count, !isAtEnd {
      let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      while !waitUntilReadable(descriptor, milliseconds: 200) { try onTick() }
      let count = try readSome(descriptor, into: rest, name)
      filled += count
      isAtEnd = count == 0
    }
    if filled > 0 || isFirst { try body(UnsafeRawBufferPointer(rebasing: buffer[..<filled])) }
    isFirst = false
  }
}

/// Reads a descriptor as `chunks` does, and returns the hash of all bytes.
package func hashed(
  _ descriptor: Int32, _ name: String, onTick: () throws -> Void = {}, _ body: (UnsafeRawBufferPointer) throws -> Void
) throws -> ContentHash {
  var hash = SHA256()
  try chunks(descriptor, name, onTick: onTick) { chunk in
    hash.update(chunk)
    try body(chunk)
  }
  return hash.finish()
}

/// The hash of bytes in memory.
package func contentHash(of bytes: [UInt8]) -> ContentHash {
  var hash = SHA256()
  bytes.withUnsafeBytes { hash.update($0) }
  return hash.finish()
}

/// The hash of a file.
///
/// - Parameter onTick: called for each chunk; an error that it throws ends the read.
package func contentHash(ofFile path: String, onTick: () throws -> Void = {}) throws -> ContentHash {
  let file = try OpenFile(path, for: .readingItself) { fileError(.inputOutput, "read", path, $0) }
  return try hashed(file.descriptor, path) { _ in try onTick() }
}
