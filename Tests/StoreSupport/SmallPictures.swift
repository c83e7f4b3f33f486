@testable import DMMedia
@testable import DMModel

extension Picture {
  /// A WebP image of one pixel; equal numbers give equal pictures.
  static func pixel(_ number: UInt8) -> Picture {
    let content: [UInt8] = [0x2F, 0, 0, 0, 0x10, 7, 0x10, 0x11, 0x11, 0x88, 0x88, number, 7, 0]
    let bytes = Array("RIFF".utf8) + [26, 0, 0, 0] + Array("WEBPVP8L".utf8) + [14, 0, 0, 0] + content
    guard let picture = Picture(checked: bytes) else { preconditionFailure("the image is not valid") }
    return picture
  }
}
