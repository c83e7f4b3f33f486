import FoundationEssentials
import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

extension TemporaryStore {
  /// The path of a new file beside the store; the file is removed together with the store.
  func file(_ content: String, _ name: String = "notes.txt") throws -> String {
    let path = try elsewhere("\(UInt64.random(in: 0 ... .max))")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data(content.utf8).write(to: URL(filePath: "\(path)/\(name)"))
    return "\(path)/\(name)"
  }

  func prepared(_ content: String, by user: String = "alice", _ name: String = "notes.txt") throws -> Attachment {
    try messenger(user).prepare(.file(file(content, name))).attachment
  }
}

extension Messenger {
  @discardableResult
  func send(_ attachments: [Attachment], to conversation: String, _ text: String = "", nonce: String? = nil) throws
    -> Message
  {
    try send(
      Outgoing(to: ConversationReference(conversation), text: text, nonce: nonce, attachments: attachments.map(\.id)))
  }

  /// The content of an attachment, as the user reads it.
  func content(_ attachment: Attachment) throws -> String {
    var bytes: [UInt8] = []
    try read(.content, of: try self.attachment(attachment.id)) { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self)
  }
}

struct AttachmentsTests {
  @Test func `a prepared file is visible only to its owner until it is sent, and then to all participants`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let attachment = try store.prepared("one")
    #expect((attachment.kind, attachment.name, attachment.sizeBytes) == (.file, "notes.txt", 3))
    #expect(try alice.content(attachment) == "one")
    #expect(try code { try bob.attachment(attachment.id) } == .unknownAttachment)
    #expect(try code { try bob.send([attachment], to: "carol") } == .unknownAttachment)
    #expect(try store.integers("SELECT count(*) FROM message, conversation") == [[0]], "no conversation was created")

