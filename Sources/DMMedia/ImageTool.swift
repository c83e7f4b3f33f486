internal import DMSystem

/// Scales images with vips.
///
/// The programs are vipsthumbnail(1) and vips(1), with the options of vips 8.14; later versions also accept these
/// options, some of them as older names.
struct ImageTool {
  private let bench: ToolContext
  private let memory: Int

  /// The Debian package of vips.
  static let package = "libvips-tools"
  /// The longest side of a sent image, in pixels.
  static let longestSide = 2048
  /// The longest side of a thumbnail, in pixels.
  static let thumbnailSide = 320
  /// The maximum number of pixels, in all frames together, of an image that is decoded.
  static let pixelLimit = 1 << 28

  /// - Parameter pixels: the number of pixels of one frame; nil if the header does not contain it.
  init(_ bench: ToolContext, pixels: Int?) {
    self.bench = bench
    // Some formats are decoded as a whole, which needs at least 7 bytes per pixel. Images that are larger than those of
    // cameras, or whose size is unknown, get less memory.
    memory = (pixels.map { $0 <= 50_000_000 } ?? false ? 400 : 200) << 20
  }

  private func tool(_ name: String, _ act: String) -> Tool {
    Tool(
      name: name, folder: bench.folder, searchPath: bench.searchPath,
      limits: Tool.Limits(memory: memory, fileSize: 4 * Self.pixelLimit),
      environment: [
        // By default, vips uses a thread for each processor. More than two threads need more memory, and save little
        // time.
        "VIPS_CONCURRENCY": "2",
        // Blocks the loaders that are not safe for hostile files; supported since vips 8.13.
        "VIPS_BLOCK_UNTRUSTED": "1",
        // Turns warnings off, so that the last line of the output is the error.
        "VIPS_WARNING": "0",
        // Makes vips write data that does not fit into memory to the work folder, which is removed later.
        "TMPDIR": ".",
      ],
      onTick: { try bench.progress(act) })
  }

  /// Makes an upright image of at most 2,048 pixels a side; the extension of `output` selects the format.
  ///
  /// - Parameter isAnimated: whether the image has several frames; all of them are kept.
  func scale(_ name: String, _ header: ImageHeader?, isAnimated: Bool, to output: String) throws -> Tool.Outcome {
    let side = Self.longestSide
    let frames = isAnimated ? "[n=-1]" : ""
    let options = output.hasSuffix(".jpg") || output.hasSuffix(".webp") ? "[Q=85]" : ""
    let profile = header?.isCMYK ?? false ? ["--export-profile", "srgb"] : []
    return try tool("vipsthumbnail", "scaling")
      .run(["--size", "\(side)x\(side)>"] + profile + ["-o", output + options, name + frames])
  }

  /// Scales an upright image without transparency, and keeps its 16 bits per channel.
  ///
  /// vipsthumbnail(1) would reduce the channels to 8 bits.
  func scaleDeep(_ name: String, _ header: ImageHeader, to output: String) throws -> Tool.Outcome {
    let scale = min(1, Double(Self.longestSide) / Double(max(header.width, header.height)))
    return try tool("vips", "scaling").run(["resize", "\(name)[access=sequential]", output, "\(scale)"])
  }

  /// Makes a small sRGB image of the first frame; the extension of `output` selects the format.
  ///
  /// - Parameter hasProfile: whether the image has a profile from which to convert. An image without a profile is sRGB;
  ///   a conversion from the profile that vips assumes would change its colors.
  func thumbnail(
    _ name: String, hasProfile: Bool, side: Int, quality: Int, to output: String
  ) throws -> Tool.Outcome {
    let profile = hasProfile ? ["--export-profile", "srgb"] : []
    // Leaves the profile out: browsers treat an image without a profile as sRGB, and the profile would be as large as
    // the thumbnail.
    return try tool("vipsthumbnail", "making a thumbnail")
      .run(["--size", "\(side)x\(side)>"] + profile + ["-o", "\(output)[Q=\(quality),profile=none]", name])
  }
}

/// The common settings of all tools that work on one file.
struct ToolContext {
  /// The folder of the private copy and of the results; no other process writes there.
  let folder: String
  let searchPath: String
  /// Called about five times a second with a description of the work, while a tool runs; an error that it throws ends
  /// the tool.
  let progress: (String) throws -> Void

  func path(_ name: String) -> String { "\(folder)/\(name)" }
}
