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
  private func say(
    _ text: String, on machine: Machine, to conversation: String = "bob", nonce: String? = nil, image: UInt8? = nil
  ) throws -> Message {
    let attachment = try image.map { try machine.messenger.prepare(.bytes([$0]), name: "preview").attachment.id }
    return try machine.messenger.send(
      Outgoing(
        to: ConversationReference(conversation), text: text, nonce: nonce,
        linkPreview: preview.with(attachment: attachment)))
  }

  private func edit(_ message: String, to text: String, on machine: Machine) throws {
    _ = try machine.messenger.edit([Edit(MessageReference(message), .text(text))])[0].get()
  }

  /// The title of the preview of each message that has a text.
  private func titles(_ conversation: String, _ machine: Machine) throws -> [String?] {
    try machine.messages(conversation).filter { $0.text != nil }.map { $0.linkPreview?.title }
  }

  /// Uploads and fetches all files of a machine.
  private func carry(_ machine: Machine) throws {
    let link = ModelFileLink(hub, machine.link.machine)
    try FileCarrier(machine.messenger, link, chunkBytes: ModelHub.chunkBytes).carry()
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

  @Test func `after edits, members and users who are added later see the same preview`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    let (second, carol) = (try hub.joined("alice"), try hub.joined("carol"))
    try settle([alice, bob, carol])
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    for _ in 2...6 { try say("https://a.test/x", on: alice, to: "+ops") }
    try settle([alice, second, bob])
    #expect(try titles("+ops", bob) == Array(repeating: "A page", count: 5))
    // The link of a message is removed, and comes back later.
    try edit("+ops:2", to: "no link", on: alice)
    try settle([alice, second, bob])
    try edit("+ops:2", to: "again https://a.test/x", on: alice)
    // Both at once.
    try edit("+ops:3", to: "no link", on: alice)
    #expect(try titles("+ops", alice)[1] == nil)
    try edit("+ops:3", to: "again https://a.test/x", on: alice)
    // The other machine edits the text without knowing that the link was removed.
    try edit("+ops:4", to: "no link", on: alice)
    try settle([alice, bob])
    try edit("+ops:4", to: "still https://a.test/x", on: second)
    try edit("+ops:5", to: "still https://a.test/x", on: alice)
    try edit("+ops:6", to: "gone", on: alice)
    try settle([second, alice, bob])
    let expected = [nil, "A page", "A page", "A page", nil]
    _ = try alice.messenger.add([Handle("carol")], to: ConversationReference("+ops"), withHistory: true)
    try settle([alice, second, bob, carol])
    for machine in [alice, second, bob, carol, try hub.joined("alice")] {
      #expect(try titles("+ops", machine) == expected)
      try machine.check()
    }
  }

  @Test func `if the hub refuses an edit that removed the link, the preview comes back`() throws {
    let (alice, bob) = (try hub.joined("alice"), try hub.joined("bob"))
    try settle([alice, bob])
    _ = try alice.messenger.createGroup(titled: "ops", with: [Handle("bob")])
    try settle([alice, bob])
    try say("https://a.test/x", on: bob, to: "+ops")
    try settle([bob, alice])
    _ = try alice.messenger.remove([Handle("bob")], from: ConversationReference("+ops"))
    try alice.sync()
    // Bob's machine does not know yet that Bob was removed.
    try edit("+ops:2", to: "no link", on: bob)
    #expect(try titles("+ops", bob) == [nil])
    try settle([bob])
    #expect(try titles("+ops", bob) == ["A page"])
    _ = try bob.messenger.retry([])
    #expect(try titles("+ops", bob) == [nil])
    try settle([bob])
    _ = try bob.messenger.drop([])
    #expect(try titles("+ops", bob) == ["A page"])
    for machine in [alice, bob] { try machine.check() }
  }

  /// Two machines of a user that have not synced since they queued the same message, each with a preview or without.
  ///
  /// - Parameter pageSize: how many entries the machine that syncs later pulls at once.
  private func sendTwice(
    pageSize: Int, _ first: (Machine) throws -> Void, _ later: (Machine) throws -> Void
  ) throws -> (first: Machine, later: Machine, bob: Machine) {
    let (alice, second, bob) = (try hub.joined("alice"), try hub.joined("alice"), try hub.joined("bob"))
    try settle([alice, second, bob])
    try alice.say("begin", to: "bob")
    try settle([alice, second, bob])
    for number in 1...5 { try alice.say("\(number)", to: "bob") }
    try first(alice)
    try later(second)
    second.engine.pageSize = pageSize
    for machine in [alice, second] {
      try carry(machine)
      while try machine.engine.hasWork() {
        try machine.engine.exchange()
        #expect(try machine.messenger.outbox().allSatisfy { $0.failure == nil })
      }
    }
    try settle([alice, second, bob])
    for machine in [alice, second, bob] { try carry(machine) }
    return (alice, second, bob)
  }

  @Test(arguments: [nil, 1] as [UInt8?], [1, 1000])
  func `a message that another machine has sent with its nonce and a preview is the same`(image: UInt8?, page: Int)
    throws
  {
    let text = "see https://a.test/x"
    func plain(_ machine: Machine) throws {
      _ = try machine.messenger.send(Outgoing(to: ConversationReference("bob"), text: text, nonce: "n"))
    }
    func previewed(_ machine: Machine) throws { try say(text, on: machine, nonce: "n", image: image) }
    for (first, later, title) in [(previewed, plain, "A page"), (plain, previewed, nil)] as [(_, _, String?)] {
      let machines = try LinkPreviewTests().sendTwice(pageSize: page, first, later)
      for (machine, other) in [(machines.first, "bob"), (machines.later, "bob"), (machines.bob, "alice")] {
        #expect(try machine.messages(other).map(\.text) == ["begin", "1", "2", "3", "4", "5", text])
        #expect(try titles(other, machine).last == title)
        #expect(try machine.messages(other).last?.attachments.count == (title == nil || image == nil ? 0 : 1))
        #expect(try machine.messenger.outbox().isEmpty)
        try machine.check()
      }
    }
  }

  @Test(arguments: [1, 1000])
  func `if two machines have sent a message with different images, all have the one of the hub`(page: Int) throws {
    let machines = try sendTwice(pageSize: page) {
      try say("https://a.test/x", on: $0, nonce: "n", image: 1)
    } _: {
      try say("https://a.test/x", on: $0, nonce: "n", image: 2)
    }
    let sent = try #require(machines.first.messages("bob").last?.attachments.first)
    for (machine, other) in [(machines.first, "bob"), (machines.later, "bob"), (machines.bob, "alice")] {
      let messages = try machine.messages(other)
      let image = try #require(messages.last?.attachments.first)
      #expect(messages.count == 7)
      #expect(messages.last?.linkPreview?.attachment == image.id)
      #expect(image.sha256 == sent.sha256)
      #expect(machine.messenger.location.contents.size(of: image.sha256) == 1)
      #expect(try machine.messenger.outbox().isEmpty)
      try machine.check()
    }
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
