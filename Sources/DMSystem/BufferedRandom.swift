internal import Glibc

/// Random numbers from the system, fetched 32 at a time, because a system call costs as much as writing a row.
package struct BufferedRandom: RandomNumberGenerator {
  private var numbers: [UInt64] = []

  package init() {}

  package mutating func next() -> UInt64 {
    if let number = numbers.popLast() { return number }
    numbers = Array(repeating: 0, count: 32)
    // getentropy(3) gives at most 256 bytes, and fails only on kernels that are too old for Swift.
    let isFilled = numbers.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
    guard isFilled, let number = numbers.popLast() else {
      numbers = []
      var system = SystemRandomNumberGenerator()
      return system.next()
    }
    return number
  }
}
