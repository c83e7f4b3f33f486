internal import DMSystem
internal import DMWire

/// Looks into videos and sounds and makes others of them, by ffmpeg.
///
/// The corresponding programs are ffprobe(1) and ffmpeg(1), from 5.1 on.
struct MovieTool {
  let bench: Workbench

  /// The package of Debian that has it.
  static let package = "ffmpeg"
  /// Pixels of the longest side of what is encoded anew.
  private static let longestSide = 1920

  private func tool(_ name: String, _ limits: Tool.Limits, waiting: @escaping () throws -> Void) -> Tool {
    Tool(
      name: name, folder: bench.folder, searchPath: bench.searchPath, limits: limits,
      waiting: waiting)
  }

  /// Reads no other file and no network, whatever it is told to by what it reads.
  ///
  /// A playlist would be one for its content only: as what was sniffed it is damaged.
  private static func input(_ name: String, _ format: MediaFormat) -> [String] {
    ["-v", "error", "-protocol_whitelist", "file", "-f", format.demuxer, "-i", "file:\(name)"]
  }

  /// What a video or a sound is; nil when `outcome` says why it cannot be read.
  func probe(_ name: String, _ format: MediaFormat, _ outcome: inout Tool.Outcome) throws -> MovieHeader? {
    let entries =
      "stream=codec_type,width,height,sample_aspect_ratio:stream_disposition=attached_pic"
      + ":stream_side_data=rotation:format=duration"
    outcome = try tool("ffprobe", Tool.Limits()) { try bench.progress("looking into it") }
      .run(["-show_entries", entries, "-of", "json"] + Self.input(name, format))
    guard case .ok(let output) = outcome else { return nil }
    do {
      return MovieHeader(probed: try JSONReader.object(output[...]))
    } catch {
      outcome = .failed("what ffprobe wrote cannot be read")
      return nil
    }
  }

  /// Makes a small JPEG of a moment.
  ///
  /// - Parameter moment: in milliseconds.
  func poster(_ name: String, _ format: MediaFormat, at moment: Int64, to output: String) throws -> Tool.Outcome {
    try tool("ffmpeg", Tool.Limits(memory: 1 << 30)) { try bench.progress("making a thumbnail") }
      .run(
        ["-nostdin", "-ss", "\(moment)ms"] + Self.input(name, format)
          + ["-map", "0:V:0", "-frames:v", "1", "-vf", Self.scaling(to: ImageTool.thumbnailSide, by: 1)]
          + ["-c:v", "mjpeg", "-q:v", "4", "-f", "mjpeg", "-y", "file:\(output)"])
  }

  /// Square pixels of which no side is longer than it may be, nor than it was.
  private static func scaling(to side: Int, by divisor: Int) -> String {
    "scale=iw*sar:ih,setsar=1,scale=w='min(\(side),iw)':h='min(\(side),ih)':force_original_aspect_ratio=decrease"
      + ":force_divisible_by=\(divisor)"
  }

  /// Copies what is seen and heard, as it is, and nothing else: data streams and tags tell where it was taken.
  func remux(_ name: String, _ format: MediaFormat, _ length: Duration?, to output: String) throws -> Tool.Outcome {
    let limits = Tool.Limits(
      seconds: 900, processorSeconds: 900, fileSize: 2 * fileSize(bench.path(name)) + (16 << 20))
    let maps = ["-map", "0:V", "-map", "0:a?", "-c", "copy"]
    return try write(name, format, maps, to: output, limits, "removing metadata", length)
  }

  /// Makes H.264 and AAC of it, which all can play, in an MP4.
  ///
  /// - Parameter bitrate: of what is seen, in kilobits per second.
  func transcode(
    _ name: String, _ format: MediaFormat, bitrate: Int, _ length: Duration?, to output: String
  ) throws -> Tool.Outcome {
    let seconds = 600 + 60 * (length?.components.seconds ?? 600)
    let limits = Tool.Limits(
      seconds: seconds, processorSeconds: 16 * Int(seconds), memory: 4 << 30,
      fileSize: max(4 * fileSize(bench.path(name)), 1 << 30))
    let video = [
      "-map", "0:V:0", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-vf", Self.scaling(to: Self.longestSide, by: 2),
    ]
    let rate = ["-b:v", "\(bitrate)k", "-maxrate", "\(bitrate)k", "-bufsize", "\(2 * bitrate)k"]
    let audio = ["-map", "0:a:0?", "-c:a", "aac", "-b:a", "128k"]
    return try write(name, format, video + rate + audio, to: output, limits, "converting", length)
  }

