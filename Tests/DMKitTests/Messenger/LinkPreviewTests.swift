import Testing

@testable import DMKit
@testable import DMModel
@testable import DMStore
@testable import StoreSupport
@testable import TestSupport

struct LinkPreviewTests {
  let store: TemporaryStore
  let alice: Messenger
  let preview: LinkPreview

  init() throws {
    store = try TemporaryStore()
    alice = try store.messenger("alice")
    preview = try LinkPreview(url: "https://a.test/x", title: "A page", site: "Example")
  }

  private func outgoing(
    _ preview: LinkPreview, text: String = "see https://a.test/x", nonce: String? = nil,
    attachments: [Identifier] = []
  ) throws -> Outgoing {
    try Outgoing(
      to: ConversationReference("bob"), text: text, nonce: nonce, attachments: attachments, linkPreview: preview)
  }

  private func image(_ byte: UInt8 = 1) throws -> Identifier {
    try alice.prepare(.bytes([byte]), name: "preview").attachment.id
  }

  private func last() throws -> Message {
    try #require(try store.messenger("bob").messages(in: ConversationReference("alice"), limit: 1).last)
  }

  private func rows() throws -> Int64? {
    try store.integers("SELECT count(*) FROM link_preview").first?.first ?? nil
  }

  @Test func `a preview is sent with its message, and its image is an attachment of the message`() throws {
    let (file, image) = (try image(1), try image(2))
    let sent = try alice.send(outgoing(preview.with(attachment: image), attachments: [file]))
    #expect(sent.attachments.map(\.id) == [file, image])
    #expect(sent.linkPreview == preview.with(attachment: image))
    #expect(try last().linkPreview == sent.linkPreview)
    // The attachments of the second message are copies with other ids.
    let again = try alice.send(outgoing(preview.with(attachment: image)))
    #expect(again.linkPreview?.attachment == again.attachments[0].id)
    #expect(again.attachments[0].id != image)
    #expect(try store.findings() == [])
  }

  @Test func `a preview of a link that the text does not have is refused`() throws {
    let error = #expect(throws: DMError.self) { try outgoing(preview, text: "see https://b.test/") }
    #expect(error?.code == .badField)
    #expect(error?.subject == "link_preview.url")
  }

  @Test(
    arguments: [
      ("ftp://a.test/", "A", nil), ("https://a.test/ x", "A", nil), ("https://a.test/\u{202E}", "A", nil),
      ("https://a.test/", "", nil), ("https://a.test/", "a\nb", nil), ("https://a.test/", "a\u{202E}b", nil),
      ("https://a.test/", String(repeating: "x", count: 301), nil),
      ("https://a.test/", "A", String(repeating: "x", count: 501)), ("https://a.test/", "A", ""),
      ("https://\(String(repeating: "a", count: 2041))", "A", nil),
    ] as [(String, String, String?)])
  func `a preview with a text that is too long or unsafe is refused`(url: String, title: String, about: String?) {
    let error = #expect(throws: DMError.self) { try LinkPreview(url: url, title: title, description: about) }
    #expect(error?.code == .badField)
  }

  @Test func `an edit keeps the preview only while the text has the link`() throws {
    let sent = try alice.send(outgoing(preview))
    for (text, title) in [("x https://a.test/xy", "A page"), ("nothing", nil), ("https://a.test/x", nil)]
      as [(String, String?)]
    {
      _ = try alice.edit([Edit(.id(sent.id), .text(text))])[0].get()
      #expect(try last().linkPreview?.title == title, "\(text)")
      #expect(try store.findings() == [])
    }
  }

  @Test func `a deleted message has no preview, and the store has none of it`() throws {
    let sent = try alice.send(outgoing(preview))
    #expect(try rows() == 1)
    _ = try alice.edit([Edit(.id(sent.id), .delete(forEveryone: true))])[0].get()
    #expect(try rows() == 0)
    #expect(try store.findings() == [])
  }

  @Test func `a forwarded message has the preview, with the copy of its image`() throws {
    let sent = try alice.send(outgoing(preview.with(attachment: image())))
    let forwarded = try alice.send(
      Outgoing(
        to: ConversationReference("alice"), text: sent.text ?? "", attachments: sent.attachments.map(\.id),
        forwards: sent.id))
    #expect(forwarded.linkPreview?.title == "A page")
    #expect(forwarded.linkPreview?.attachment == forwarded.attachments[0].id)
  }

  @Test func `a message that is sent again with its nonce may have another preview, or none`() throws {
    let sent = try alice.send(outgoing(preview.with(attachment: image()), nonce: "n"))
    for again in [
      try outgoing(preview, nonce: "n"), try outgoing(preview.with(attachment: image(2)), nonce: "n"),
      try Outgoing(to: ConversationReference("bob"), text: "see https://a.test/x", nonce: "n"),
    ] {
      let message = try alice.send(again)
      #expect(message.id == sent.id && message.isDuplicate)
    }
    let error = #expect(throws: DMError.self) {
      try alice.send(outgoing(preview, nonce: "n", attachments: [image(3)]))
    }
    #expect(error?.code == .nonceConflict)
  }

  @Test func `a wrong count of previews is found and repaired`() throws {
    _ = try alice.send(outgoing(preview))
    try store.execute("UPDATE message SET link_preview_count = 0")
    #expect(try store.findings().count == 1)
  }
}
