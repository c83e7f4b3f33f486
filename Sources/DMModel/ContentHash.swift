/// The SHA-256 of a content, which is also the key of the content in the store.
public struct ContentHash: Hashable, Sendable, CustomStringConvertible {
  package let bytes: [UInt8]

  package static let count = 32

  /// - Returns: nil if the number of bytes is not 32.
  package init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = Array(bytes)
  }

  /// Makes a hash from the eight words of the final state of SHA-256.
  package init(_ words: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)) {
    let all = [words.0, words.1, words.2, words.3, words.4, words.5, words.6, words.7]
    bytes = all.flatMap { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
  }

  /// Reads 64 hexadecimal digits of either case; nil if the text is anything else.
  public init?(_ text: String) {
    guard text.utf8.count == 2 * Self.count, let bytes = DMModel.bytes(hexadecimal: text) else { return nil }
    self.init(bytes)
  }

  /// 64 lower-case hexadecimal digits.
  public var description: String { hexadecimal(bytes) }
}
