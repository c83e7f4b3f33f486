/// A file that is in a message, or that was prepared to be sent.
public struct Attachment: Equatable, Identifiable, Sendable {
  /// The kind of an attachment, determined from its content; only for `voice`, the sender decides.
  ///
  /// Expect more cases in later versions.
  public enum Kind: String, Sendable, CaseIterable {
    /// A still or animated image.
    case image
    /// Moving pictures, with or without sound.
    case video
    /// Sound that is not a voice message.
    case audio
    /// Speech that was recorded as a message.
    case voice
    /// Any other content.
    case file

    /// The number that stores contain for the kind.
    package var number: Int64 {
      switch self {
      case .image: 1
      case .video: 2
      case .audio: 3
      case .voice: 4
      case .file: 5
      }
    }

    package init?(number: Int64) {
      guard let kind = Self.allCases.first(where: { $0.number == number }) else { return nil }
      self = kind
    }
  }

  /// A small image of the attachment.
  public struct Thumbnail: Equatable, Sendable {
    /// The hash of the content of the thumbnail.
    public let sha256: ContentHash
    /// The media type of the thumbnail, such as `image/jpeg`.
    public let mimeType: String
    /// The size of the thumbnail in bytes.
    public let sizeBytes: Int
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int

    /// Makes a value, for example for a preview or a test of a view.
    public init(sha256: ContentHash, mimeType: String, sizeBytes: Int, width: Int, height: Int) {
      self.sha256 = sha256
      self.mimeType = mimeType
      self.sizeBytes = sizeBytes
      self.width = width
      self.height = height
    }
  }

  /// The id, with which `Outgoing` refers to the attachment.
  public package(set) var id: Identifier
  /// The kind, which decides how the attachment is shown.
  public let kind: Kind
  /// The name, at most 255 bytes; never a path, and safe to use as a file name.
  public let name: String
  /// The media type, such as `image/jpeg`.
  public let mimeType: String
  /// The size of the content in bytes.
  public let sizeBytes: Int
  /// The hash of the content.
  public let sha256: ContentHash
  /// The width in pixels, as displayed; nil if the attachment has no width, or if it is unknown.
  public var width: Int?
  /// The height in pixels, as displayed; nil if the attachment has no height, or if it is unknown.
  public var height: Int?
  /// The playing time; nil if the attachment has none, or if it is unknown.
  public var duration: Duration?
  /// A small image of the attachment; nil if there is none.
  public var thumbnail: Thumbnail?
  /// The loudness of each of 64 equal parts of a voice message, from 0 to 255.
  public var waveform: [UInt8]?

  /// Makes an attachment that is in no store, for example for a preview or a test of a view.
  public init(
    id: Identifier, kind: Kind, name: String, mimeType: String, sizeBytes: Int, sha256: ContentHash, width: Int? = nil,
    height: Int? = nil, duration: Duration? = nil, thumbnail: Thumbnail? = nil, waveform: [UInt8]? = nil
  ) {
    self.id = id
    self.kind = kind
    self.name = name
    self.mimeType = mimeType
    self.sizeBytes = sizeBytes
    self.sha256 = sha256
    self.width = width
    self.height = height
    self.duration = duration
    self.thumbnail = thumbnail
    self.waveform = waveform
  }

  /// The contents that the attachment needs, with their sizes in bytes: its own content, and that of its thumbnail.
  package var contents: [(hash: ContentHash, size: Int)] {
    [(sha256, sizeBytes)] + (thumbnail.map { [($0.sha256, $0.sizeBytes)] } ?? [])
  }

  /// The number of parts of a waveform.
  package static let waveformCount = 64
  /// The maximum number of attachments of a message.
  public static let limit = 32
}
