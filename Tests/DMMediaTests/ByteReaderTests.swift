import Testing

@testable import DMMedia
@testable import DMModel
@testable import DMSystem
@testable import TestSupport

struct ByteReaderTests {
  private func reading<T>(_ bytes: [UInt8], isLittleEndian: Bool = false, _ body: (inout ByteReader) throws -> T)
    rethrows
    -> T
  {
    try bytes.withCheckedBytes {
      var reader = ByteReader($0, isLittleEndian: isLittleEndian)
      return try body(&reader)
    }
  }

  private func number(_ count: Int, of bytes: [UInt8], isLittleEndian: Bool = false) throws -> Int {
    try reading(bytes, isLittleEndian: isLittleEndian) { reader in try reader.number(count) }
  }

  private func skip(_ count: Int, of bytes: [UInt8]) throws { try reading(bytes) { reader in try reader.skip(count) } }

  @Test func `numbers are read in big-endian and in little-endian order`() throws {
    #expect(try number(3, of: [1, 2, 3, 4]) == 0x010203)
    #expect(try number(3, of: [1, 2, 3, 4], isLittleEndian: true) == 0x030201)
    #expect(try number(8, of: [0x7F] + [UInt8](repeating: 0xFF, count: 7)) == .max)
  }

  @Test func `reading or skipping past the end is an error`() {
    #expect(throws: ByteReader.OutOfBytes.self) { try number(3, of: [1, 2]) }
    #expect(throws: ByteReader.OutOfBytes.self) { try number(8, of: [UInt8](repeating: 0xFF, count: 8)) }
    #expect(throws: ByteReader.OutOfBytes.self) { try skip(.max, of: [1, 2]) }
    #expect(throws: ByteReader.OutOfBytes.self) { try skip(-1, of: [1, 2]) }
    let all = reading([1, 2]) { $0.part(upTo: .max).rest }
    #expect(all == 0..<2)
    let none = reading([1, 2]) { $0.part(upTo: -5).rest }
    #expect(none == 0..<0)
  }

  @Test func `a part of a reader cannot be read beyond its own end`() throws {
    try reading([1, 2, 3, 4, 5]) { reader in
      try reader.skip(1)
      var part = try reader.part(2)
      #expect(part.rest == 1..<3)
      #expect(part.prefix(9) == [2, 3])
      let isThere = part.seek(4)
      #expect(!isThere)
      #expect(part.rest == 3..<3)
      let isNext = reader.seek(5)
      #expect(isNext)
      #expect(reader.offset == 4)
      #expect(!reader.has("\u{5}\u{6}"))
      #expect(reader.has("\u{5}"))
    }
  }

  @Test func `a regular file is mapped into memory, and anything else is an error`() throws {
    let folder = try SampleFolder()
    try folder.write([1, 2, 3], "file")
    try folder.write([], "empty")
    let file = try MappedFile(path: folder.path("file"))
    #expect(Array(file.bytes) == [1, 2, 3])
    let empty = try MappedFile(path: folder.path("empty"))
    #expect(empty.bytes.isEmpty)
    try folder.run("ln", "-s", "file", "link")
    try folder.run("mkfifo", "pipe")
    for name in ["missing", "link", "pipe", "."] {
      #expect(try code { _ = try MappedFile(path: folder.path(name)) } == .inputOutput)
    }
  }
}
