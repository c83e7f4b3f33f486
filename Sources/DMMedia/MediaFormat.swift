package import DMModel

/// The format of a file, determined from its content; the raw value is its media type.
package enum MediaFormat: String, Sendable, CaseIterable {
  case jpeg = "image/jpeg"
  case png = "image/png"
  case gif = "image/gif"
  case webp = "image/webp"
  case heic = "image/heic"
  case avif = "image/avif"
  case mp4 = "video/mp4"
  case quickTime = "video/quicktime"
  case webm = "video/webm"
  case matroska = "video/x-matroska"
  case avi = "video/x-msvideo"
  case mp3 = "audio/mpeg"
  case m4a = "audio/mp4"
  case aac = "audio/aac"
  case ogg = "audio/ogg"
  case flac = "audio/flac"
  case wav = "audio/wav"
  case pdf = "application/pdf"
  case zip = "application/zip"
  case gzip = "application/gzip"
  case text = "text/plain"
  case binary = "application/octet-stream"

  /// The kind of attachment as which a file of the format is sent.
  package var kind: Attachment.Kind {
    switch self {
    case .jpeg, .png, .gif, .webp, .heic, .avif: .image
    case .mp4, .quickTime, .webm, .matroska, .avi: .video
    case .mp3, .m4a, .aac, .ogg, .flac, .wav: .audio
    case .pdf, .zip, .gzip, .text, .binary: .file
    }
  }
}
