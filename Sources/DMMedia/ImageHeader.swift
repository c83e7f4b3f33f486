/// What the header of an image says.
struct ImageHeader: Equatable {
  /// Pixels, as stored.
  var width: Int
  var height: Int
  /// How it is to be turned: 1 to 8, as in Exif.
  var orientation = 1
  var isCMYK = false
  var frameCount = 1
  var hasAlpha = false
  /// Whether a colour profile is embedded; looked for in JPEG, PNG and WebP.
  var hasProfile = false
  /// Whether its channels have 16 bits; looked at in PNG.
  var hasDeepChannels = false

  /// Pixels, as it is looked at.
  var displayedSize: (width: Int, height: Int) { orientation < 5 ? (width, height) : (height, width) }

  /// Pixels of all frames; as many as there are numbers when they are more.
  var pixelCount: Int {
    let (count, isTooMany) = (width * height).multipliedReportingOverflow(by: frameCount)
    return isTooMany ? .max : count
  }

  /// - Returns: nil when it cannot be read. Sides are never empty, nor longer than 2^31 - 1.
  static func read(_ bytes: UnsafeRawBufferPointer, as format: MediaFormat) -> ImageHeader? {
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
