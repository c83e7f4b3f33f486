package import DMModel
package import DMSystem

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

  /// The kind of the attachment when a file of this format is sent.
  package var kind: Attachment.Kind {
    switch self {
    case .jpeg, .png, .gif, .webp, .heic, .avif: .image
    case .mp4, .quickTime, .webm, .matroska, .avi: .video
    case .mp3, .m4a, .aac, .ogg, .flac, .wav: .audio
    case .pdf, .zip, .gzip, .text, .binary: .file
    }
  }
}

extension MediaFormat {
  /// Determines the format of a file from its content, mostly from its first bytes.
  ///
  /// - Complexity: linear in the number of boxes of an MP4 or QuickTime file, or of elements in the header of a
  ///   Matroska file; of other files, at most 64 KiB are searched.
  package static func of(_ bytes: CheckedBytes) -> MediaFormat {
    let reader = ByteReader(bytes)
    do {
      return try byMagic(reader) ?? byBoxes(bytes) ?? byFrames(reader) ?? byText(bytes)
    } catch {
      return byText(bytes)
    }
  }

  /// The usual file name extensions of the format, the most common first; empty if a file's own extension is more
  /// specific than the content.
  package var fileExtensions: [String] {
    switch self {
    case .jpeg: ["jpg", "jpeg", "jpe", "jfif"]
    case .png: ["png", "apng"]
    case .gif: ["gif"]
    case .webp: ["webp"]
    case .heic: ["heic", "heif", "hif"]
    case .avif: ["avif"]
    case .mp4: ["mp4", "m4v", "3gp"]
    case .quickTime: ["mov", "qt"]
    case .webm: ["webm"]
    case .matroska: ["mkv", "mka"]
    case .avi: ["avi"]
    case .mp3: ["mp3"]
    case .m4a: ["m4a", "m4b", "mp4"]
    case .aac: ["aac"]
    case .ogg: ["ogg", "oga", "opus", "spx", "ogv"]
    case .flac: ["flac"]
    case .wav: ["wav"]
    case .pdf: ["pdf"]
    case .zip: ["zip"]
    case .gzip: ["gz", "tgz"]
    case .text, .binary: []
    }
  }

