internal import DMJSON
internal import DMStore
internal import DMSystem

/// An attachment in the payload of a message, and the files on the hub that have its contents.
package struct HubAttachment: Equatable, Sendable {
  /// The attachment, whose id has no meaning, because each store gives an attachment its own id.
  package var attachment: Attachment
  package var file: Identifier
  /// The file of the thumbnail; nil for an attachment without a thumbnail.
  package var thumbnailFile: Identifier?

  package init(_ attachment: Attachment, file: Identifier, thumbnailFile: Identifier?) {
    self.attachment = attachment
    self.file = file
    self.thumbnailFile = attachment.thumbnail == nil ? nil : thumbnailFile
  }

  /// The ids of the files.
  package var files: [Identifier] { [file] + (thumbnailFile.map { [$0] } ?? []) }

  /// The files, each with the hash and the size of its content.
  var contents: [HubFiles.Key] {
    let content = HubFiles.Key(id: file, hash: attachment.sha256, size: attachment.sizeBytes)
    guard let thumbnail = attachment.thumbnail, let thumbnailFile else { return [content] }
    return [content, HubFiles.Key(id: thumbnailFile, hash: thumbnail.sha256, size: thumbnail.sizeBytes)]
  }

  /// Replaces a file with another one that has the same content.
  mutating func replace(_ file: Identifier, with other: Identifier) {
    if self.file == file { self.file = other }
    if thumbnailFile == file { thumbnailFile = other }
  }

  func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("kind", attachment.kind.rawValue)
      json.member("name", attachment.name)
      write(file, attachment.sha256, attachment.mimeType, attachment.sizeBytes, to: &json)
      json.member("width", attachment.width)
      json.member("height", attachment.height)
      json.member("duration", attachment.duration.map { Int($0.microseconds) })
      if let waveform = attachment.waveform { json.member("waveform", hexadecimal(waveform)) }
      guard let thumbnail = attachment.thumbnail, let thumbnailFile else { return }
      json.key("thumbnail")
      json.object { json in
        write(thumbnailFile, thumbnail.sha256, thumbnail.mimeType, thumbnail.sizeBytes, to: &json)
        json.member("width", thumbnail.width)
        json.member("height", thumbnail.height)
      }
    }
  }

  private func write(_ file: Identifier, _ hash: ContentHash, _ type: String, _ size: Int, to json: inout JSONWriter) {
    json.member("file", file)
    json.member("sha256", hash.description)
    json.member("mime_type", type)
    json.member("size_bytes", size)
  }

  // MARK: Reading untrusted payloads

  /// The attachments of a payload, without those that cannot be read.
  static func all(_ value: JSONValue?) -> [HubAttachment] {
    guard case .array(let values)? = value else { return [] }
    return values.prefix(Attachment.limit).compactMap { value in
      guard case .object(let object) = value else { return nil }
      return HubAttachment(object)
    }
  }

  private init?(_ object: JSONObject) {
    guard let content = Content(object) else { return nil }
    attachment = Attachment(
      id: content.file, kind: object.text("kind").flatMap(Attachment.Kind.init) ?? .file,
      name: Attachment.safeName(object.text("name") ?? ""), mimeType: content.type, sizeBytes: content.size,
      sha256: content.hash)
    file = content.file
    attachment.width = object.length("width")
    attachment.height = object.length("height")
    attachment.duration = object.integer("duration").flatMap { Self.durations ~= $0 ? .microseconds($0) : nil }
    attachment.waveform = object.text("waveform").flatMap { bytes(hexadecimal: $0) }.flatMap {
      $0.count == Attachment.waveformCount ? $0 : nil
    }
    guard case .object(let small)? = object["thumbnail"], let thumbnail = Content(small), thumbnail.size > 0,
      let width = small.length("width"), let height = small.length("height")
    else { return }
    attachment.thumbnail = Attachment.Thumbnail(
      sha256: thumbnail.hash, mimeType: thumbnail.type, sizeBytes: thumbnail.size, width: width, height: height)
    thumbnailFile = thumbnail.file
  }

  /// The durations that are accepted, in microseconds: up to a year.
  private static let durations = 0...(366 * 86_400_000_000)

  /// A content as its sender describes it.
  private struct Content {
    let file: Identifier
    let hash: ContentHash
    let type: String
    let size: Int

    init?(_ object: JSONObject) {
      guard let file = object.text("file").flatMap({ Identifier($0) }),
        let hash = object.text("sha256").flatMap({ ContentHash($0) }),
        let size = object.integer("size_bytes"), HubLimits.fileBytes ~= size
      else { return nil }
      self.file = file
      self.hash = hash
      self.size = size
      type = object.text("mime_type").flatMap { isMediaType($0) ? $0 : nil } ?? "application/octet-stream"
    }
  }
}

/// Whether a text has the form of a media type, without parameters (RFC 6838, section 4.2).
private func isMediaType(_ text: String) -> Bool {
  let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
  return text.utf8.count <= 255 && parts.count == 2
    && parts.allSatisfy { part in
      !part.isEmpty
        && part.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
          default: "!#$&-^_.+".utf8.contains(byte)
          }
        }
    }
}

extension JSONObject {
  /// A width or height in pixels; nil for a value outside 1 to 1,000,000.
  fileprivate func length(_ name: String) -> Int? { integer(name).flatMap { 1...1_000_000 ~= $0 ? $0 : nil } }
}
