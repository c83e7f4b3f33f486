package import DMModel
package import DMSystem

/// Prepares a private copy of a file for sending.
package struct Preparer {
  package let options: PreparationOptions
  let bench: ToolContext
  /// The name of the file in errors and warnings.
  package let subject: String

  /// - Parameters:
  ///   - folder: the folder for the results.
  ///   - progress: called about five times a second with a description of the work, while a tool runs; an error that it
  ///     throws ends the tool.
  ///   - name: the sender's name for the file.
  ///   - searchPath: the folders of the tools, in the format of PATH.
  package init(
    folder: String, options: PreparationOptions, progress: @escaping (String) throws -> Void, name: String? = nil,
    searchPath: String = Tool.environmentPath
  ) {
    self.options = options
    bench = ToolContext(folder: folder, searchPath: searchPath, progress: progress)
    subject = name.map { "'\($0)'" } ?? "the file"
  }

  /// Prepares a private copy, which must be in the folder of the results.
  ///
  /// - Throws: `bad_attachment` if the file can be sent only with `asFile`; errors of `progress`.
  package func prepare(_ source: String) throws -> PreparedFile {
    let file = try PreparedFile(asIs: source)
    if options.asFile { return file }
    switch file.format.kind {
    case .video, .audio: return try options.isVoice ? voice(file) : movie(file)
    case .image, .voice, .file:
      if options.isVoice { throw refusal("cannot be made a voice message: nothing of it can be heard") }
      return file.format.kind == .image ? try image(file) : try other(file)
    }
  }

  /// Prepares a file that is not an image, a video or a sound; such a file is sent unchanged.
  private func other(_ source: PreparedFile) throws -> PreparedFile {
    var file = source
    let content = try MappedFile(path: file.path)
    if !options.keepsMetadata, file.format == .binary, CameraFile.has(content.bytes) {
      file.advice.append(keepsMetadata)
    }
    return file
  }

  /// The warning for the user if a tool failed.
  ///
  /// - Parameters:
  ///   - general: what all files lack without the tool; this text is the same for all files, so that it is printed
  ///     once.
  ///   - lack: what this file lacks.
  package func advice(_ outcome: Tool.Outcome, of package: String, general: String, lack: String) -> [String] {
    if case .missing = outcome { return ["\(general); install \(package)"] }
    return outcome.reason.map { ["\(subject) \(lack): \($0)"] } ?? []
  }

  /// The warning about a file that is sent with its metadata, although the user did not ask for that.
  var keepsMetadata: String { "\(subject) keeps its metadata, which may tell where it was taken" }

  /// The error for a file that can be sent only with `asFile`.
  func refusal(_ reason: String) -> DMError {
    DMError(.badAttachment, "\(subject) \(reason)", subject: subject, remedy: .sendAsFile)
  }
}

extension Preparer {
  /// Makes an image upright, limits its size, removes its metadata, and adds a thumbnail.
  ///
  /// The image is encoded again only if that is necessary, or if the file may contain more than the image.
  package func image(_ source: PreparedFile) throws -> PreparedFile {
    var file = source
    file.kind = .image
    let header = try ImageHeader.read(file.path, as: file.format)
    if let header {
      try refuse(header.width * header.height, "pixels")
      (file.width, file.height) = header.displayedSize
    }
    let tool = ImageTool(bench, pixels: header.map { $0.width * $0.height })
    let needsEncoding = header.map { Self.needsEncoding($0, file.format) } ?? true
    var doubt = needsEncoding ? nil : try clean(&file)
    if let doubt, Self.isMovingPNG(header, file.format) {
      file.advice.append(doubt)
    } else if needsEncoding || doubt != nil {
      try refuse(header?.pixelCount ?? 0, "pixels in all frames")
      guard try scale(&file, header, tool) else {
        guard header != nil else { throw refusal("cannot be read as an image") }
        if needsEncoding { doubt = try clean(&file) }
        file.advice += doubt.map { [$0] } ?? []
        return file
      }
    }
    try addThumbnail(to: &file, tool)
    return file
  }

  private func refuse(_ count: Int, _ what: String) throws(DMError) {
    if count > ImageTool.pixelLimit { throw refusal("has \(count) \(what), more than \(ImageTool.pixelLimit)") }
  }

  /// Whether the image is an animated PNG, of which vips would keep only the first frame.
  private static func isMovingPNG(_ header: ImageHeader?, _ format: MediaFormat) -> Bool {
    format == .png && header.map { $0.frameCount > 1 } == true
  }

  private static func needsEncoding(_ header: ImageHeader, _ format: MediaFormat) -> Bool {
    if isMovingPNG(header, format) { return false }
    return max(header.width, header.height) > ImageTool.longestSide || header.orientation != 1 || header.isCMYK
      || format == .heic || format == .avif
  }

  /// The format after scaling: formats that few programs can show become formats that all programs can show.
  private static func scaledFormat(_ header: ImageHeader?, _ format: MediaFormat) -> MediaFormat {
    switch format {
    case .heic, .avif: header?.hasAlpha ?? false ? .webp : .jpeg
    default: format
    }
  }

