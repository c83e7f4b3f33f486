package import DMModel
internal import DMSystem

/// The result of preparing a file: files in the work folder, which are stored next, and their properties.
package struct PreparedFile: Sendable {
  package struct Thumbnail: Sendable {
    package let path: String
    package let format: MediaFormat
    package let width: Int
    package let height: Int
  }

  /// The path of the content; if nothing was changed, this is the private copy itself.
  package var path: String
  package var kind: Attachment.Kind
  package var format: MediaFormat
  /// In pixels, as displayed; the same is true of `height`.
  package var width: Int?
  package var height: Int?
  package var duration: Duration?
  package var thumbnail: Thumbnail?
  package var waveform: [UInt8]?
  /// Warnings for the user, one clause each, about steps that were not done, and programs to install.
  package var advice: [String] = []
}

extension PreparedFile {
  /// Describes a file that is sent unchanged.
  package init(asIs path: String) throws {
    let file = try MappedFile(path: path)
    self.init(path: path, kind: .file, format: MediaFormat.of(file.bytes))
  }

  /// The name of the attachment: safe as a file name, and with an extension that fits the content.
  ///
  /// - Parameter keeps: whether to keep an extension that does not fit the content.
  package func name(_ wanted: String?, keeps: Bool) -> String {
    let name = Attachment.safeName(wanted ?? "file")
    // A .docx file is a ZIP archive, but must keep its extension.
    let isLeft = keeps || kind == .file
    guard let usual = format.fileExtensions.first, !isLeft || wanted == nil else { return name }
    let fits = Attachment.fileExtension(of: name).map { format.fileExtensions.contains($0.lowercased()) } == true
    return fits ? name : Attachment.name(name, withExtension: usual)
  }
}

extension Attachment {
  /// Makes an attachment of a prepared file, with a new id.
  package init(_ file: PreparedFile, name: String, sha256: ContentHash) throws {
    self.init(
      id: Identifier(at: .now), kind: file.kind, name: name, mimeType: file.format.rawValue,
      sizeBytes: fileSize(file.path), sha256: sha256)
    (width, height) = (file.width, file.height)
    (duration, waveform) = (file.duration, file.waveform)
    thumbnail = try file.thumbnail.map { small in
      Thumbnail(
        sha256: try contentHash(ofFile: small.path), mimeType: small.format.rawValue, sizeBytes: fileSize(small.path),
        width: small.width, height: small.height)
    }
  }
}
