/// A file that a message carries, or one that was prepared to be sent.
public struct Attachment: Equatable, Sendable {
  /// What it is, by its content.
  ///
  /// Expect more cases in later versions.
  public enum Kind: String, Sendable, CaseIterable {
    case image, video, audio
    /// Speech that was recorded to be heard as a message.
    case voice
    case file

    /// As it stands in stores.
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

  /// A small picture of it.
  public struct Thumbnail: Equatable, Sendable {
    public let sha256: ContentHash
    public let mimeType: String
    public let sizeBytes: Int
    /// Pixels.
    public let width: Int
    public let height: Int

    package init(sha256: ContentHash, mimeType: String, sizeBytes: Int, width: Int, height: Int) {
      self.sha256 = sha256
      self.mimeType = mimeType
      self.sizeBytes = sizeBytes
      self.width = width
      self.height = height
    }
  }

  public package(set) var id: Identifier
  public let kind: Kind
  /// A name for a file: never a path, and safe to make a file of.
  public let name: String
  public let mimeType: String
  public let sizeBytes: Int
  public let sha256: ContentHash
  /// Pixels, as it is looked at.
  public var width: Int?
  public var height: Int?
  public var duration: Duration?
  public var thumbnail: Thumbnail?
  /// How loud each of 64 equal parts is, from 0 to 255.
  public var waveform: [UInt8]?

  package init(
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

  /// The files that it needs: its own, and its thumbnail's.
  package var contents: [(hash: ContentHash, size: Int)] {
    [(sha256, sizeBytes)] + (thumbnail.map { [($0.sha256, $0.sizeBytes)] } ?? [])
  }

  /// Parts of a waveform.
  public static let waveformCount = 64
  /// The most that one message carries.
  public static let limit = 32
}