  private func write(
    _ name: String, _ format: MediaFormat, _ what: [String], to output: String, _ limits: Tool.Limits, _ act: String,
    _ length: Duration?
  ) throws -> Tool.Outcome {
    var done: Int64 = 0
    let tool = tool("ffmpeg", limits) {
      let share = length.map { " \(min(100, 100 * done / max(1, $0.microseconds))) %" } ?? ""
      try bench.progress(act + share)
    }
    // The index goes to the front, for who plays it while it comes.
    let index = output.hasSuffix(".mp4") || output.hasSuffix(".mov") ? ["-movflags", "+faststart"] : []
    return try tool.run(
      ["-nostdin", "-progress", "pipe:1"] + Self.input(name, format) + what + Self.withoutTags + index
        + ["-y", "file:\(output)"]
    ) { bytes in
      for line in bytes.split(separator: 0x0A) where line.starts(with: Array("out_time_us=".utf8)) {
        done = Int64(String(decoding: line.drop { $0 != UInt8(ascii: "=") }.dropFirst(), as: UTF8.self)) ?? done
      }
    }
  }

  private static let withoutTags = ["-map_metadata", "-1", "-map_chapters", "-1", "-fflags", "+bitexact"]

  /// Makes speech of what can be heard, Opus in Ogg, and tells how loud it is when.
  func voice(
    _ name: String, _ format: MediaFormat, to output: String, _ waveform: inout Waveform
  ) throws -> Tool.Outcome {
    var shape = Waveform()
    defer { waveform = shape }
    let limits = Tool.Limits(seconds: 900, processorSeconds: 1800)
    return try tool("ffmpeg", limits) { try bench.progress("making a voice message, \(shape.count / Waveform.rate) s") }
      .run(
        ["-nostdin"] + Self.input(name, format)
          + ["-map", "0:a:0", "-ac", "1", "-c:a", "libopus", "-b:a", "32k", "-application", "voip"] + Self.withoutTags
          + ["-f", "ogg", "-y", "file:\(output)"]
          // What it is decoded to once is what the shape is taken of.
          + ["-map", "0:a:0", "-f", "s16le", "-ac", "1", "-ar", "\(Waveform.rate)", "pipe:1"]
      ) { shape.add($0) }
  }
}

extension MediaFormat {
  /// What ffmpeg calls what reads it, and nothing else; see ffmpeg-formats(1).
  fileprivate var demuxer: String {
    switch self {
    case .mp4, .quickTime, .m4a: "mov"
    case .webm, .matroska: "matroska"
    case .avi: "avi"
    case .mp3: "mp3"
    case .aac: "aac"
    case .ogg: "ogg"
    case .flac: "flac"
    case .wav: "wav"
    default: "data"
    }
  }
}

extension MovieHeader {
  /// From what ffprobe(1) tells; a picture of an album is no video.
  fileprivate init(probed object: JSONObject) {
    self.init(duration: nil, hasVideo: false)
    if case .object(let format)? = object["format"], case .string(let text)? = format["duration"],
      let seconds = Double(text), seconds > 0, seconds < Double(Int32.max)
    {
      duration = .milliseconds(Int64((seconds * 1000).rounded()))
    }
    guard case .array(let streams)? = object["streams"] else { return }
    for case .object(let stream) in streams where stream["codec_type"] == .string("video") && !hasVideo {
      if case .object(let disposition)? = stream["disposition"], disposition["attached_pic"] == .integer(1) { continue }
      hasVideo = true
      (width, height) = Self.displayedSize(stream)
    }
  }

  private static func displayedSize(_ stream: JSONObject) -> (Int?, Int?) {
    guard case .integer(var width)? = stream["width"], case .integer(let height)? = stream["height"], width > 0,
      height > 0
    else { return (nil, nil) }
    // Pixels need not be square.
    if case .string(let ratio)? = stream["sample_aspect_ratio"], case let parts = ratio.split(separator: ":"),
      parts.count == 2, let across = Int32(parts[0]), let down = Int32(parts[1]), across > 0, down > 0
    {
      width = max(1, (width * Int(across) + Int(down) / 2) / Int(down))
    }
    if case .array(let sides)? = stream["side_data_list"] {
      for case .object(let side) in sides {
        if case .integer(let angle)? = side["rotation"], angle % 180 != 0 { return (height, width) }
      }
    }
    return (width, height)
  }
}
