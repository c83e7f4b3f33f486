package import DMModel

extension JSONReader {
  /// Reads a line that is an array of numbers; linear in its length.
  ///
  /// Vectors have hundreds of numbers, so no value of its own is made for each.
  ///
  /// - Throws: `malformed_line`; the message says at which byte, counted from 1.
  package static func numbers(_ line: ArraySlice<UInt8>) throws(DMError) -> [Float] {
    try reading(line) { (reader) throws(DMError) in try reader.numbers() }
  }

  private mutating func numbers() throws(DMError) -> [Float] {
    skipSpace()
    guard take(UInt8(ascii: "[")) else { throw fault("something that is not an array") }
    var numbers: [Float] = []
    repeat {
      skipSpace()
      let number = try decimal()
      guard number.isFinite else { throw fault("a number that is too large, ending") }
      numbers.append(number)
      skipSpace()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw fault("a missing ',' or ']'") }
    skipSpace()
    guard offset == bytes.count else { throw fault("something after the array") }
    return numbers
  }

  /// A number, within the error of a Float.
  private mutating func decimal() throws(DMError) -> Float {
    let isNegative = take(UInt8(ascii: "-"))
    var (mantissa, exponent) = (0.0, 0)
    guard case let count = digits(into: &mantissa), count > 0 else { throw fault("something that is not a number") }
    if take(UInt8(ascii: ".")) {
      exponent = -digits(into: &mantissa)
      guard exponent < 0 else { throw fault("a number without decimals") }
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      let isSmall = take(UInt8(ascii: "-"))
      if !isSmall { _ = take(UInt8(ascii: "+")) }
      var power = 0.0
      guard digits(into: &power) > 0 else { throw fault("a number without an exponent") }
      // A number with an exponent of four digits is zero, or too large.
      exponent += Int(min(power, 9999)) * (isSmall ? -1 : 1)
    }
    let value = Float(Self.scaled(mantissa, by: exponent))
    return isNegative ? -value : value
  }

  /// Appends the digits at the offset to a number, and returns how many they are.
  private mutating func digits(into number: inout Double) -> Int {
    let start = offset
    while let byte = peek(), 48...57 ~= byte {
      number = number * 10 + Double(byte - 48)
      offset += 1
    }
    return offset - start
  }

  /// `number` times a power of ten; computed in steps, so that a large mantissa with a small power does not overflow.
  private static func scaled(_ number: Double, by exponent: Int) -> Double {
    var (value, left) = (number, exponent)
    while left > 0, value.isFinite, value != 0 {
      value *= powers[min(left, 22)]
      left -= min(left, 22)
    }
    while left < 0, value != 0 {
      value /= powers[min(-left, 22)]
      left += min(-left, 22)
    }
    return value
  }

  /// The powers of ten that a Double has exactly.
  private static let powers: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]
}
