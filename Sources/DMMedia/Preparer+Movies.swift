internal import DMModel
internal import DMSystem

extension Preparer {
  /// Prepares a video or a sound: a video loses its metadata and gets a thumbnail, and a sound stays unchanged.
  func movie(_ source: PreparedFile) throws -> PreparedFile {
    var file = source
    file.kind = source.format.kind
    let tool = MovieTool(bench: bench)
    let name = fileName(of: source.path)
    var outcome = Tool.Outcome.missing
    let header = try tool.probe(name, source.format, &outcome) ?? ownHeader(source)
    describe(&file, header)
    if file.kind == .video, header?.hasVideo == false {
      file.kind = .audio
      if file.format == .mp4 { file.format = .m4a }
    }
    if file.kind == .audio {
      (file.width, file.height) = (nil, nil)
      if file.duration == nil { file.advice += movieAdvice(outcome, "has no duration") }
      if !options.keepsMetadata, try MovieMetadataEraser.hasLocation(file.path) { file.advice.append(keepsMetadata) }
      return file
    }
    guard case .ok = outcome else {
      file.advice += movieAdvice(outcome, "has no thumbnail")
      if try !options.keepsMetadata && !MovieMetadataEraser.cut(file.path, as: file.format) {
        file.advice.append(keepsMetadata)
      }
      return file
    }
    try addPoster(to: &file, name, tool)
    return try converted(file, from: source, tool)
  }

  /// Converts a video to another bitrate if the options ask for one, and removes its metadata unless the options keep
  /// it.
  private func converted(_ video: PreparedFile, from source: PreparedFile, _ tool: MovieTool) throws -> PreparedFile {
    var (file, outcome) = (video, Tool.Outcome.missing)
    let name = fileName(of: source.path)
    if let bitrate = options.videoBitrate {
      outcome = try tool.transcode(name, source.format, bitrate: bitrate, file.duration, to: "video.mp4")
      if try take("video.mp4", .mp4, &outcome, &file, tool) { return file }
      file.advice += movieAdvice(outcome, "was not converted")
    }
    if !options.keepsMetadata {
      let output = "movie.\(source.format.fileExtensions[0])"
      outcome = try tool.remux(name, source.format, file.duration, to: output)
      // If ffmpeg cannot write this combination of streams, the metadata is overwritten in place.
      if try !take(output, source.format, &outcome, &file, tool),
        try !MovieMetadataEraser.cut(file.path, as: file.format)
      {
        file.advice += movieAdvice(outcome, "keeps its metadata, which may tell where it was taken")
      }
    }
    return file
  }

  private func ownHeader(_ file: PreparedFile) throws -> MovieHeader? {
    let mapped = try MappedFile(path: file.path)
    return MovieHeader.read(mapped.bytes, as: file.format)
  }

  private func describe(_ file: inout PreparedFile, _ header: MovieHeader?) {
    file.width = header?.width ?? file.width
    file.height = header?.height ?? file.height
    file.duration = header?.duration ?? file.duration
  }

  /// Replaces the content of `file` with a tool's output, and reads the header of the output.
  ///
  /// - Parameter outcome: becomes a failure if the output cannot be read.
  /// - Returns: whether the content was replaced.
  private func take(
    _ name: String, _ format: MediaFormat, _ outcome: inout Tool.Outcome, _ file: inout PreparedFile, _ tool: MovieTool
  ) throws -> Bool {
    guard case .ok = outcome, let header = try tool.probe(name, format, &outcome) else { return false }
    (file.path, file.format) = (bench.path(name), format)
    describe(&file, header)
    return true
  }

  /// Adds a thumbnail, which is not the first frame, because that frame is often black.
  ///
  /// The thumbnail is the frame at one second or, if the video is shorter than two seconds, the frame in the middle.
  private func addPoster(to file: inout PreparedFile, _ name: String, _ tool: MovieTool) throws {
    let middle = (file.duration?.microseconds ?? 0) / 2000
    var outcome = try tool.poster(name, file.format, at: min(1000, middle), to: "poster.jpg")
    file.thumbnail = try made("poster.jpg", .jpeg, &outcome)
    file.advice += movieAdvice(outcome, "has no thumbnail")
  }

  private func movieAdvice(_ outcome: Tool.Outcome, _ lack: String) -> [String] {
    advice(
      outcome, of: MovieTool.package,
      general: "without ffmpeg videos have no thumbnails, and sounds may have no duration", lack: lack)
  }

  /// Makes a voice message of the audio; without ffmpeg the file is prepared as `movie` does.
  ///
  /// - Throws: `bad_attachment` if ffmpeg fails, for example because there is no audio.
  func voice(_ source: PreparedFile) throws -> PreparedFile {
    var waveform = Waveform()
    let outcome = try MovieTool(bench: bench)
      .voice(fileName(of: source.path), source.format, to: "voice.ogg", &waveform)
    if case .missing = outcome {
      var file = try movie(source)
      file.advice.insert("without ffmpeg no voice messages are made; install \(MovieTool.package)", at: 0)
      return file
    }
    if let reason = outcome.reason { throw refusal("cannot be made a voice message: \(reason)") }
    var file = source
    (file.path, file.kind, file.format) = (bench.path("voice.ogg"), .voice, .ogg)
    (file.duration, file.waveform) = (waveform.duration, waveform.buckets)
    return file
  }
}
