/// What a preparation made of a file: files in its own folder, which are stored next, and what is known of them.
struct PreparedFile: Sendable {
  struct Thumbnail: Sendable {
    let path: String
    let format: MediaFormat
    let width: Int
    let height: Int
  }

  /// Where the content is: the private copy itself, where nothing was to be changed.
  var path: String
  var kind: Attachment.Kind
  var format: MediaFormat
  /// Pixels, as it is looked at.
  var width: Int?
  var height: Int?
  var duration: Duration?
  var thumbnail: Thumbnail?
  var waveform: [UInt8]?
  /// What a person should know, a clause each: what was left undone and what to install.
  var advice: [String] = []
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

  public init() {}
}
