package import DMKit
internal import DMModel
internal import DMSystem

/// An attachment that another program shows.
package final class OpenedAttachment {
  private let opener: Child
  private let command: String
  private var hasEnded = false

  /// Saves a copy in a new folder, and starts the program, without a shell.
  ///
  /// - Parameter advice: what the user can do if the program cannot be started.
  /// - Throws: `usage` if the program cannot be started.
  package init(_ attachment: Attachment, as name: String, _ messenger: Messenger, or advice: String) throws {
    let words = (try environment("DM_OPENER") ?? "xdg-open").split(separator: " ").map(String.init)
    command = words.first ?? "xdg-open"
    let folder = try temporaryFolder()
    let path = "\(wholePath(folder) ?? folder)/\(name)"
    do {
      _ = try messenger.save(.content, of: attachment, to: path)
      do {
        opener = try Child((words.isEmpty ? [command] : words) + [path], isApart: true)
      } catch {
        throw usage("cannot run '\(command)': \(error.text); set DM_OPENER to a program, \(advice)")
      }
    } catch {
      removeFile(path)
      removeEmptyFolder(folder)
      throw error
    }
  }

  /// Why the program has failed; nil if it runs, has succeeded, or was asked before.
  package func failure() -> String? {
    guard !hasEnded, let ending = opener.ending() else { return nil }
    hasEnded = true
    return ending.isSuccess ? nil : "'\(command)' could not open the attachment"
  }

  /// Extensions of files that are shown and not run by the programs that usually open them.
  ///
  /// HTML and SVG are left out: a browser runs their scripts.
  private static let shown: Set<String> = [
    "avif", "bmp", "gif", "heic", "heif", "jpeg", "jpg", "png", "tif", "tiff", "webp",
    "avi", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "ogv", "webm",
    "aac", "flac", "m4a", "mp3", "oga", "ogg", "opus", "wav",
    "csv", "diff", "docx", "json", "jsonl", "log", "md", "odp", "ods", "odt", "patch", "pdf", "pptx", "tsv", "txt",
    "xlsx",
  ]

  /// A name for the copy of an attachment: ASCII letters, digits, and an extension of `shown`; nil if the attachment is
  /// not of such a kind.
  package static func name(for attachment: Attachment) -> String? {
    let name = Attachment.safeName(attachment.name)
    var ending = Attachment.fileExtension(of: name)?.lowercased()
    if ending == nil, attachment.kind != .file {
      ending = attachment.mimeType.split(separator: "/").last.map { $0.lowercased() }
    }
    guard let ending, shown.contains(ending) else { return nil }
    let stem = name.dropLast(Attachment.fileExtension(of: name) == nil ? 0 : ending.count + 1)
    let plain = stem.unicodeScalars.prefix(60).map { $0.properties.isAlphabetic && $0.isASCII || $0.isDigit ? $0 : "_" }
    return "\(String(String.UnicodeScalarView(plain))).\(ending)"
  }
}

extension Unicode.Scalar {
  fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