  private static func byMagic(_ reader: ByteReader) throws -> MediaFormat? {
    if reader.has("RIFF") || reader.has("RF64") { return try byRIFF(reader) }
    let start = reader.prefix(8)
    if start.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) { return try byDocumentType(reader) }
    return signatures.first { start.starts(with: $0.bytes) }?.format
  }

  private static let signatures: [(bytes: [UInt8], format: MediaFormat)] = [
    ([0xFF, 0xD8, 0xFF], .jpeg), (PNG.signature, .png), (Array("GIF87a".utf8), .gif), (Array("GIF89a".utf8), .gif),
    (Array("OggS".utf8), .ogg), (Array("fLaC".utf8), .flac), (Array("%PDF-".utf8), .pdf),
    // An archive with files, an empty archive, and an archive on several disks (APPNOTE.TXT, section 4.3).
    (Array("PK\u{3}\u{4}".utf8), .zip), (Array("PK\u{5}\u{6}".utf8), .zip), (Array("PK\u{7}\u{8}".utf8), .zip),
    ([0x1F, 0x8B, 0x08], .gzip),
  ]

  private static func byRIFF(_ reader: ByteReader) throws -> MediaFormat? {
    var reader = reader
    try reader.skip(8)
    return switch try reader.name() {
    case "WEBP": .webp
    case "WAVE": .wav
    case "AVI ": .avi
    default: nil
    }
  }

  /// Distinguishes Matroska and its subset WebM by their DocType (RFC 8794, section 11.2.4).
  private static func byDocumentType(_ reader: ByteReader) throws -> MediaFormat? {
    var reader = reader
    try reader.skip(4)
    let count = try variableNumber(&reader, keepsMarker: false)
    var header = reader.part(upTo: count)
    while header.next != nil {
      let id = try variableNumber(&header, keepsMarker: true)
      let value = try header.part(try variableNumber(&header, keepsMarker: false))
      guard id == 0x4282 else { continue }
      return value.has("webm") ? .webm : value.has("matroska") ? .matroska : nil
    }
    return nil
  }

  /// Reads a number whose first set bit says how many bytes it has (RFC 8794, section 4).
  private static func variableNumber(
    _ reader: inout ByteReader, keepsMarker: Bool
  ) throws -> Int {
    guard let first = reader.next, first != 0 else { throw ByteReader.OutOfBytes() }
    let count = first.leadingZeroBitCount + 1
    let number = try reader.number(count)
    return keepsMarker ? number : number & ~(1 << (7 * count))
  }

  /// The format that the file's brands name (ISO/IEC 14496-12, section 4.3); old QuickTime files have no brands.
  private static func byBoxes(_ bytes: CheckedBytes) throws -> MediaFormat? {
    var boxes = Boxes(ByteReader(bytes))
    guard let first = boxes.next() else { return nil }
    // Some programs write metadata before the brands.
    let type = first.name == "uuid" ? boxes.first { $0.name == "ftyp" } : nil
    switch (type ?? first).name {
    case "ftyp":
      var brands = (type ?? first).content
      let major = try brands.name()
      try brands.skip(4)
      var compatible: Set<String> = [major]
      while brands.rest.count >= 4, compatible.count < 64 { compatible.insert(try brands.name()) }
      return of(bytes, brand: major, compatible)
    case "moov", "mdat", "wide", "free", "skip", "pnot":
      return first.name == "moov" || boxes.contains { $0.name == "moov" } ? .quickTime : nil
    default: return nil
    }
  }

  private static func of(_ bytes: CheckedBytes, brand: String, _ compatible: Set<String>) -> MediaFormat {
    switch brand {
    case "avif", "avis": return .avif
    case "heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs": return .heic
    case "mif1", "msf1", "mif2", "miaf": return compatible.isDisjoint(with: ["avif", "avis"]) ? .heic : .avif
    case "qt  ": return .quickTime
    case "M4A ", "M4B ", "M4P ": return .m4a
    default: return MovieHeader.read(bytes, as: .mp4)?.hasVideo == false ? .m4a : .mp4
    }
  }

  /// Recognizes audio without a container by two consecutive frame headers, because a single header could be a
  /// coincidence.
  private static func byFrames(_ reader: ByteReader) throws -> MediaFormat? {
    var reader = reader
    if reader.has("ID3") {
      // The size has seven bits per byte (ID3v2.4, section 3.1).
      try reader.skip(6)
      let size = try reader.number(4)
      let count = size & 0x7F | (size & 0x7F00) >> 1 | (size & 0x7F_0000) >> 2 | (size & 0x7F00_0000) >> 3
      _ = reader.part(upTo: count)
      return reader.has("fLaC") ? .flac : AudioFrame(reader)?.format ?? .mp3
    }
    guard let frame = AudioFrame(reader) else { return nil }
    try reader.skip(frame.count)
    return reader.next == nil || AudioFrame(reader)?.format == frame.format ? frame.format : nil
  }

  /// `text` if the first 64 KiB are UTF-8 and have no control characters other than tabs, line ends and form feeds.
  private static func byText(_ bytes: CheckedBytes) -> MediaFormat {
    let limit = 64 * 1024
    var start = bytes.prefix(limit)
    if bytes.count > limit {
      // Ignores a last character that extends beyond the limit.
      let lead = start.suffix(3).lastIndex { $0 >= 0xC0 }
      if let lead { start = start[..<lead] }
    }
    guard !start.isEmpty, let text = String(validating: start, as: UTF8.self) else { return .binary }
    let isText = text.unicodeScalars.allSatisfy {
      $0.properties.generalCategory != .control || ["\t", "\n", "\u{C}", "\r"].contains($0)
    }
    return isText ? .text : .binary
  }
}

/// A frame of MPEG audio or of AAC, read from its header.
private struct AudioFrame {
  let format: MediaFormat
  /// The size of the whole frame in bytes.
  let count: Int

  init?(_ reader: ByteReader) {
    let start = reader.prefix(6).map(Int.init)
    guard start.count == 6, start[0] == 0xFF else { return nil }
    // The syncword of ADTS and layer 0 (ISO/IEC 14496-3, section 1.A.2.2).
    if start[1] & 0xF6 == 0xF0 {
      format = .aac
      count = (start[3] & 3) << 11 | start[4] << 3 | start[5] >> 5
      guard count >= 7, start[2] >> 2 & 0xF < 13 else { return nil }
      return
    }
    // MPEG-1, MPEG-2 or MPEG-2.5, layer III (ISO/IEC 11172-3, section 2.4.2.3).
    guard start[1] & 0xE6 == 0xE2, start[1] & 0x18 != 0x08 else { return nil }
    let isFirst = start[1] & 0x18 == 0x18
    let rates = isFirst ? Self.rates : Self.lowRates
    let (rate, frequency) = (start[2] >> 4, start[2] >> 2 & 3)
    guard rates.indices.contains(rate), rate > 0, frequency < 3 else { return nil }
    let half = start[1] & 0x18 == 0 ? 4 : isFirst ? 1 : 2
    let hertz = [44_100, 48_000, 32_000][frequency] / half
    format = .mp3
    count = (isFirst ? 144_000 : 72_000) * rates[rate] / hertz + (start[2] >> 1 & 1)
  }

  /// Kilobits per second of layer III.
  private static let rates = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
  private static let lowRates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
}
