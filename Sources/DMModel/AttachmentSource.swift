/// The source of an attachment: a file, a descriptor, or bytes.
public enum AttachmentSource: Sendable {
  /// The path of a regular file.
  case file(String)
  /// A descriptor, which is read to its end and not closed.
  case descriptor(Int32)
  /// The content itself.
  case bytes([UInt8])
}

/// Options for preparing a file.
public struct PreparationOptions: Sendable {
  /// Leaves the file unchanged, and determines only the format of its content.
  public var asFile = false
  /// Keeps the metadata of a photo or video, which may contain the position where it was taken.
  public var keepsMetadata = false
  /// Makes a voice message of the audio.
  public var isVoice = false
  /// Converts a video to H.264 and AAC, at this number of kilobits per second; nil keeps its encoding.
  package var videoBitrate: Int?
  /// The maximum size of a source in bytes; a larger source is refused.
  public var maximumSize = 4 << 30

  /// Makes the default options: metadata is removed, large images are made smaller, and videos keep their encoding.
  public init() {}
}
