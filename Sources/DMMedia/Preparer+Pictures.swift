package import DMModel
internal import DMSystem

/// Pictures of users and groups.
extension Preparer {
  /// The sides and qualities that are tried until the picture is small enough; the last one always is.
  private static let sizes: [(side: Int, quality: Int)] = [(256, 75), (192, 65), (128, 60), (96, 50), (64, 40)]

  /// Makes a small picture of an image: upright, without metadata, at most `Picture.limit` bytes.
  ///
  /// - Parameter source: a private copy of the image, which must be in the folder of the results.
  /// - Throws: `bad_attachment` if the file is not an image, or if vips is needed and not installed.
  package func picture(_ source: String) throws -> Picture {
    let original = try PreparedFile(asIs: source)
    guard original.format.kind == .image else { throw refused("is not an image; name a JPEG, PNG, WebP or GIF file") }
    let file: PreparedFile
    do {
      file = try image(original)
    } catch let error as DMError where error.code == .badAttachment {
      // A picture cannot be sent as it is, as the remedy of the error says.
      throw DMError(error.code, error.message, subject: error.subject)
    }
    if let picture = try Picture(file.path) { return picture }
    let tool = ImageTool(bench, pixels: file.width.flatMap { width in file.height.map { width * $0 } })
    for (number, size) in Self.sizes.enumerated() {
      let (small, outcome) = try reduced(file, tool, to: "picture\(number)", side: size.side, quality: size.quality)
      if let small, let picture = try Picture(small.path) { return picture }
      if case .missing = outcome {
        throw refused("must be made smaller or into another format; install \(ImageTool.package)")
      }
    }
    throw refused("could not be made into a picture of at most \(Picture.limit) bytes; name another image")
  }

  private func refused(_ reason: String) -> DMError {
    DMError(.badAttachment, "\(subject) \(reason)", subject: subject)
  }
}

extension Picture {
  /// Makes a picture from a file; nil if the file does not meet the conditions of `init(checked:)`.
  fileprivate init?(_ path: String) throws {
    guard 1...Self.limit ~= fileSize(path) else { return nil }
    let file = try MappedFile(path: path)
    self.init(checked: Array(file.bytes))
  }

  /// Makes a picture from the bytes of an image file, for example one that a member of a hub has sent.
  ///
  /// Nil if there are too many bytes or pixels, if the format is not JPEG, PNG or WebP, or if the file is incomplete,
  /// animated, or has anything else than the image and its color profile.
  package init?(checked bytes: [UInt8]) {
    guard 1...Self.limit ~= bytes.count, bytes.withUnsafeBytes({ Self.isPicture(CheckedBytes($0)) }) else { return nil }
    self.init(bytes: bytes, sha256: contentHash(of: bytes))
  }

  private static func isPicture(_ bytes: CheckedBytes) -> Bool {
    let format = MediaFormat.of(bytes)
    guard let header = ImageHeader.read(bytes, as: format), header.frameCount == 1,
      max(header.width, header.height) <= longestSide, hasOneImage(bytes, format, header),
      let cut = StrippedImage.of(bytes, as: format, keepsOrientation: false)
    else { return false }
    return cut.isFullyParsed && cut.pieces == [.range(0..<bytes.count)]
  }

  /// Whether the file has only one image, whose size is that in the header; a second image could be much larger.
  private static func hasOneImage(_ bytes: CheckedBytes, _ format: MediaFormat, _ header: ImageHeader) -> Bool {
    switch format {
    case .jpeg: JPEG.Segments(bytes).count { $0.isFrame } == 1
    case .png: PNG.hasOneImage(bytes)
    case .webp: WebP.hasOneImage(bytes, of: header)
    default: false
    }
  }
}

extension MediaFormat {
  /// The format of a whole JPEG, PNG, GIF or WebP of at most this many pixels, which any program can show; nil for other
  /// bytes.
  package static func ofShowable(_ bytes: [UInt8], pixels: Int) -> MediaFormat? {
    bytes.withUnsafeBytes { bytes in
      let bytes = CheckedBytes(bytes)
      let format = of(bytes)
      guard let header = ImageHeader.read(bytes, as: format), header.pixelCount <= pixels,
        let image = StrippedImage.of(bytes, as: format, keepsOrientation: true), image.isFullyParsed
      else { return nil }
      return format
    }
  }
}
