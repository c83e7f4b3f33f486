package import DMModel
internal import DMSystem

/// What a preparation made of a file: files in its own folder, which are stored next, and what is known of them.
package struct PreparedFile: Sendable {
  package struct Thumbnail: Sendable {
    package let path: String
    package let format: MediaFormat
    package let width: Int
    package let height: Int
  }

  /// Where the content is: the private copy itself, where nothing was to be changed.
  package var path: String
  package var kind: Attachment.Kind
  package var format: MediaFormat
  /// Pixels, as it is looked at.
  package var width: Int?
  package var height: Int?
  package var duration: Duration?
  package var thumbnail: Thumbnail?
  package var waveform: [UInt8]?
  /// What a person should know, a clause each: what was left undone and what to install.
  package var advice: [String] = []
}

/// How a file is to be prepared.
public struct PreparationOptions: Sendable {
  /// Changes nothing at all and looks at nothing but what kind of content it is.
  public var asFile = false
  public var keepsMetadata = false
  /// Makes a voice message of what can be heard.
  public var isVoice = false
  /// Makes H.264 and AAC of a video, at so many kilobits per second.
  public var videoBitrate: Int?
  /// Bytes of a source; a larger one is refused.
  public var maximumSize = 4 << 30

  public init() {}
}

extension PreparedFile {
  /// A file that is sent as it is.
  package init(asIs path: String) throws {
    let file = try MappedFile(path: path)
    self.init(path: path, kind: .file, format: MediaFormat.of(file.bytes))
  }

  /// What it is called: safe for a file, and with the extension of what it is.
  ///
  /// - Parameter keeps: whether an extension stays that does not fit the content.
  package func name(_ wanted: String?, keeps: Bool) -> String {
    let name = Attachment.safeName(wanted ?? "file")
    // What is called .docx is a ZIP and not to be called one.
    let isLeft = keeps || kind == .file
    guard let usual = format.fileExtensions.first, !isLeft || wanted == nil else { return name }
    let fits = Attachment.fileExtension(of: name).map { format.fileExtensions.contains($0.lowercased()) } == true
    return fits ? name : Attachment.name(name, withExtension: usual)
  }
}

extension Attachment {
  /// What is to be sent of what was prepared, under a new id.
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
