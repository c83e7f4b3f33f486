package import DMModel
internal import DMSystem

/// Pictures of users and groups.
extension Preparer {
  /// The sides and qualities that are tried until the picture is small enough; the last one always is.
  private static let sizes: [(side: Int, quality: Int)] = [(256, 75), (192, 65), (128, 60), (96, 50), (64, 40)]

  /// Makes a small picture of an image: upright, without metadata, at most `Picture.limit` bytes.
  ///
  /// - Parameter source: a private copy of the image, which must be in the folder of the results.
  /// - Throws: `bad_attachment` if the file is not an image, or if it is too large and vips is not installed.
  package func picture(_ source: String) throws -> Picture {
    let original = try PreparedFile(asIs: source)
    guard original.format.kind == .image else { throw refusal("is not an image") }
    let file = try image(original)
    if let picture = try Picture(file.path) { return picture }
    let tool = ImageTool(bench, pixels: file.width.flatMap { width in file.height.map { width * $0 } })
    let format = file.format == .jpeg ? MediaFormat.jpeg : .webp
    let hasProfile = try ImageHeader.read(file.path, as: file.format)?.hasProfile ?? false
    for (number, size) in Self.sizes.enumerated() {
      let output = "picture\(number).\(format.fileExtensions[0])"
      var outcome = try tool.thumbnail(
        fileName(of: file.path), hasProfile: hasProfile, side: size.side, quality: size.quality, to: output)
      if let small = try made(output, format, &outcome), let picture = try Picture(small.path) { return picture }
      if case .missing = outcome { break }
    }
    throw refusal(
      "is over \(Picture.limit) bytes or \(Picture.longestSide) pixels a side, and could not be made smaller; "
        + "install \(ImageTool.package)")
  }
}

extension Picture {
  /// A picture of a file; nil if the file is too large or not an image of a format that all programs show.
  fileprivate init?(_ path: String) throws {
    guard 1...Self.limit ~= fileSize(path) else { return nil }
    let file = try MappedFile(path: path)
    self.init(checked: Array(file.bytes))
  }

  /// Makes a picture from the bytes of an image file, for example one that a member of a hub has sent.
  ///
  /// Nil if there are too many bytes or pixels, if the image is animated, or if its format is not one that all programs
  /// show.
  package init?(checked bytes: [UInt8]) {
    guard 1...Self.limit ~= bytes.count else { return nil }
    let header = bytes.withUnsafeBytes { buffer -> ImageHeader? in
      let checked = CheckedBytes(buffer)
      let format = MediaFormat.of(checked)
      return [.jpeg, .png, .webp, .gif].contains(format) ? ImageHeader.read(checked, as: format) : nil
    }
    guard let header, max(header.width, header.height) <= Self.longestSide, header.frameCount == 1 else { return nil }
    self.init(bytes: bytes, sha256: contentHash(of: bytes))
  }
}
