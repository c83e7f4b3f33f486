import Testing

@testable import DMKit
@testable import DMModel
@testable import TestSupport

/// Reading the attachments of a payload, which any member may have written with a program of their own.
struct HubAttachmentTests {
  private let hash = String(repeating: "ab", count: 32)

  /// Reads a payload with a valid attachment, and this JSON as the second attachment.
  private func read(_ json: String) -> [HubAttachment] {
    let good = #"{"file":"\#(Identifier(high: 1, low: 1))","sha256":"\#(hash)","size_bytes":1,"name":"good"}"#
    return HubPayload.text(Array(#"{"v":1,"attachments":[\#(good),\#(json)]}"#.utf8))?.attachments ?? []
  }

  /// The JSON members that an attachment must have, and then `others`.
  private func members(_ others: String = "") -> String {
    #""file":"\#(Identifier(high: 2, low: 2))","sha256":"\#(hash)","size_bytes":7\#(others)"#
  }

  @Test func `an attachment is read as it was written`() throws {
    var attachment = Attachment(
      id: Identifier(high: 3, low: 3), kind: .video, name: "a film.mp4", mimeType: "video/mp4", sizeBytes: 12,
      sha256: try #require(ContentHash(hash)), width: 640, height: 480, duration: .milliseconds(1500),
      thumbnail: Attachment.Thumbnail(
        sha256: try #require(ContentHash(hash)), mimeType: "image/jpeg", sizeBytes: 5, width: 64, height: 48))
    attachment.waveform = (0..<64).map { $0 }
    let written = HubAttachment(
      attachment, file: Identifier(high: 4, low: 4), thumbnailFile: Identifier(high: 5, low: 5))
    let payload = HubPayload.text(HubPayload.Text(text: nil, attachments: [written]))
    var read = try #require(HubPayload.text(payload.bytes)?.attachments.first)
    read.attachment.id = attachment.id
    #expect(read == written && HubPayload.text(payload.bytes)?.text == nil)
  }

  @Test(arguments: [
    "null", "[]", "7", "{}", #""file""#, #"{"file":"x","sha256":"y","size_bytes":1}"#,
    #"{"file":"00000000-0000-0000-0000-000000000001","size_bytes":1}"#,
  ]) func `invalid attachments are ignored`(json: String) {
    #expect(read(json).map(\.attachment.name) == ["good"])
  }

  @Test func `an attachment with an impossible size is left out`() {
    for size in ["-1", "17179869185", "1.5", #""1""#] {
      let json = #"{"file":"\#(Identifier(high: 2, low: 2))","sha256":"\#(hash)","size_bytes":\#(size)}"#
      #expect(read(json).count == 1, "\(size)")
    }
  }

  @Test func `a name is safe as the name of a file, and a media type has the form of one`() throws {
    for (name, expected) in [
      ("../../etc/passwd", "passwd"), ("/abs", "abs"), ("-rf", "rf"), (".profile", "profile"),
      ("a\\u0007b\\u202e", "ab"),
      ("", "file"),
    ] {
      let attachment = try #require(read(#"{\#(members(#","name":"\#(name)""#))}"#).last?.attachment)
      #expect(attachment.name == expected, "\(name)")
    }
    for type in ["", "image", "image/", "a/b/c", "text/html\\n", "text/html; charset=x", "ä/b"] {
      let attachment = try #require(read(#"{\#(members(#","mime_type":"\#(type)""#))}"#).last?.attachment)
      #expect(attachment.mimeType == "application/octet-stream", "\(type)")
    }
    #expect(read(#"{\#(members(#","mime_type":"image/svg+xml""#))}"#).last?.attachment.mimeType == "image/svg+xml")
  }

  @Test func `invalid fields of an attachment are left out, and the attachment stays`() throws {
    let others = #","kind":"spell","width":0,"height":-3,"duration":-1,"waveform":"00ff","thumbnail":{"width":1}"#
    let attachment = try #require(read("{\(members(others))}").last?.attachment)
    #expect(attachment.kind == .file && attachment.width == nil && attachment.height == nil)
    #expect(attachment.duration == nil && attachment.waveform == nil && attachment.thumbnail == nil)
  }

  @Test func `a payload has at most 32 attachments`() {
    let many = (0..<40).map { _ in "{\(members())}" }.joined(separator: ",")
    #expect(read(many).count == 32)
  }
}
