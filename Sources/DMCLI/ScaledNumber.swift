/// Reads a number that is written as digits and a unit, such as `800k`; nil for other texts, and for a number that does
/// not fit into an `Int`.
func scaledNumber(_ text: String, units: [Character: Int]) -> Int? {
  let digits = text.utf8.dropLast()
  guard let unit = text.last.flatMap({ units[$0] }), digits.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
    let count = Int(String(Substring(digits)))
  else { return nil }
  let (number, isTooLarge) = count.multipliedReportingOverflow(by: unit)
  return isTooLarge ? nil : number
}