    let message = try alice.send([attachment], to: "bob")
    #expect(message.attachments == [attachment] && message.text == nil)
    #expect(try bob.content(attachment) == "one")
    #expect(try bob.everything(in: "alice").map(\.attachments) == [[attachment]])
    #expect(try code { try store.messenger("carol").attachment(attachment.id) } == .unknownAttachment)
  }

  @Test func `a prepared file is sent with its own id, and an attachment of a message is sent again as a copy`() throws
  {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let attachment = try store.prepared("one")
    #expect(try alice.send([attachment], to: "bob").attachments.map(\.id) == [attachment.id])
    let again = try alice.send([attachment], to: "carol").attachments
    #expect(again.map(\.id) != [attachment.id] && again.map(\.sha256) == [attachment.sha256])
    // Bob sees the attachment and sends it on; this copy has an id of its own.
    let passed = try bob.send([attachment], to: "carol").attachments
    #expect(Set([attachment, again[0], passed[0]].map(\.id)).count == 3)
    _ = try alice.edit([Edit(MessageReference("bob:1"), .delete(forEveryone: true))])
    #expect(try code { try bob.attachment(attachment.id) } == .unknownAttachment)
    #expect(try bob.content(passed[0]) == "one")
    #expect(try store.messenger("carol").content(again[0]) == "one")
  }

  @Test func `a message can have the same file several times, in the order given`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let (one, two) = (try store.prepared("one"), try store.prepared("two"))
    let sent = try alice.send([two, one, two, one], to: "bob").attachments
    #expect(sent.map(\.sha256) == [two, one, two, one].map(\.sha256))
    #expect(sent[..<2].map(\.id) == [two.id, one.id] && Set(sent.map(\.id)).count == 4)
    #expect(try store.messenger("bob").everything(in: "alice").map(\.attachments) == [sent])
    let all = try alice.send(Array(repeating: one, count: 32), to: "bob").attachments
    #expect(Set(all.map(\.id)).count == 32)
    #expect(try code { try alice.send(Array(repeating: one, count: 33), to: "bob") } == .badField)
  }

  @Test func `a file sent to several conversations becomes one attachment in each`() throws {
    let store = try TemporaryStore()
    let one = try store.prepared("one")
    let sent = try store.messenger("alice").sendToAll(
      (["bob", "carol"] as [Handle]).map { try Outgoing(to: .direct($0), text: "", attachments: [one.id]) })
    #expect(sent.flatMap { $0.message.attachments }.map(\.sha256) == [one.sha256, one.sha256])
    #expect(Set(sent.flatMap { $0.message.attachments }.map(\.id)).count == 2)
  }

  @Test func `a message that cannot be sent leaves its prepared files unused`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let one = try store.prepared("one")
    let stranger = Identifier(at: .now)
    let failed = try fault { try alice.send(Outgoing(to: .direct("bob"), text: "", attachments: [one.id, stranger])) }
    #expect(failed?.code == .unknownAttachment && failed?.subject == stranger.description)
    #expect(try alice.send([one], to: "bob").attachments.map(\.id) == [one.id], "the prepared file is still unused")
    #expect(try alice.everything(in: "bob").count == 1)
  }

  @Test func `reusing a nonce with other attachments is a conflict`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let (one, other) = (try store.prepared("one"), try store.prepared("other"))
    let message = try alice.send([one], to: "bob", nonce: "n")
    let again = try alice.send([one], to: "bob", nonce: "n")
    #expect(again.id == message.id && again.isDuplicate && again.attachments == [one])
    // A repeated send may have a newly prepared attachment with the same content.
    #expect(try alice.send([store.prepared("one")], to: "bob", nonce: "n").isDuplicate)
    for attachments in [[], [other], [one, one], [other, one]] {
      let code = try code {
        try alice.send(attachments, to: "bob", attachments.isEmpty ? "text" : "", nonce: "n")
      }
      #expect(code == .nonceConflict, "\(attachments.map(\.id))")
    }
    #expect(try code { try alice.send([one], to: "bob", "with a text", nonce: "n") } == .nonceConflict)
    #expect(try alice.everything(in: "bob").count == 1)
    // After the message is deleted, its attachments are not compared.
    _ = try alice.edit([Edit(MessageReference("bob:1"), .delete(forEveryone: true))])
    #expect(try alice.send([other], to: "bob", nonce: "n").isDuplicate)
  }

  @Test func `the attachments of a deleted or expired message are gone for the users who lost the message`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    let (one, two, three) = (try store.prepared("one"), try store.prepared("two"), try store.prepared("three"))
    for attachment in [one, two] { try alice.send([attachment], to: "bob") }
    _ = try alice.send(Outgoing(to: .direct("bob"), text: "", lifetime: .seconds(3600), attachments: [three.id]))
    _ = try bob.edit([Edit(MessageReference("alice:1"), .delete(forEveryone: false))])
    #expect(try code { try bob.attachment(one.id) } == .unknownAttachment)
    #expect(try code { try bob.attachments(of: MessageReference("alice:1")) } == .unknownMessage)
    #expect(try alice.content(one) == "one")

    _ = try alice.edit([Edit(MessageReference("bob:2"), .delete(forEveryone: true))])
    for user in [alice, bob] { #expect(try code { try user.attachment(two.id) } == .unknownAttachment) }
    #expect(
      try store.integers("SELECT count(*) FROM attachment WHERE message IS NULL") == [[0]],
      "the attachment's row is deleted")

    #expect(try bob.content(three) == "three")
    // As if the message had expired.
    try store.execute("UPDATE message SET expires_at = created_at WHERE expires_at IS NOT NULL")
    for user in [alice, bob] {
      #expect(try code { try user.attachment(three.id) } == .unknownAttachment)
      #expect(try code { try user.send([three], to: "carol") } == .unknownAttachment)
    }
    #expect(try bob.attachments(in: ConversationReference("alice")).isEmpty)
    #expect(try alice.attachments(in: ConversationReference("bob")).map(\.attachment) == [one])
  }

  @Test func `former members keep the attachments that they saw, and later members do not see older ones`() throws {
    let store = try TemporaryStore()
    let (alice, bob, carol) = (
      try store.messenger("alice"), try store.messenger("bob"), try store.messenger("carol")
    )
    _ = try alice.createGroup(titled: "ops", with: ["bob"])
    let (before, after) = (try store.prepared("before"), try store.prepared("after"))
    try alice.send([before], to: "+ops")
    _ = try bob.leave(ConversationReference("+ops"))
    _ = try alice.add(["carol"], to: ConversationReference("+ops"))
    try alice.send([after], to: "+ops")
    #expect(try bob.content(before) == "before")
    #expect(try code { try bob.attachment(after.id) } == .unknownAttachment)
    #expect(try code { try carol.attachment(before.id) } == .unknownAttachment)
    #expect(try carol.content(after) == "after")
    func listed(_ user: Messenger) throws -> [Attachment] {
      try user.attachments(in: ConversationReference("+ops")).map(\.attachment)
    }
    #expect(try listed(alice) == [after, before])
    #expect(try listed(bob) == [before])
    #expect(try listed(carol) == [after])
    #expect(
      try bob.send([before], to: "carol").attachments.map(\.sha256) == [before.sha256],
      "a former member can send the attachment on")
  }

  @Test func `the attachments of a blocked user are hidden until unblocking`() throws {
    let store = try TemporaryStore()
    let (alice, bob) = (try store.messenger("alice"), try store.messenger("bob"))
    _ = try alice.createGroup(titled: "ops", with: ["bob"])
    let one = try store.prepared("one")
    try alice.send([one], to: "+ops")
    _ = try bob.setBlocked(true, ["alice"])
    #expect(try code { try bob.attachment(one.id) } == .unknownAttachment)
    #expect(try code { try bob.send([one], to: "+ops") } == .unknownAttachment)
    #expect(try bob.attachments(in: ConversationReference("+ops")).isEmpty)
    #expect(try alice.content(one) == "one")
    _ = try bob.setBlocked(false, ["alice"])
    #expect(try bob.content(one) == "one")
  }

  @Test func `attachments are listed by kind, then the newest message first, then in their order in the message`()
    throws
  {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let gif =
      "GIF89a\u{1}\u{0}\u{1}\u{0}\u{0}\u{0}\u{0},\u{0}\u{0}\u{0}\u{0}\u{1}\u{0}\u{1}\u{0}\u{0}\u{2}\u{2}D\u{1}\u{0};"
    let names = ["a.txt", "b.gif", "c.txt", "d.gif"]
    let files = try names.map { try store.prepared($0.hasSuffix("gif") ? gif : $0, $0) }
    #expect(files.map(\.kind) == [.file, .image, .file, .image])
    try alice.send([files[0], files[1]], to: "bob")
    try alice.send([files[2], files[3], files[0]], to: "bob")
    let listed = try store.messenger("bob").attachments(in: ConversationReference("alice"))
    #expect(listed.map(\.attachment.name) == ["d.gif", "b.gif", "c.txt", "a.txt", "a.txt"])
    #expect(listed.map(\.message.seq) == [2, 1, 2, 2, 1])
  }

  @Test func `listing the attachments of a message that has none is an error`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    try alice.say("hi", to: "bob")
    #expect(try code { try alice.attachments(of: MessageReference("bob:1")) } == .unknownAttachment)
    #expect(try code { try alice.attachments(of: MessageReference("bob:2")) } == .unknownMessage)
    let empty = try TemporaryStore(users: [], isNamed: false)
    #expect(try code { try empty.messenger("alice").attachment(Identifier(at: .now)) } == .unknownAttachment)
  }
}
