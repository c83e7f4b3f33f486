import Testing

@testable import DMSystem

struct BytesTests {
  @Test func `a byte is found at its first offset in the range`() {
    ([1, 2, 3, 2, 1] as [UInt8]).withUnsafeBytes { bytes in
      #expect(bytes.offset(of: 2, in: 0..<5) == 1)
      #expect(bytes.offset(of: 2, in: 2..<5) == 3)
      #expect(bytes.offset(of: 3, in: 0..<2) == nil)
      #expect(bytes.offset(of: 1, in: 0..<0) == nil)
    }
    #expect(UnsafeRawBufferPointer(start: nil, count: 0).offset(of: 1, in: 0..<0) == nil)
  }

  @Test func `reading CheckedBytes out of bounds ends the process`() async {
    let bytes: [UInt8] = [1, 2, 3]
    bytes.withUnsafeBytes {
      #expect(Array(CheckedBytes($0)) == bytes)
      #expect(Array(CheckedBytes($0).buffer(of: 1..<3)) == [2, 3])
      #expect(CheckedBytes($0).offset(of: 3, in: 1..<3) == 2)
    }
    await #expect(processExitsWith: .failure) { [1, 2, 3].withUnsafeBytes { _ = CheckedBytes($0)[24] } }
    await #expect(processExitsWith: .failure) { [1, 2, 3].withUnsafeBytes { _ = CheckedBytes($0)[-1] } }
    await #expect(processExitsWith: .failure) {
      [1, 2, 3].withUnsafeBytes { _ = CheckedBytes($0).buffer(of: 20..<25) }
    }
  }
}
