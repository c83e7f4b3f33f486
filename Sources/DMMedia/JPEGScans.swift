internal import DMSystem

/// Reads the Huffman-coded scans of a JPEG without decoding pixels (ITU-T T.81, annexes F and G).
///
/// Frames with arithmetic coding, and lossless and hierarchical frames, are not read, because cameras and programs do
/// not write them. A JPEG with such a frame counts as not whole.
struct JPEGScans {
  struct Component {
    let id: Int
    let horizontal: Int
    let vertical: Int
    var across = 0
    var down = 0
    /// For each block of a progressive frame, a bit for each coefficient that is not 0.
    var filled: [UInt64] = []
  }

  private var components: [Component] = []
  /// The number of minimum coded units of a scan with several components.
  private var unitCount = 0
  private var isProgressive = false
  private var restartInterval = 0
  private var directCodes = [PrefixCode?](repeating: nil, count: 4)
  private var otherCodes = [PrefixCode?](repeating: nil, count: 4)
  private var hasScan = false
  private var isReadable = true
  /// The number of blocks that may still be read, in all scans together; limited, because a hostile file may have very
  /// many.
  private var blocksLeft = 1 << 25

  /// Whether every scan has the blocks of its components, and nothing after them.
  var areWhole: Bool { isReadable && hasScan }

  mutating func add(_ segment: JPEG.Segment, of bytes: CheckedBytes) {
    guard isReadable else { return }
    do {
      switch segment.marker {
      case 0xC0, 0xC1, 0xC2: try startFrame(segment)
      case 0xC4: try addCodes(segment.content)
      case 0xDD:
        var content = segment.content
        restartInterval = try content.number(2)
      case JPEG.scan:
        hasScan = true
        isReadable = try walk(segment, bytes)
      case 0xC3, 0xC5...0xCF, 0xDC, 0xDE, 0xDF: isReadable = false
      default: break
      }
    } catch {
      isReadable = false
    }
  }

  /// Reads the header of a frame (section B.2.2).
  private mutating func startFrame(_ segment: JPEG.Segment) throws {
    var content = segment.content
    isProgressive = segment.marker == 0xC2
    try content.skip(1)
    let (height, width) = (try content.number(2), try content.number(2))
    guard components.isEmpty, width > 0, height > 0 else { throw ByteReader.OutOfBytes() }
    for _ in 0..<(try content.number(1)) {
      let (id, factors) = (try content.number(1), try content.number(1))
      guard 1...4 ~= factors >> 4, 1...4 ~= factors & 15 else { throw ByteReader.OutOfBytes() }
      components.append(Component(id: id, horizontal: factors >> 4, vertical: factors & 15))
      try content.skip(1)
    }
    let most = components.reduce((1, 1)) { (max($0.0, $1.horizontal), max($0.1, $1.vertical)) }
    func parts(_ count: Int, _ size: Int) -> Int { (count + size - 1) / size }
    unitCount = parts(width, 8 * most.0) * parts(height, 8 * most.1)
    for index in components.indices {
      // Section A.1.1.
      components[index].across = parts(parts(width * components[index].horizontal, most.0), 8)
      components[index].down = parts(parts(height * components[index].vertical, most.1), 8)
    }
  }

  /// Reads Huffman tables (section B.2.4.2).
  private mutating func addCodes(_ content: ByteReader) throws {
    var content = content
    while content.next != nil {
      let table = try content.number(1)
      let counts = try (0..<16).map { _ in try content.number(1) }
      let symbols = try (0..<counts.reduce(0, +)).map { _ in UInt16(try content.number(1)) }
      guard let code = PrefixCode(counts: [0] + counts, symbols: symbols, isLowFirst: false) else {
        throw ByteReader.OutOfBytes()
      }
      switch table {
      case 0...3: directCodes[table] = code
      case 0x10...0x13: otherCodes[table & 3] = code
      default: throw ByteReader.OutOfBytes()
      }
    }
  }

  /// The header of a scan.
  private struct Scan {
    /// The blocks of a minimum coded unit.
    var blocks: [(component: Int, direct: PrefixCode?, other: PrefixCode?)] = []
    /// Whether the scan has blocks of one component only.
    var isSingle = false
    var unitCount = 0
    /// The first and the last coefficient.
    var band = 0...0
    /// Whether the scan has the first bits of its coefficients; false for a refinement, which has one more bit of each
    /// coefficient.
    var isFirst = true
  }

  /// Reads the header of a scan (section B.2.3); nil if it does not fit the frame.
  private func header(of segment: JPEG.Segment) throws -> Scan? {
    var content = segment.content
    var scan = Scan()
    let count = try content.number(1)
    scan.isSingle = count == 1
    for _ in 0..<count {
      let (id, tables) = (try content.number(1), try content.number(1))
      guard let index = components.firstIndex(where: { $0.id == id }), tables >> 4 < 4, tables & 15 < 4 else {
        return nil
      }
      let times = scan.isSingle ? 1 : components[index].horizontal * components[index].vertical
      for _ in 0..<times { scan.blocks.append((index, directCodes[tables >> 4], otherCodes[tables & 15])) }
    }
    guard let first = scan.blocks.first else { return nil }
    let (start, end, approximation) = (try content.number(1), try content.number(1), try content.number(1))
    guard content.rest.isEmpty, start <= end, end < 64 else { return nil }
    let component = components[first.component]
    scan.unitCount = scan.isSingle ? component.across * component.down : unitCount
    scan.band = start...end
    scan.isFirst = approximation >> 4 == 0
    return scan
  }

  /// Reads a scan; false if it is invalid or data is left over.
  private mutating func walk(_ segment: JPEG.Segment, _ bytes: CheckedBytes) throws -> Bool {
    guard let scan = try header(of: segment) else { return false }
    blocksLeft -= scan.unitCount * scan.blocks.count
    guard blocksLeft >= 0 else { return false }
    var coded = JPEGBits(bytes, in: segment.content.rest.upperBound..<segment.range.upperBound, every: restartInterval)
    let areRead =
      if !isProgressive {
        Self.walkSequential(scan, &coded)
      } else if scan.band.lowerBound == 0 {
        Self.walkDirect(scan, &coded)
      } else {
        walkBand(scan, &coded)
      }
    return areRead && coded.isAtEnd()
  }

  private static func walkSequential(_ scan: Scan, _ coded: inout JPEGBits) -> Bool {
    guard let codes = JPEGBits.Codes(scan.blocks) else { return false }
    for unit in 0..<scan.unitCount { guard coded.begin(unit), coded.sequential(codes) else { return false } }
    return true
  }

  private static func walkDirect(_ scan: Scan, _ coded: inout JPEGBits) -> Bool {
    guard scan.band.upperBound == 0 else { return false }
    for unit in 0..<scan.unitCount {
      guard coded.begin(unit) else { return false }
      // A refinement has no codes for the first coefficient.
      for block in scan.blocks { guard coded.direct(scan.isFirst ? block.direct : nil) else { return false } }
    }
    return true
  }

  private mutating func walkBand(_ scan: Scan, _ coded: inout JPEGBits) -> Bool {
    guard scan.isSingle, let block = scan.blocks.first, let code = block.other else { return false }
    if components[block.component].filled.isEmpty {
      components[block.component].filled = [UInt64](repeating: 0, count: scan.unitCount)
    }
    return components[block.component].filled.withUnsafeMutableBufferPointer { filled in
      for unit in 0..<scan.unitCount {
        guard coded.begin(unit), coded.band(scan.band, code, scan.isFirst, &filled[unit]) else { return false }
      }
      return true
    }
  }
}
