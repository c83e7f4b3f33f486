import DMJSON
import DMSystem

@testable import DMKit
@testable import DMMedia

extension RecordsTests {
  static let hash = SHA256().finish()

  static let bareAttachment = Attachment(
    id: id, kind: .file, name: "core.gz", mimeType: "application/gzip", sizeBytes: 5, sha256: hash)

  static let bareAttachmentLine =
    #"{"type":"attachment","id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","kind":"file","name":"core.gz","#
    + #""mime_type":"application/gzip","size_bytes":5,"sha256":"\#(hash)"}"#

  /// An attachment with all fields; a real one never has both a waveform and a width.
  static let fullAttachment = {
    var attachment = bareAttachment
    (attachment.width, attachment.height, attachment.duration) = (4, 3, .milliseconds(1_250))
    attachment.thumbnail = Attachment.Thumbnail(
      sha256: hash, mimeType: "image/jpeg", sizeBytes: 7, width: 2, height: 1)
    attachment.waveform = [0, 255]
    return attachment
  }()
}

/// All members of attachment records: those of a sent attachment and those of a saved one.
struct FullAttachment: Record {
  func write(to json: inout JSONWriter) {
    let members = [
      SentAttachment(attachment: RecordsTests.fullAttachment, message: RecordsTests.message) as any Record,
      SavedAttachment(attachment: RecordsTests.fullAttachment, path: "./core.gz"),
    ].map { record in
      var json = JSONWriter()
      record.write(to: &json)
      return json.bytes
    }
    var plain = JSONWriter()
    RecordsTests.fullAttachment.write(to: &plain)
    // The members that both records have are written once.
    json.append(lines: members[0].dropLast() + members[1].dropFirst(plain.bytes.count - 1))
  }
}
