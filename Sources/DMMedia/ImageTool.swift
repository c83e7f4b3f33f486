internal import DMSystem

/// Scales images with vips.
///
/// The corresponding programs are vipsthumbnail(1) and vips(1), as of 8.14; later ones accept the same options, some of
/// them as older names.
struct ImageTool {
  private let bench: ToolContext
  private let memory: Int

  /// The Debian package of vips.
  static let package = "libvips-tools"
  /// The longest side of a sent image, in pixels.
  static let longestSide = 2048
  /// The longest side of a thumbnail, in pixels.
  static let thumbnailSide = 320
  /// The maximum number of pixels of all frames that are decoded.
  static let pixelLimit = 1 << 28

  /// - Parameter pixels: the number of pixels of one frame; nil if the header does not say it.
  init(_ bench: ToolContext, pixels: Int?) {
    self.bench = bench
    // Some formats are decoded as a whole, at 7 bytes per pixel and more; images of an unknown size, or larger than
    // those of cameras, get less memory.
    memory = (pixels.map { $0 <= 50_000_000 } ?? false ? 400 : 200) << 20
  }

  private func tool(_ name: String, _ act: String) -> Tool {
    Tool(
      name: name, folder: bench.folder, searchPath: bench.searchPath,
      limits: Tool.Limits(memory: memory, fileSize: 4 * Self.pixelLimit),
      environment: [
        // Threads beyond two cost memory for each processor and save little.
        "VIPS_CONCURRENCY": "2",
        // Blocks the loaders that are not made for hostile files, since 8.13.
        "VIPS_BLOCK_UNTRUSTED": "1",
        // Without warnings, the last line is the error.
        "VIPS_WARNING": "0",
        // Data that does not fit into memory goes to the work folder, which is removed.
        "TMPDIR": ".",
      ],
      onTick: { try bench.progress(act) })
  }

  /// Makes an upright image of at most 2,048 pixels a side; the extension of `output` selects the format.
  ///
  /// - Parameter isAnimated: whether it has several frames, all of which are kept.
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
  /// vipsthumbnail(1) reduces them to 8.
  func scaleDeep(_ name: String, _ header: ImageHeader, to output: String) throws -> Tool.Outcome {
    let scale = min(1, Double(Self.longestSide) / Double(max(header.width, header.height)))
    return try tool("vips", "scaling").run(["resize", "\(name)[access=sequential]", output, "\(scale)"])
  }

  /// Makes a small sRGB image of the first frame; the extension of `output` selects the format.
  ///
  /// - Parameter hasProfile: whether the image has a profile from which to convert. An image without one is sRGB, and a
  ///   conversion from the profile that vips assumes would change its colours.
  func thumbnail(_ name: String, hasProfile: Bool, to output: String) throws -> Tool.Outcome {
    let side = Self.thumbnailSide
    let profile = hasProfile ? ["--export-profile", "srgb"] : []
    // Browsers treat an image without a profile as sRGB, and the profile would be as large as the image.
    return try tool("vipsthumbnail", "making a thumbnail")
      .run(["--size", "\(side)x\(side)>"] + profile + ["-o", "\(output)[Q=75,profile=none]", name])
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
