/// A small picture of a user or a group.
public struct Picture: Equatable, Sendable {
  /// The bytes of a JPEG, PNG or WebP image, at most `limit`.
  public let bytes: [UInt8]
  /// The SHA-256 of the bytes.
  public let sha256: ContentHash

  /// The maximum number of bytes; a hub accepts a profile, or the settings of a group, with a picture of this size.
  package static let limit = 10_240
  /// The longest side, in pixels.
  package static let longestSide = 512

  package init(bytes: [UInt8], sha256: ContentHash) {
    self.bytes = bytes
    self.sha256 = sha256
  }

  /// The name of the picture, which is the `avatarURL` of a user or a group who has it.
  public var url: String { sha256.url }
}

extension ContentHash {
  /// The text with which the name of each picture begins.
  package static let urlScheme = "nih:sha-256;"

  /// The name of a picture with this hash: `nih:sha-256;` and 64 hexadecimal digits (RFC 6920, section 7).
  package var url: String { Self.urlScheme + description }

  /// The hash in the name of a picture; nil if the text is not such a name, byte for byte.
  package init?(url: String) {
    self.init(String(decoding: url.utf8.dropFirst(Self.urlScheme.utf8.count), as: UTF8.self))
    // Swift also takes texts with other bytes for equal, such as one with a Greek question mark for the semicolon.
    guard self.url.utf8.elementsEqual(url.utf8) else { return nil }
  }
}
