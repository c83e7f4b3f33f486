import Testing

@testable import DMJSON
@testable import DMModel

struct NumbersTests {
  private func numbers(_ line: String) throws -> [Float] { try JSONReader.numbers(Array(line.utf8)[...]) }

  @Test func `numbers in any notation of JSON are read`() throws {
    #expect(try numbers("[0,-0,1,-2,3.5,0.001,-1e2,1.5E+3,25e-1]") == [0, 0, 1, -2, 3.5, 0.001, -100, 1500, 2.5])
    #expect(try numbers(" [ 1 ,\t2 ] \r") == [1, 2])
    #expect(try numbers("[0.12345678901234567890123456789]") == [0.12345679])
    #expect(try numbers("[1e-60,123456789012345678901234567890e-20]") == [0, 1234567890.1234567])
    #expect(try numbers("[-9.765625e-4,340282346638528859811704183484516925440]") == [-0.0009765625, 3.4028235e38])
  }

  @Test(arguments: [
    "", "1", "[", "[]", "[1", "[1,]", "[,1]", "[1 2]", "[1]]", "[1] x", "[NaN]", "[nan]", "[Infinity]", "[1e999]",
    "[1e39]", "[.5]", "[1.]", "[1e]", "[+1]", "[--1]", "[\"1\"]", "[[1]]", "[null]", "{\"a\":1}", "[0x10]",
    "[1e99999999999999999999]",
  ])
  func `a line that is not an array of numbers is refused`(line: String) {
    let error = #expect(throws: DMError.self) { try numbers(line) }
    #expect(error?.code == .malformedLine)
  }

  @Test(arguments: [
    (0, "0"), (1, "0.001"), (-1, "-0.001"), (-999, "-0.999"), (-1000, "-1"), (-1500, "-1.5"), (420, "0.42"),
  ])
  func `thousandths are written as decimals, with their sign`(number: Int, text: String) {
    var json = JSONWriter()
    json.object { $0.member("n", Double(number) / 1000) }
    #expect(String(decoding: json.bytes, as: UTF8.self) == "{\"n\":\(text)}")
  }
}
