import DMJSON
import Testing

@testable import DMJSON
@testable import DMModel
@testable import TestSupport

struct JSONRoundTripTests {
  /// Characters next to which a wrong implementation could begin or end an escape too early or too late.
  private static let awkward: [UInt32] = [
    0x1, 0x8, 0x9, 0xA, 0xD, 0x1F, 0x20, 0x22, 0x2F, 0x5C, 0x7E, 0x7F, 0x80, 0x85, 0x9F, 0xA0, 0xC2, 0x300, 0x61B,
    0x61C, 0x61D,
    0x7FF, 0x800, 0x200D, 0x200E, 0x200F, 0x2010, 0x2027, 0x2028, 0x2029, 0x202A, 0x202E, 0x202F, 0x2065, 0x2066,
    0x2069, 0x206A,
    0xD7FF, 0xE000, 0xFEFE, 0xFEFF, 0xFF00, 0xFFFF, 0x10000, 0x1F600, 0xE0001, 0x10FFFF,
  ]

  private static func text(_ random: inout SplitMix64) -> String {
    var text = String.UnicodeScalarView()
    for _ in 0..<random.below(40) {
      let value =
        random.chance(60)
        ? awkward[random.below(awkward.count)]
        : random.chance(50) ? UInt32(random.below(0x110000)) : UInt32(random.below(128))
      if value > 0, let scalar = Unicode.Scalar(value) { text.append(scalar) }
    }
    return String(text)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `any text survives a round trip byte for byte, and hidden characters are escaped`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 {
      let text = Self.text(&random)
      var json = JSONWriter()
      json.object {
        $0.key(name: text + "n")
        $0.value(text)
      }
      let read = try object(json.bytes)
      let member = try #require(read.members.first)
      guard case .string(let back) = member.value else {
        Issue.record("seed \(seed): no string")
        return
      }
      #expect(Array(back.utf8) == Array(text.utf8), "seed \(seed)")
      #expect(Array(member.name.utf8) == Array((text + "n").utf8), "seed \(seed)")
      let written = try #require(String(validating: json.bytes, as: UTF8.self))
      #expect(!written.unicodeScalars.contains(where: isHidden), "seed \(seed): \(written)")
    }
  }

  @Test func `a character is escaped wherever it is in a long plain text`() throws {
    for length in 0...40 {
      for index in 0...length {
        for (character, escape) in [
          ("\"", "\\\""), ("\\", "\\\\"), ("\u{1F}", "\\u001f"), ("\u{7F}", "\\u007f"), ("\u{85}", "\\u0085"),
        ] {
          let (before, after) = (String(repeating: "~", count: index), String(repeating: " ", count: length - index))
          var json = JSONWriter()
          json.value(before + character + after)
          #expect(String(decoding: json.bytes, as: UTF8.self) == "\"" + before + escape + after + "\"")
        }
      }
    }
  }

  @Test func `exactly the characters that could act on a terminal or split a line are escaped`() throws {
    for value in 1...0x10FFFF as ClosedRange<UInt32> {
      guard let scalar = Unicode.Scalar(value) else { continue }
      // Only a sample of the ordinary characters, because a test of all of them takes long.
      if value > 0x3000, value < 0xFE00, value % 97 != 0 { continue }
      if value > 0x10000, value % 997 != 0 { continue }
      var json = JSONWriter()
      json.value(String(Character(scalar)))
      let isRaw = json.bytes == [0x22] + Array(String(Character(scalar)).utf8) + [0x22]
      #expect(isRaw == !(isHidden(scalar) || value == 0x22 || value == 0x5C), "U+\(String(value, radix: 16))")
    }
  }

  @Test(
    arguments: [
      (0x1, "\\u0001"), (0x9, "\\t"), (0xA, "\\n"), (0xD, "\\r"), (0x22, "\\\""), (0x5C, "\\\\"), (0x7F, "\\u007f"),
      (0x9B, "\\u009b"), (0x61C, "\\u061c"), (0x2028, "\\u2028"), (0x202E, "\\u202e"), (0xFEFF, "\\ufeff"),
    ] as [(UInt32, String)])
  func `each escaped character has one spelling`(_ value: UInt32, _ spelling: String) throws {
    var json = JSONWriter()
    json.value(String(Character(try #require(Unicode.Scalar(value)))))
    #expect(String(decoding: json.bytes, as: UTF8.self) == "\"\(spelling)\"")
  }

  @Test(arguments: [0, 1, -1, 9, 10, 1_234_567_890, Int.max, Int.min])
  func `an integer is written in decimal digits`(_ number: Int) throws {
    var json = JSONWriter()
    json.value(number)
    #expect(String(decoding: json.bytes, as: UTF8.self) == String(number))
  }

  @Test func `commas are written only between members and between elements`() throws {
    var json = JSONWriter()
    json.object {
      $0.member("a", 1)
      $0.member("absent", nil as String?)
      $0.key("b")
      $0.array { json in
        json.value(true)
        json.object { _ in }
        json.array { _ in }
        json.value("x")
      }
      $0.member("c", false)
    }
    json.endLine()
    json.object { $0.member("d", 2) }
    json.endLine()
    #expect(
      String(decoding: json.bytes, as: UTF8.self) == "{\"a\":1,\"b\":[true,{},[],\"x\"],\"c\":false}\n{\"d\":2}\n")
    json.removeAll()
    #expect(json.bytes.isEmpty)
  }
}