  /// - Returns: whether the image was scaled.
  private func scale(
    _ file: inout PreparedFile, _ header: ImageHeader?, _ tool: ImageTool
  ) throws -> Bool {
    let format = Self.scaledFormat(header, file.format)
    let (name, output) = (fileName(of: file.path), "scaled.\(format.fileExtensions[0])")
    var outcome: Tool.Outcome
    if let header, header.hasDeepChannels, !header.hasAlpha, header.orientation == 1 {
      outcome = try tool.scaleDeep(name, header, to: output)
    } else {
      let isAnimated = [.gif, .webp].contains(file.format) && header.map { $0.frameCount > 1 } ?? false
      outcome = try tool.scale(name, header, isAnimated: isAnimated, to: output)
    }
    let scaled = try made(output, format, &outcome, cuts: !options.keepsMetadata)
    file.advice += imageAdvice(outcome, "was not scaled and has no thumbnail")
    guard let scaled else { return false }
    (file.path, file.format, file.width, file.height) = (scaled.path, scaled.format, scaled.width, scaled.height)
    return true
  }

  private func addThumbnail(to file: inout PreparedFile, _ tool: ImageTool) throws {
    let (thumbnail, outcome) = try reduced(file, tool, to: "thumbnail", side: ImageTool.thumbnailSide, quality: 75)
    file.thumbnail = thumbnail
    file.advice += imageAdvice(outcome, "has no thumbnail")
  }

  /// Makes a small image of a prepared image: a JPEG of a JPEG, otherwise a WebP.
  ///
  /// - Parameter name: the name of the result, without an extension.
  func reduced(_ file: PreparedFile, _ tool: ImageTool, to name: String, side: Int, quality: Int) throws
    -> (PreparedFile.Thumbnail?, Tool.Outcome)
  {
    let format = file.format == .jpeg ? MediaFormat.jpeg : .webp
    let output = "\(name).\(format.fileExtensions[0])"
    let hasProfile = try ImageHeader.read(file.path, as: file.format)?.hasProfile ?? false
    var outcome = try tool.thumbnail(
      fileName(of: file.path), hasProfile: hasProfile, side: side, quality: quality, to: output)
    return (try made(output, format, &outcome), outcome)
  }

  private func imageAdvice(_ outcome: Tool.Outcome, _ lack: String) -> [String] {
    advice(
      outcome, of: ImageTool.package, general: "without vips images are not scaled and have no thumbnails", lack: lack)
  }

  /// Checks an image that a tool has made, and removes its metadata.
  ///
  /// - Parameter outcome: becomes a failure if the tool made no image that can be read.
  package func made(
    _ name: String, _ format: MediaFormat, _ outcome: inout Tool.Outcome, cuts: Bool = true
  ) throws -> PreparedFile.Thumbnail? {
    guard case .ok = outcome else { return nil }
    let path = bench.path(name)
    // The installed version of the tool may have left metadata in the image.
    guard fileSize(path) > 0, let size = try ImageHeader.read(path, as: format)?.displayedSize,
      let final = try cuts ? cut(path, format, checks: false)?.path : path
    else {
      outcome = .failed("what was made cannot be read")
      return nil
    }
    return PreparedFile.Thumbnail(path: final, format: format, width: size.width, height: size.height)
  }

  /// Removes the metadata of an image, as far as the image can be read, unless the options keep it.
  ///
  /// - Returns: a warning for the user if data other than the image may be left.
  private func clean(_ file: inout PreparedFile) throws -> String? {
    if options.keepsMetadata { return nil }
    guard let (path, isFullyParsed) = try cut(file.path, file.format) else { return keepsMetadata }
    file.path = path
    return isFullyParsed ? nil : "\(subject) is damaged or written in an unusual way, and may keep hidden data"
  }

  /// - Parameter checks: whether to search for data that is hidden in the image data.
  /// - Returns: the path of the image without metadata, and whether the result has only the image; nil if the image
  ///   cannot be cut. If the image has no metadata, the path is `path` itself.
  private func cut(
    _ path: String, _ format: MediaFormat, checks: Bool = true
  ) throws -> (path: String, isFullyParsed: Bool)? {
    let file = try MappedFile(path: path)
    guard let cut = StrippedImage.of(file.bytes, as: format, keepsOrientation: true, checks: checks) else { return nil }
    if cut.pieces == [.range(0..<file.bytes.count)] { return (path, cut.isFullyParsed) }
    let clean = "\(path)-clean"
    try StrippedImage.write(cut.pieces, of: file, to: clean)
    return (clean, cut.isFullyParsed)
  }
}

extension ImageHeader {
  package static func read(_ path: String, as format: MediaFormat) throws(DMError) -> ImageHeader? {
    let file = try MappedFile(path: path)
    return read(file.bytes, as: format)
  }
}
