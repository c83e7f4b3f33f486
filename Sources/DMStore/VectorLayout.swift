internal import DMModel

/// Where the parts of a vector are in a file of vectors.
///
/// The file has a header, and then blocks for 4,096 messages each. A block has four parts, each for all its messages: the
/// checks, the scales, the codes and the numbers. So a search reads the first three of all messages, which are a seventh
/// of the file, and the numbers of a few.
struct VectorLayout: Equatable {
  /// The number of dimensions of a vector.
  let dimension: Int
  /// The number of words of 64 bits of a code.
  let words: Int

  static let headerBytes = 4096
  static let slots = 4096

  init(dimension: Int) {
    self.dimension = dimension
    words = (dimension + 63) / 64
  }

  static let checkBytes = 8
  static let scaleBytes = 4
  var codeBytes: Int { words * 8 }
  /// Whole words, so that each part begins at a page.
  var numberBytes: Int { words * 64 }
  var blockBytes: Int { Self.slots * (Self.checkBytes + Self.scaleBytes + codeBytes + numberBytes) }

  /// The offsets of the parts of a block.
  func checks(of block: Int) -> Int { Self.headerBytes + block * blockBytes }
  func scales(of block: Int) -> Int { checks(of: block) + Self.slots * Self.checkBytes }
  func codes(of block: Int) -> Int { scales(of: block) + Self.slots * Self.scaleBytes }
  func numbers(of block: Int) -> Int { codes(of: block) + Self.slots * codeBytes }

  /// The slot of a message: that with the number of its key.
  struct Slot {
    let block, index: Int

    init(_ key: MessageKey) { (block, index) = (Int(key.number) / slots, Int(key.number) % slots) }
  }

  /// The offsets of the parts of one message.
  func check(_ slot: Slot) -> Int { checks(of: slot.block) + slot.index * Self.checkBytes }
  func scale(_ slot: Slot) -> Int { scales(of: slot.block) + slot.index * Self.scaleBytes }
  func code(_ slot: Slot) -> Int { codes(of: slot.block) + slot.index * codeBytes }
  func numbers(_ slot: Slot) -> Int { numbers(of: slot.block) + slot.index * numberBytes }

  /// The size of a file that ends with a block.
  func bytes(through block: Int) -> Int { checks(of: block + 1) }

  /// The number of whole blocks in a file of this size.
  func blocks(in bytes: Int) -> Int { max(0, (bytes - Self.headerBytes) / blockBytes) }
}

/// A vector as it is stored: whole numbers from -127 to 127, their common factor, and a code with the sign of each.
///
/// The numbers have 1/127 of the range of the largest one, which hardly changes the order of messages by likeness
/// (docs/decisions/0043). The code is for the first look at all messages.
struct StoredVector {
  let numbers: [Int8]
  let scale: Float
  let code: [UInt64]

  /// - Parameter vector: any finite numbers; they are divided by the length of the vector.
  init(_ vector: [Float], _ layout: VectorLayout) {
    // In the precision of Double, in which the square of no Float is too large or too small.
    let largest = vector.reduce(into: 0.0) { $0 = max($0, abs(Double($1))) }
    let factor = largest > 0 ? 127 / largest : 0
    var numbers = [Int8](repeating: 0, count: layout.numberBytes)
    var length = 0.0
    for (index, number) in vector.enumerated() {
      let scaled = Double(number) * factor
      numbers[index] = Int8(scaled.rounded())
      length += scaled * scaled
    }
    self.numbers = numbers
    scale = length > 0 ? Float(1 / length.squareRoot()) : 0
    code = Self.code(of: vector, layout)
  }

  /// A vector with the length of 1 in the same direction; zeros for zeros.
  static func unit(_ vector: [Float]) -> [Float] {
    let length = vector.reduce(into: 0.0) { $0 += Double($1) * Double($1) }.squareRoot()
    return vector.map { length > 0 ? Float(Double($0) / length) : 0 }
  }

  static func code(of vector: [Float], _ layout: VectorLayout) -> [UInt64] {
    var code = [UInt64](repeating: 0, count: layout.words)
    for (index, number) in vector.enumerated() where number > 0 { code[index / 64] |= 1 << UInt64(index % 64) }
    return code
  }
}
