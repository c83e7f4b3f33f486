internal import DMModel
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

  /// Prepares a private copy, which is a file in the folder.
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

  /// Prepares a file that is not an image, video or sound, which is sent unchanged.
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
  ///   - general: the results that all files lack without the tool; the same for all files, so that it is printed once.
  ///   - lack: the results that this file lacks.
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
