import DMJSON
import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// Users and attachments of imported messages.
struct ImportUsersTests {
  private func imported(_ json: String) throws -> Imported { try Imported(line: Array(json.utf8)[...]) }

  private func user(_ result: Result<Imported.Outcome, DMError>) throws -> User {
    guard case .user(let user) = try result.get() else { throw DMError(.internal, "no user") }
    return user
  }

  @Test func `an imported user has their profile, and their messages show their display name`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let results = try alice.importHistory([
      imported(#"{"type":"user","handle":"bob","display_name":"Bob Smith","bio":"sails","shows_presence":false}"#),
      imported(#"{"conversation":"old","sender":"bob","text":"hi","created_at":"2020-01-01T00:00:00Z"}"#),
    ])
    let bob = try user(results[0])
    #expect(bob.displayName == "Bob Smith" && bob.bio == "sails" && !bob.showsPresence && bob.sendsReadReceipts)
    #expect(try alice.user("bob") == bob)
    #expect(try store.messenger("bob").everything(in: "+old").map(\.senderName) == ["Bob Smith"])
  }

  @Test func `an import does not change an existing user`() throws {
    let store = try TemporaryStore(users: ["alice", "bob"])
    let alice = try store.messenger("alice")
    _ = try store.messenger("bob").setProfile(ProfileChange(displayName: "Captain Bob"))
    let before = try store.integers("SELECT max(rev) FROM change")
    let line = try imported(#"{"type":"user","handle":"bob","display_name":"Bob Smith"}"#)
    #expect(try user(alice.importHistory([line])[0]).displayName == "Captain Bob")
    #expect(try store.integers("SELECT max(rev) FROM change") == before)
  }

  @Test(arguments: [
    (#"{"type":"user","handle":"a b"}"#, DMError.Code.badHandle), (#"{"type":"user"}"#, .missingField),
    (#"{"type":"user","handle":"bob","display_name":"B\u200bob"}"#, .badField),
    (#"{"type":"user","handle":"bob","shows_presence":"yes"}"#, .badField),
    (#"{"type":"user","handle":"bob","display_name":5}"#, .badField),
    (#"{"conversation":"x","sender":"bob","created_at":"2020-01-01T00:00:00Z","attachments":[]}"#, .missingField),
    (
      #"{"conversation":"x","sender":"bob","created_at":"2020-01-01T00:00:00Z","attachments":[{"path":5}]}"#, .badField
    ),
    (
      #"{"conversation":"x","sender":"bob","created_at":"2020-01-01T00:00:00Z","text":"","attachments":[{"path":"a"}]}"#,
      .emptyText
    ),
  ])
  func `an invalid line is refused with the code of its error`(json: String, wanted: DMError.Code) throws {
    #expect(try code { try imported(json) } == wanted)
  }

  @Test func `an imported message has at most 32 files`() throws {
    func line(_ count: Int) throws -> Imported {
      let files = Array(repeating: #"{"path":"a"}"#, count: count).joined(separator: ",")
      return try imported(
        #"{"conversation":"x","sender":"bob","created_at":"2020-01-01T00:00:00Z","attachments":[\#(files)]}"#)
    }
    guard case .message(let message) = try line(32) else { throw DMError(.internal, "no message") }
    #expect(message.files == Array(repeating: ImportedMessage.File(path: "a"), count: 32))
    #expect(try code { try line(33) } == .badField)
  }

  @Test func `the JSON line of a user is a valid import line`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let copy = try TemporaryStore(users: ["bob"])
    _ = try store.messenger("alice").setProfile(ProfileChange(displayName: "Alice", sendsReadReceipts: false))
    let alice = try store.messenger("alice").user()
    var json = JSONWriter()
    json.line(alice)
    let line = try Imported(line: json.bytes.dropLast()[...])
    let added = try user(copy.messenger("bob").importHistory([line])[0])
    #expect(added.displayName == "Alice" && !added.sendsReadReceipts && added.showsPresence)
  }

  private func message(_ files: [ImportedMessage.File], at second: Int64 = 1, nonce: String) throws -> ImportedMessage {
    try ImportedMessage(
      group: .title("old"), sender: Handle("ann"), text: nil, createdAt: Timestamp(microseconds: second * 1_000_000),
      nonce: nonce, files: files)
  }

  @Test func `the files of an imported message become its attachments`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    var message = try message([ImportedMessage.File(path: "a"), ImportedMessage.File(path: "b")], nonce: "n")
    #expect(try !alice.needsNoFiles(message))
    for name in ["a.txt", "b.txt"] {
      message.attachments.append(try alice.prepare(.bytes(Array(name.utf8)), name: name).attachment.id)
    }
    guard case .message(let answer) = try alice.importHistory([.message(message)])[0].get() else {
      throw DMError(.internal, "no message")
    }
    #expect(answer.attachments.map(\.name) == ["a.txt", "b.txt"] && answer.text == nil)
    #expect(
      try store.messenger("ann").everything(in: "+old").map { $0.attachments.map(\.name) } == [["a.txt", "b.txt"]])
    #expect(try alice.needsNoFiles(message))
    #expect(try store.findings() == [])
  }

  @Test func `importing a message whose files are not prepared fails, and creates no conversation`() throws {
    let store = try TemporaryStore(users: ["alice"])
    let alice = try store.messenger("alice")
    let line = try Imported.message(message([ImportedMessage.File(path: "a")], nonce: "n"))
    #expect(try code { try alice.importHistory([line])[0].get() } == .busy)
    #expect(try store.integers("SELECT count(*) FROM conversation") == [[0]])
  }

  @Test func `a file that another user prepared cannot be imported`() throws {
    let store = try TemporaryStore(users: ["alice", "bob"])
    var message = try message([ImportedMessage.File(path: "a")], nonce: "n")
    message.attachments = [try store.messenger("bob").prepare(.bytes([1])).attachment.id]
    #expect(try code { try store.messenger("alice").importHistory([.message(message)])[0].get() } == .unknownAttachment)
    #expect(try store.integers("SELECT count(*) FROM conversation") == [[0]])
  }
}
