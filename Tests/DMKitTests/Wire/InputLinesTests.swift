import DMJSON
import Testing

@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

struct InputLinesTests {
  private static let uuid = "019ac5f2-0a3b-7c4d-8e5f-0123456789ab"

  private func outgoing(_ json: String) throws -> Outgoing { try Outgoing(line: Array(json.utf8)[...]) }
  private func imported(_ json: String) throws -> Imported {
    let line = try Imported(line: Array(json.utf8)[...])
    if case .refusedConversation(_, let error) = line { throw error }
    return line
  }
  private func mentioned(_ json: String) throws -> Messenger.MarkedMessage? {
    try Messenger.MarkedMessage(line: Array(json.utf8)[...])
  }

  @Test func `a line to send has a conversation, a text, a nonce and a reply reference`() throws {
    let line = try outgoing(
      #"{"type":"message","conversation":"+ops","text":"hi","nonce":"n","reply_to":"-1","x":{"y":[]}}"#)
    #expect(
      try line == Outgoing(to: .title("ops"), text: "hi", nonce: "n", replyTo: .number(-1, in: nil)))
    #expect(try outgoing(#"{"conversation":"bob","text":"hi","nonce":null}"#).nonce == nil)
  }

  @Test func `a printed message with its text changed is a valid line to send`() throws {
    let store = try TemporaryStore()
    let alice = try store.messenger("alice")
    let first = try alice.say("one", to: "bob")
    let second = try alice.say("two", to: "bob", replyTo: "1")
    var json = JSONWriter()
    json.line(second)
    let printed = String(decoding: json.bytes.dropLast(), as: UTF8.self)
    let line = try outgoing(printed.replacing("\"text\":\"two\"", with: "\"text\":\"other\""))
    #expect(
      try line == Outgoing(to: .id(second.conversationID), text: "other", replyTo: .id(first.id)))
    #expect(try store.messenger("bob").send(line).seq == 3)
  }

  @Test func `a line to send may use a conversation id, a reply object and a lifetime in seconds`() throws {
    let id = try #require(Identifier(Self.uuid))
    let line = try outgoing(
      #"{"conversation_id":"\#(Self.uuid)","conversation":"bob","text":"hi","reply_to":{"id":"\#(Self.uuid)","seq":5},"#
        + #""expires_in":90}"#)
    #expect(try line == Outgoing(to: .id(id), text: "hi", replyTo: .id(id), lifetime: .seconds(90)))
    for (wrong, code) in [
      (#""reply_to":{"seq":5}"#, DMError.Code.badField), (#""expires_in":1.5"#, .badField),
      (#""expires_in":0"#, .badTime),
      (#""conversation_id":"x""#, .badField),
    ] {
      #expect(
        try TestSupport.code { try outgoing(#"{"conversation":"bob","text":"hi",\#(wrong)}"#) } == code, "\(wrong)")
    }
  }

  @Test func `an error names the nonce of its line`() throws {
    #expect(try fault { try outgoing(#"{"conversation":"bob","text":"","nonce":"n"}"#) }?.nonce == "n")
    let long = String(repeating: "n", count: 129)
    #expect(try fault { try outgoing(#"{"conversation":"bob","text":"hi","nonce":"\#(long)"}"#) }?.nonce == nil)
  }

  @Test func `attachments of a line are given by id or as attachment records with an id`() throws {
    let id = try #require(Identifier(Self.uuid))
    let to = try ConversationReference("bob")
    let attached = #""attachments":["\#(Self.uuid)",{"type":"attachment","id":"\#(Self.uuid)","name":"x"}]"#
    #expect(
      try outgoing(#"{"conversation":"bob","text":"hi",\#(attached)}"#)
        == Outgoing(to: to, text: "hi", attachments: [id, id]))
    for text in ["", #""text":null,"#, #""text":"","#] {
      #expect(
        try outgoing(#"{"conversation":"bob",\#(text)\#(attached)}"#)
          == Outgoing(to: to, text: "", attachments: [id, id]))
    }
    for none in ["[]", "null"] {
      #expect(
        try outgoing(#"{"conversation":"bob","text":"hi","attachments":\#(none)}"#) == Outgoing(to: to, text: "hi"))
    }
  }

  @Test func `a message has at most 32 attachments`() throws {
    func line(_ count: Int) -> String {
      let ids = Array(repeating: "\"\(Self.uuid)\"", count: count).joined(separator: ",")
      return #"{"conversation":"bob","attachments":[\#(ids)]}"#
    }
    #expect(try outgoing(line(32)).attachments.count == 32)
    #expect(try fault { try outgoing(line(33)) }?.subject == "attachments")
  }

  @Test func `a line that is printed for dm-send is read back as the same message`() throws {
    let attachment = RecordsTests.fullAttachment
    for text in [nil, "hi"] {
      var json = JSONWriter()
      json.line(try SendLine(to: .title("ops"), text: text, attachments: [attachment, attachment]))
      #expect(
        try Outgoing(line: json.bytes.dropLast()[...])
          == Outgoing(
            to: .title("ops"), text: text ?? "", nonce: attachment.id.description,
            attachments: [attachment.id, attachment.id]))
    }
  }

  @Test(arguments: [
    (#"{"text":"hi"}"#, DMError.Code.missingField), (#"{"conversation":"bob"}"#, .missingField),
    (#"{"conversation":null,"text":"hi"}"#, .missingField), (#"{"conversation":1,"text":"hi"}"#, .badField),
    (#"{"conversation":"bob","text":["hi"]}"#, .badField), (#"{"conversation":"bob","text":""}"#, .emptyText),
    (#"{"conversation":"","text":"hi"}"#, .badReference),
    (#"{"conversation":"bob","text":"hi","nonce":""}"#, .badField),
    (#"{"conversation":"bob","text":"hi","nonce":7}"#, .badField),
    (#"{"conversation":"bob","text":"hi","reply_to":"x"}"#, .badReference),
    (#"{"conversation":"bob","attachments":[]}"#, .missingField),
    (#"{"conversation":"bob","attachments":null}"#, .missingField),
    (#"{"conversation":"bob","text":"","attachments":[]}"#, .emptyText),
    (#"{"conversation":"bob","text":"hi","attachments":{}}"#, .badField),
    (#"{"conversation":"bob","text":"hi","attachments":"\#(Self.uuid)"}"#, .badField),
    (#"{"conversation":"bob","text":"hi","attachments":[null]}"#, .badField),
    (#"{"conversation":"bob","text":"hi","attachments":["x"]}"#, .badField),
    (#"{"conversation":"bob","text":"hi","attachments":[{}]}"#, .badField),
    (#"{"conversation":"bob","text":"hi","attachments":[{"id":null}]}"#, .badField),
    (#"{"conversation":"bob","text":"hi","attachments":[{"id":7}]}"#, .badField),
    (#"{"conversation":"bob","text":"hi","attachments":[["\#(Self.uuid)"]]}"#, .badField),
    (#"{"conversation":"bob","text":7,"attachments":["\#(Self.uuid)"]}"#, .badField),
    (#"{"conversation":"bob","text":"hi","ack":"c"}"#, .badField),
    (#"{"conversation":"bob","text":"hi""#, .malformedLine), ("hi", .malformedLine), ("", .malformedLine),
  ])
  func `an invalid line to send is refused with the code of its error`(_ json: String, _ expected: DMError.Code) throws
  {
    #expect(try code { try outgoing(json) } == expected)
  }

  @Test func `an acknowledgement that is not a cursor is an error and acknowledges nothing`() throws {
    let json = #"{"conversation":"bob","text":"hi","nonce":"n","ack":"nonsense"}"#
    let line = try ConsumerLine(line: Array(json.utf8)[...])
    #expect(line.acknowledges == nil)
    #expect(try code { try line.outgoing?.get() } == .badCursor)
  }

  @Test func `a message line printed by dm-tail is a valid import line`() throws {
    let json = """
      {"type":"message","id":"\(Self.uuid)","conversation_id":"\(Self.uuid)","seq":3,"sender":"ann","text":"hi",\
      "created_at":"2026-11-21T14:30:00.123456Z","status":"read","reply_to":"\(Self.uuid)","nonce":"n"}
      """
    let id = try #require(Identifier(Self.uuid))
    let expected = try ImportedMessage(
      group: .id(id), id: id, sender: Handle("ann"), text: "hi",
      createdAt: Timestamp(microseconds: 1_795_271_400_123_456),
      nonce: "n", replyTo: .id(id))
    #expect(try imported(json) == .message(expected))
  }

  @Test(arguments: ["ops", "+ops"])
  func `an import line may name its group by the title`(_ name: String) throws {
    let json =
      #"{"conversation":"\#(name)","sender":"ann","text":"hi","created_at":"2026-11-21T14:30:00Z","#
      + #""reply_to_nonce":"n"}"#
    guard case .message(let message) = try imported(json) else {
      Issue.record("no message")
      return
    }
    #expect(message.group == .title("ops"))
    #expect(message.replyTo == .nonce("n"))
  }

  @Test(arguments: [
    (#"{"type":"read_receipt"}"#, DMError.Code.badField),
    (#"{"sender":"ann","text":"hi","created_at":"2026-11-21T14:30:00Z"}"#, .missingField),
    (#"{"conversation":"o","text":"hi","created_at":"2026-11-21T14:30:00Z"}"#, .missingField),
    (#"{"conversation":"o","sender":"a b","text":"hi","created_at":"2026-11-21T14:30:00Z"}"#, .badHandle),
    (#"{"conversation":"o","sender":"ann","created_at":"2026-11-21T14:30:00Z"}"#, .missingField),
    (#"{"conversation":"o","sender":"ann","text":"hi","created_at":"2026-11-21 14:30"}"#, .badTime),
    (#"{"conversation":"o","sender":"ann","text":"hi"}"#, .missingField),
    (#"{"conversation":"o","id":"x","sender":"ann","text":"hi","created_at":"2026-11-21T14:30:00Z"}"#, .badField),
    (#"{"conversation":"a\nb","sender":"ann","text":"hi","created_at":"2026-11-21T14:30:00Z"}"#, .badField),
    (#"{"type":"conversation","is_group":true,"participants":[]}"#, .missingField),
    (#"{"type":"conversation","id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","participants":[]}"#, .badField),
    (#"{"type":"conversation","id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","is_group":true}"#, .badField),
    (
      #"{"type":"conversation","id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","is_group":true,"participants":[1]}"#,
      .badField
    ),
    (
      #"{"type":"conversation","id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","is_group":true,"participants":[],"creator":"a b"}"#,
      .badHandle
    ),
    (
      #"{"type":"conversation","id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","is_group":true,"participants":[],"creator":""}"#,
      .badHandle
    ),
    (
      #"{"type":"conversation","id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","is_group":true,"participants":["a b"]}"#,
      .badHandle
    ),
  ])
  func `an invalid import line is refused with the code of its error`(_ json: String, _ expected: DMError.Code) throws {
    #expect(try code { try imported(json) } == expected)
  }

  @Test func `an input line of dm-read has a conversation id and a number, and lines of other types are ignored`()
    throws
  {
    let id = try #require(Identifier(Self.uuid))
    let line = #"{"type":"message","conversation_id":"\#(Self.uuid)","seq":3,"text":"hi"}"#
    #expect(try mentioned(line) == Messenger.MarkedMessage(conversation: id, seq: 3))
    #expect(try mentioned(#"{"type":"read_receipt","seq":3}"#) == nil)
    #expect(try mentioned("{}") == nil)
  }

  @Test(arguments: [
    ("{\"type\":\"message\",\"seq\":3}", DMError.Code.missingField),
    ("{\"type\":\"message\",\"conversation_id\":\"\(Self.uuid)\"}", .missingField),
    ("{\"type\":\"message\",\"conversation_id\":\"\(Self.uuid)\",\"seq\":0}", .badField),
    ("{\"type\":\"message\",\"conversation_id\":\"\(Self.uuid)\",\"seq\":1.5}", .badField),
    ("{\"type\":\"message\",\"conversation_id\":\"\(Self.uuid)\",\"seq\":\"3\"}", .badField),
    ("{\"type\":\"message\",\"conversation_id\":\"bob\",\"seq\":3}", .badField), ("{\"type\":3}", .badField),
    ("x", .malformedLine),
  ])
  func `an invalid input line of dm-read is refused with the code of its error`(
    _ json: String, _ expected: DMError.Code
  ) throws {
    #expect(try code { try mentioned(json) } == expected)
  }
}
