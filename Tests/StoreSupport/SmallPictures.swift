@testable import DMMedia
@testable import DMModel

extension Picture {
  /// A GIF of one pixel in a color; equal numbers give equal pictures.
  static func gif(_ color: UInt8) -> Picture {
    let bytes: [UInt8] =
      Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, color, 0, 0, 255, 255, 255]
      + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
    guard let picture = Picture(checked: bytes) else { preconditionFailure("the GIF is not valid") }
    return picture
  }
}
