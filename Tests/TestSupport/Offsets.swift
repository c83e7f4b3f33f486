/// The indices at which `part` begins in `whole`, ascending.
func offsets(of part: [UInt8], in whole: [UInt8]) -> [Int] {
  guard let first = part.first, whole.count >= part.count else { return [] }
  return whole.withUnsafeBufferPointer { whole in
    part.withUnsafeBufferPointer { part in
      var found: [Int] = []
      for offset in 0...(whole.count - part.count) where whole[offset] == first {
        if (1..<part.count).allSatisfy({ whole[offset + $0] == part[$0] }) { found.append(offset) }
      }
      return found
    }
  }
}
