internal import DMSystem

/// Makes images smaller, by vips.
///
/// The corresponding programs are vipsthumbnail(1) and vips(1), as of 8.14; later ones accept the same options, some of
/// them as older names.
struct ImageTool {
  private let bench: Workbench
  private let memory: Int

  /// The package of Debian that has it.
  static let package = "libvips-tools"
  /// Pixels of the longest side of what is sent, and of a thumbnail.
  static let longestSide = 2048
  static let thumbnailSide = 320
  /// The most that is looked at, of all frames that are.
  static let pixelLimit = 1 << 28

  /// - Parameter pixels: of one frame, when that is known.
  init(_ bench: Workbench, pixels: Int?) {
    self.bench = bench
    // Some formats are decoded whole, at 7 bytes a pixel and more; larger than what cameras make must do with less.
    memory = (pixels.map { $0 <= 50_000_000 } ?? false ? 400 : 200) << 20
  }

  private func tool(_ name: String, _ act: String) -> Tool {
    Tool(
      name: name, folder: bench.folder, searchPath: bench.searchPath,
      limits: Tool.Limits(memory: memory, fileSize: 4 * Self.pixelLimit),
      environment: [
        // Threads beyond two cost memory for each processor and save little.
        "VIPS_CONCURRENCY": "2",
        // Loaders that are not made for hostile files, since 8.13.
        "VIPS_BLOCK_UNTRUSTED": "1",
        // What is said last is to be what failed.
        "VIPS_WARNING": "0",
        // What does not fit into memory goes where everything goes away.
        "TMPDIR": ".",
      ],
      waiting: { try bench.progress(act) })
  }

  /// Makes an image that is at most 2048 pixels long, upright, in a format by its name.
  ///
  /// - Parameter isMoving: whether it has several frames, all of which are kept.
  func scale(_ name: String, _ header: ImageHeader?, isMoving: Bool, to output: String) throws -> Tool.Outcome {
    let side = Self.longestSide
    let frames = isMoving ? "[n=-1]" : ""
    let options = output.hasSuffix(".jpg") || output.hasSuffix(".webp") ? "[Q=85]" : ""
    let profile = header?.isCMYK ?? false ? ["--export-profile", "srgb"] : []
    return try tool("vipsthumbnail", "scaling")
      .run(["--size", "\(side)x\(side)>"] + profile + ["-o", output + options, name + frames])
  }

  /// Makes an image smaller that is upright and without transparency, with all of its 16 bits a channel.
  ///
  /// vipsthumbnail(1) makes 8 of them.
  func scaleDeep(_ name: String, _ header: ImageHeader, to output: String) throws -> Tool.Outcome {
    let scale = min(1, Double(Self.longestSide) / Double(max(header.width, header.height)))
    return try tool("vips", "scaling").run(["resize", "\(name)[access=sequential]", output, "\(scale)"])
  }

  /// Makes a small sRGB image of the first frame, in a format by its name.
  ///
  /// - Parameter hasProfile: whether it has to be converted: what has no profile is sRGB, and converting that from what
  ///   vips takes it for changes its colours.
  func thumbnail(_ name: String, hasProfile: Bool, to output: String) throws -> Tool.Outcome {
    let side = Self.thumbnailSide
    let profile = hasProfile ? ["--export-profile", "srgb"] : []
    // A browser takes an image without a profile for sRGB, and the profile would be as large as the image.
    return try tool("vipsthumbnail", "making a thumbnail")
      .run(["--size", "\(side)x\(side)>"] + profile + ["-o", "\(output)[Q=75,profile=none]", name])
  }
}
