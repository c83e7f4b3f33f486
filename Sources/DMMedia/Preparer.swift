internal import DMModel
package import DMSystem

/// Makes of a private copy what is to be sent.
package struct Preparer {
  package let options: PreparationOptions
  let bench: Workbench
  /// What the file is called in what is said about it.
  package let subject: String

  /// - Parameters:
  ///   - folder: what is made is put there.
  ///   - progress: called about five times a second with what is being done, while a tool works; what it throws ends
  ///     that.
  ///   - name: what the sender calls the file.
  ///   - searchPath: where tools are, as in the environment's PATH.
  package init(
    folder: String, options: PreparationOptions, progress: @escaping (String) throws -> Void, name: String? = nil,
    searchPath: String = Tool.environmentPath
  ) {
    self.options = options
    bench = Workbench(folder: folder, searchPath: searchPath, progress: progress)
    subject = name.map { "'\($0)'" } ?? "the file"
  }

  /// Prepares a private copy, which is a file in the folder.
  ///
  /// - Throws: `bad_attachment` when it cannot be sent as what it is; what `progress` throws.
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

  /// What is neither an image nor a film to us is sent as it is.
  private func other(_ source: PreparedFile) throws -> PreparedFile {
    var file = source
    let content = try MappedFile(path: file.path)
    if !options.keepsMetadata, file.format == .binary, CameraFile.has(content.bytes) {
      file.advice.append(keepsMetadata)
    }
    return file
  }

  /// What a person should know when a tool has not done its work.
  ///
  /// - Parameters:
  ///   - general: what is not done of any file without the tool; equal for all files, so that it is said once.
  ///   - lack: what was not done of this one.
  package func advice(_ outcome: Tool.Outcome, of package: String, general: String, lack: String) -> [String] {
    if case .missing = outcome { return ["\(general); install \(package)"] }
    return outcome.reason.map { ["\(subject) \(lack): \($0)"] } ?? []
  }

  /// What is said of a file that is sent with its metadata, although nobody asked for that.
  var keepsMetadata: String { "\(subject) keeps its metadata, which may tell where it was taken" }

  /// What cannot be sent as what it is, but as a file.
  func refusal(_ reason: String) -> DMError {
    DMError(.badAttachment, "\(subject) \(reason); --as-file sends it as it is", subject: subject)
  }
}
