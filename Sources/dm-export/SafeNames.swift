internal import DMModel

/// Names of files and folders that every file system takes, and that do not lead out of the folder of the export.
enum SafeNames {
  /// The name of the subfolder of a conversation.
  static func folder(for name: String) -> String {
    let safe = plain(name, bytes: 60)
    return safe.isEmpty ? "conversation" : safe
  }

  /// The name of the copy of an attachment: 16 digits of the hash of its content, and its name.
  ///
  /// Equal names have equal contents. A browser shows or saves the file, and runs nothing in it.
  static func file(for attachment: Attachment) -> String {
    let name = Attachment.safeName(attachment.name)
    let ending = Attachment.fileExtension(of: name)
    let stem = plain(ending.map { String(name.dropLast($0.count + 1)) } ?? name, bytes: 80)
    var shown = ending
    if shown == nil, attachment.kind != .file {
      shown = attachment.mimeType.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) }
    }
    let isInert = shown.map { inert.contains($0.lowercased()) } ?? false
    let tail = isInert ? shown.map { "." + $0 } ?? "" : (ending.map { "." + $0 } ?? "") + ".bin"
    return "\(String(attachment.sha256.description.prefix(16)))-\(stem.isEmpty ? "file" : stem)\(tail)"
  }

  /// Whether a file may be a copy that `file(for:)` has named.
  static func isFile(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    return bytes.count > 17 && bytes[16] == UInt8(ascii: "-")
      && bytes[..<16].allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
  }

  /// Letters, digits, `-`, `_` and dots that are not at the beginning or the end; anything else becomes `_`.
  private static func plain(_ text: String, bytes limit: Int) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      let isPlain =
        switch scalar.value {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        case 0..<0x80: false
        default: scalar.properties.isAlphabetic || scalar.properties.canonicalCombiningClass != .notReordered
        }
      let plain: Unicode.Scalar = isPlain ? scalar : "_"
      if scalars.isEmpty, plain == "." || plain == "-" { continue }
      scalars.append(plain)
    }
    var result = beginning(of: String(scalars), bytes: limit)
    while result.utf8.last == UInt8(ascii: ".") { result.removeLast() }
    return result
  }

  /// The extensions of files in which a browser runs no script.
  ///
  /// HTML, SVG and XML are not among them, and neither are files without an extension, whose kind a browser guesses from
  /// their contents.
  private static let inert: Set<String> = [
    "avif", "bmp", "gif", "heic", "heif", "jpeg", "jpg", "png", "tif", "tiff", "webp",
    "avi", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "ogv", "webm",
    "aac", "flac", "m4a", "mp3", "oga", "ogg", "opus", "wav",
    "csv", "doc", "docx", "json", "jsonl", "log", "md", "odp", "ods", "odt", "pdf", "ppt", "pptx", "tsv", "txt", "xls",
    "xlsx", "7z", "bz2", "gz", "rar", "tar", "tgz", "xz", "zip", "zst", "bin",
  ]
}
