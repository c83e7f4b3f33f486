import Testing

@testable import DMModel
@testable import DMSystem
@testable import TestSupport

struct SHA256Tests {
  /// From FIPS 180-2, appendix B, and from NIST's examples for an empty message and for a message of 896 bits.
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
  ])
  func `SHA-256 of the standard's examples is right`(_ text: String, _ hash: String) {
    #expect(sha256(Array(text.utf8)) == hash)
  }

  @Test func `SHA-256 of a million letters is that of the standard`() {
    #expect(
      sha256([UInt8](repeating: 0x61, count: 1_000_000))
        == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
  }

  @Test func `SHA-256 agrees with sha256sum for all lengths and splits, on any processor`() throws {
    let folder = try SampleFolder()
    var random = SplitMix64(seed: 0x5EED)
    let lengths = Array(0...200) + (0..<20).map { _ in random.below(100_000) }
    let contents = lengths.map { count in (0..<count).map { _ in UInt8(random.below(256)) } }
    let names = lengths.indices.map { "content\($0)" }
    for (name, content) in zip(names, contents) { try folder.write(content, name) }
    let lines = String(decoding: try folder.run(["sha256sum"] + names), as: UTF8.self).split(separator: "\n")
    try #require(lines.count == contents.count)
    for (line, content) in zip(lines, contents) {
      #expect(line.hasPrefix(sha256(content)) && line.hasPrefix(sha256(content, isPortable: true)))
      for most in [1, 64, 130, content.count + 1] {
        #expect(line.hasPrefix(sha256(content, by: { 1 + random.below(most) })), "\(content.count) bytes")
      }
    }
  }

  private func sha256(_ bytes: [UInt8], isPortable: Bool = false, by next: () -> Int = { .max }) -> String {
    var hash = SHA256(isPortable: isPortable)
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = rest.prefix(next())
      part.withUnsafeBytes { hash.update($0) }
      rest = rest.dropFirst(part.count)
    }
    return hash.finish().description
  }
}
