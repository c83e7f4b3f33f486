internal import DMSystem

/// The data from an image's header.
struct ImageHeader: Equatable {
  /// In pixels, as stored; the same is true of `height`.
  var width: Int
  var height: Int
  /// The orientation, 1 to 8, as in Exif.
  var orientation = 1
  var isCMYK = false
  var frameCount = 1
  var hasAlpha = false
  /// Whether a color profile is embedded; always false for formats other than JPEG, PNG and WebP.
  var hasProfile = false
  /// Whether the image's channels have 16 bits; always false for formats other than PNG.
  var hasDeepChannels = false

  /// The size in pixels, as displayed.
  var displayedSize: (width: Int, height: Int) { orientation < 5 ? (width, height) : (height, width) }

  /// The number of pixels of all frames; `Int.max` if it is too large for an `Int`.
  var pixelCount: Int {
    let (count, isTooMany) = (width * height).multipliedReportingOverflow(by: frameCount)
    return isTooMany ? .max : count
  }

  /// - Returns: nil if the header cannot be read. Each side has 1 to 2^31 - 1 pixels.
  static func read(_ bytes: CheckedBytes, as format: MediaFormat) -> ImageHeader? {
    do {
      let header: ImageHeader? =
        switch format {
        case .jpeg: JPEG.header(of: bytes)
        case .png: try PNG.header(of: bytes)
        case .gif: try GIF.header(of: bytes)
        case .webp: try WebP.header(of: bytes)
        case .heic, .avif: try HEIF.header(of: bytes)
        default: nil
        }
      let sides = 1...Int(Int32.max)
      guard let header, sides ~= header.width, sides ~= header.height else { return nil }
      return header
    } catch {
      return nil
    }
  }
}
