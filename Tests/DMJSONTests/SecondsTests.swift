import DMJSON
import Testing

@testable import DMJSON
@testable import TestSupport

struct SecondsTests {
  @Test(arguments: [
    (0, "0"), (1, "0"), (499, "0"), (500, "0.001"), (501, "0.001"), (1_000, "0.001"), (1_499, "0.001"),
    (10_000, "0.01"),
    (100_000, "0.1"), (120_000, "0.12"), (999_499, "0.999"), (999_501, "1"), (1_000_000, "1"), (1_050_000, "1.05"),
    (12_345_678, "12.346"), (59_999_600, "60"), (3_600_000_000, "3600"), (86_400_000_500_000, "86400000.5"),
  ])
  func `seconds have up to three decimals`(_ microseconds: Int64, _ text: String) throws {
    var json = JSONWriter()
    json.array { json in
      json.value(seconds: .microseconds(microseconds))
      json.value(1)
    }
    #expect(String(decoding: json.bytes, as: UTF8.self) == "[\(text),1]")
    _ = try object(#"{"n":\#(text)}"#)
  }
}
