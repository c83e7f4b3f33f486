internal import Glibc

extension UnsafeRawBufferPointer {
  /// The offset of the first byte with a value in a range of the bytes; nil if there is none.
  ///
  /// The corresponding C function is `memchr`, which takes a fifth of the time of a comparison byte by byte.
  package func offset(of byte: UInt8, in range: Range<Int>) -> Int? {
    guard let start = UnsafeRawBufferPointer(rebasing: self[range]).baseAddress,
      let found = memchr(start, Int32(byte), range.count)
    else { return nil }
    return range.lowerBound + (UnsafeRawPointer(found) - start)
  }
}
