internal import DMJSON
internal import DMSystem

/// Reads and converts videos and sounds with ffmpeg.
///
/// The programs are ffprobe(1) and ffmpeg(1), version 5.1 or later.
struct MovieTool {
  let bench: ToolContext

  /// The Debian package of ffmpeg.
  static let package = "ffmpeg"
  /// The longest side of a converted video, in pixels.
  private static let longestSide = 1920

  private func tool(_ name: String, _ limits: Tool.Limits, onTick: @escaping () throws -> Void) -> Tool {
    Tool(
      name: name, folder: bench.folder, searchPath: bench.searchPath, limits: limits,
      onTick: onTick)
  }

  /// Arguments that make ffmpeg read only this file, not the network or another file to which this file refers.
  ///
  /// The arguments name the format, because ffmpeg would otherwise treat a file that contains a playlist as a playlist.
  private static func input(_ name: String, _ format: MediaFormat) -> [String] {
    ["-v", "error", "-protocol_whitelist", "file", "-f", format.demuxer, "-i", "file:\(name)"]
  }

  /// The header of a video or a sound; nil if it cannot be read, and then `outcome` has the reason.
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

  /// Makes a small JPEG of the frame at `time`.
  ///
  /// - Parameter time: in milliseconds.
  func poster(_ name: String, _ format: MediaFormat, at time: Int64, to output: String) throws -> Tool.Outcome {
    try tool("ffmpeg", Tool.Limits(memory: 1 << 30)) { try bench.progress("making a thumbnail") }
      .run(
        ["-nostdin", "-ss", "\(time)ms"] + Self.input(name, format)
          + ["-map", "0:V:0", "-frames:v", "1", "-vf", Self.scaling(to: ImageTool.thumbnailSide, by: 1)]
          + ["-c:v", "mjpeg", "-q:v", "4", "-f", "mjpeg", "-y", "file:\(output)"])
  }

  /// A filter that makes pixels square, and shrinks an image whose longest side exceeds `side` pixels.
  private static func scaling(to side: Int, by divisor: Int) -> String {
    "scale=iw*sar:ih,setsar=1,scale=w='min(\(side),iw)':h='min(\(side),ih)':force_original_aspect_ratio=decrease"
      + ":force_divisible_by=\(divisor)"
  }

  /// Copies only the video and audio streams, unchanged, because data streams and tags may contain the position where
  /// the video was taken.
  func remux(_ name: String, _ format: MediaFormat, _ length: Duration?, to output: String) throws -> Tool.Outcome {
    let limits = Tool.Limits(
      seconds: 900, processorSeconds: 900, fileSize: 2 * fileSize(bench.path(name)) + (16 << 20))
    let maps = ["-map", "0:V", "-map", "0:a?", "-c", "copy"]
    return try write(name, format, maps, to: output, limits, "removing metadata", length)
  }

  /// Converts a video to H.264 and AAC in an MP4, which all players support.
  ///
  /// - Parameter bitrate: of the video stream, in kilobits per second.
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
    // The index goes to the beginning, so that the file can be played while it is downloaded.
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

  /// Encodes the audio as speech (Opus in Ogg), and computes its waveform.
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
          // The waveform is computed from the same decoded audio.
          + ["-map", "0:a:0", "-f", "s16le", "-ac", "1", "-ar", "\(Waveform.rate)", "pipe:1"]
      ) { shape.add($0) }
  }
}

extension MediaFormat {
  /// The name of ffmpeg's demuxer for this format; see ffmpeg-formats(1).
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
  /// Reads the output of ffprobe(1); an album cover does not count as video.
  fileprivate init(probed object: JSONObject) {
    self.init(duration: Self.duration(object), hasVideo: false)
    guard case .array(let streams)? = object["streams"] else { return }
    for case .object(let stream) in streams where stream["codec_type"] == .string("video") && !hasVideo {
      if case .object(let disposition)? = stream["disposition"], disposition["attached_pic"] == .integer(1) { continue }
      hasVideo = true
      (width, height) = Self.displayedSize(stream)
    }
  }

  private static func duration(_ object: JSONObject) -> Duration? {
    guard case .object(let format)? = object["format"], case .string(let text)? = format["duration"],
      let seconds = Double(text), seconds > 0, seconds < Double(Int32.max)
    else { return nil }
    return .milliseconds(Int64((seconds * 1000).rounded()))
  }

  private static func displayedSize(_ stream: JSONObject) -> (Int?, Int?) {
    guard case .integer(let pixels)? = stream["width"], case .integer(let height)? = stream["height"], pixels > 0,
      height > 0
    else { return (nil, nil) }
    let width = displayedWidth(pixels, stream)
    return isRotated(stream) ? (height, width) : (width, height)
  }

  /// The width in square pixels; the pixels of a video need not be square.
  private static func displayedWidth(_ pixels: Int, _ stream: JSONObject) -> Int {
    guard case .string(let ratio)? = stream["sample_aspect_ratio"], case let parts = ratio.split(separator: ":"),
      parts.count == 2, let across = Int32(parts[0]), let down = Int32(parts[1]), across > 0, down > 0
    else { return pixels }
    return max(1, (pixels * Int(across) + Int(down) / 2) / Int(down))
  }

  private static func isRotated(_ stream: JSONObject) -> Bool {
    guard case .array(let sides)? = stream["side_data_list"] else { return false }
    return sides.contains { side in
      guard case .object(let side) = side, case .integer(let angle)? = side["rotation"] else { return false }
      return angle % 180 != 0
    }
  }
}
