import Testing

@testable import DMKit
@testable import DMModel
@testable import DMStore
@testable import DMSync
@testable import StoreSupport
@testable import TestSupport

/// Previews of links, which a hub carries with the messages.
struct LinkPreviewTests {
  let hub = SharedHub()
  private let preview: LinkPreview

  init() throws {
    preview = try LinkPreview(url: "https://a.test/x", title: "A page", description: "about", site: "Example")
  }

  @discardableResult
  private func say(_ text: String, on machine: Machine, nonce: String? = nil) throws -> Message {
    try machine.messenger.send(
      Outgoing(to: ConversationReference("bob"), text: text, nonce: nonce, linkPreview: preview))
  }

  @Test func `a preview is shown while its message waits, and reaches the others`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    for machine in [alice, bob] { try machine.sync() }
    #expect(try say("see https://a.test/x", on: alice).linkPreview == preview)
    #expect(try alice.messages("bob").map(\.linkPreview) == [preview])
    try alice.sync()
    #expect(try alice.messages("bob").map(\.linkPreview) == [preview])
    try bob.sync()
    #expect(try bob.messages("alice").map(\.linkPreview) == [preview])
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `an edit removes the preview everywhere if the text does not have the link any more`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    for machine in [alice, bob] { try machine.sync() }
    let waiting = try say("https://a.test/x", on: alice)
    _ = try alice.messenger.edit([Edit(.id(waiting.id), .text("changed"))])[0].get()
    try say("https://a.test/x", on: alice)
    try alice.sync()
    try bob.sync()
    #expect(try bob.messages("alice").map { $0.linkPreview?.title } == [nil, "A page"])
    for (text, title) in [("still https://a.test/x", "A page"), ("gone", nil)] as [(String, String?)] {
      _ = try alice.messenger.edit([Edit(MessageReference("bob:2"), .text(text))])[0].get()
      try alice.sync()
      try bob.sync()
      #expect(try bob.messages("alice").last?.linkPreview?.title == title)
      #expect(try alice.messages("bob").last?.linkPreview?.title == title)
    }
    for machine in [alice, bob] { try machine.check() }
  }

  @Test func `a payload with a preview that is not valid has none`() throws {
    for change in [
      #""url":"ftp://a.test""#, #""url":"https://b.test/""#, #""title":"""#, #""title":"a\u202eb""#,
      #""title":7"#, #""site":"\#(String(repeating: "x", count: 101))""#, #""description":"\n""#,
    ] {
      var members = ["url": #""url":"https://a.test/x""#, "title": #""title":"A""#]
      members[change.hasPrefix(#""url""#) ? "url" : change.hasPrefix(#""title""#) ? "title" : "other"] = change
      let json = #"{"v":1,"text":"https://a.test/x","link_preview":{\#(members.values.joined(separator: ","))}}"#
      let text = try #require(HubPayload.text(Array(json.utf8)))
      #expect(text.preview == nil, "\(change)")
      #expect(text.text == "https://a.test/x")
    }
    let valid = HubPayload.Text(text: "https://a.test/x", preview: LinkPreviews.Placed(preview, place: 2))
    #expect(HubPayload.text(HubPayload.text(valid).bytes) == valid)
    let far = #"{"v":1,"text":"https://a.test/x","link_preview":{"url":"https://a.test/x","title":"A","image":99}}"#
    #expect(HubPayload.text(Array(far.utf8))?.preview?.place == nil)
  }
}
