import Testing

@testable import DMKit

/// What is printed and what the schema says are two texts; here they are held together.
struct RecordsTests {
  private static let id = Identifier(high: 0x019a_c5f2_0a3b_7c4d, low: 0x8e5f_0123_4567_89ab)
  private static let time = Timestamp(microseconds: 1_795_271_400_123_456)
  private static let message = Message(
    id: id, conversationID: id, seq: 7, sender: Handle(stored: "bob"), text: "hi", createdAt: time, status: .read,
    replyTo: id, nonce: "n", isDuplicate: true)

  private static var full: [any Record] {
    [
      User(
        handle: Handle(stored: "bob"), displayName: "Bob", bio: "b", avatarURL: "u", showsPresence: true,
        createdAt: time),
      message,
      Conversation(
        id: id, isGroup: true, title: "ops", creator: Handle(stored: "bob"), participants: [Handle(stored: "bob")],
        lastMessage: message, lastActivity: time, unreadCount: 1, lastReadSeq: 6, firstUnreadSeq: 7, isPinned: true,
        isArchived: false, cursor: PageCursor(store: id, isPinned: true, lastActivity: time, conversation: 1)),
      Receipt(kind: .read, conversationID: id, user: Handle(stored: "bob"), range: 1...7, at: time, unreadCount: 0),
      ErrorRecord(line: 3, DMError(.unknownUser, "m", subject: "s")),
    ]
  }

  private static var minimal: [any Record] {
    [
      User(
        handle: Handle(stored: "bob"), displayName: nil, bio: nil, avatarURL: nil, showsPresence: false, createdAt: time
      ),
      Message(
        id: id, conversationID: id, seq: 1, sender: Handle(stored: "bob"), text: nil, createdAt: time, status: .sent,
        replyTo: nil, nonce: nil),
      Conversation(
        id: id, isGroup: false, title: nil, creator: nil, participants: [], lastMessage: nil, lastActivity: time,
        unreadCount: 0, lastReadSeq: nil, firstUnreadSeq: nil, isPinned: false, isArchived: false, cursor: nil),
      Receipt(kind: .read, conversationID: id, user: Handle(stored: "bob"), range: 1...1, at: time, unreadCount: nil),
      ErrorRecord(line: nil, DMError(.busy, "m")),
    ]
  }

  private func line(_ record: any Record) throws -> JSONObject {
    var json = JSONWriter()
    record.write(to: &json)
    return try object(json.bytes)
  }

  private func schema(_ object: JSONObject) throws -> RecordSchema {
    guard case .string(let type)? = object["type"] else { throw DMError(.internal, "no type") }
    return try #require(RecordSchema.named(type))
  }

  @Test func `there is an example of every record`() throws {
    let types = try Self.full.map { try schema(line($0)).name }
    #expect(Set(types) == Set(RecordSchema.outputs.map(\.name)))
    #expect(try Self.minimal.map { try schema(line($0)).name } == types)
  }

  @Test func `a full record has all members of its schema, in their order`() throws {
    for record in Self.full {
      let object = try line(record)
      #expect(try object.members.map(\.name) == schema(object).fields.map(\.name))
    }
  }

  @Test func `a minimal record has the members that are not optional, in their order`() throws {
    for record in Self.minimal {
      let object = try line(record)
      #expect(try object.members.map(\.name) == schema(object).fields.filter { !$0.isOptional }.map(\.name))
    }
  }

  @Test func `each value is of the kind that the schema says`() throws {
    for record in Self.full + Self.minimal {
      let object = try line(record)
      for field in try schema(object).fields {
        guard let value = object[field.name] else { continue }
        #expect(fits(value, field.kind), "\(field.name)")
      }
    }
  }

  private func fits(_ value: JSONValue, _ kind: RecordSchema.Kind) -> Bool {
    switch (kind, value) {
    case (.integer, .integer), (.boolean, .bool), (.string, .string): true
    case (.time, .string(let text)): Timestamp(rfc3339: text)?.description == text
    case (.uuid, .string(let text)): Identifier(text)?.description == text
    case (.handle, .string(let text)): !text.isEmpty
    case (.constant(let constant), .string(let text)): text == constant
    case (.words(let words), .string(let text)): words.contains(text)
    case (.list(let element), .array(let values)): values.allSatisfy { fits($0, element) }
    case (.record(let name), .object(let object)): object["type"] == .string(name)
    default: false
    }
  }

  @Test func `a line is one object and one line feed`() {
    var json = JSONWriter()
    for record in Self.minimal { json.line(record) }
    #expect(json.bytes.count { $0 == 0x0A } == Self.minimal.count)
    #expect(json.bytes.last == 0x0A)
  }

  @Test func `a message is written like this, and stays so`() {
    var json = JSONWriter()
    json.line(Self.message)
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == #"{"type":"message","id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","#
        + #""conversation_id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","seq":7,"sender":"bob","text":"hi","#
        + #""created_at":"2026-11-21T14:30:00.123456Z","status":"read","#
        + #""reply_to":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","nonce":"n","duplicate":true}"# + "\n")
  }

  @Test func `a schema is JSON that defines whatever it refers to`() throws {
    let document = RecordSchema.document(for: "dm-list", reads: "send_line", writes: ["conversation", "error"])
    let schema = try object(document.bytes)
    #expect(schema["$schema"] == .string("https://json-schema.org/draft/2020-12/schema"))
    guard case .object(let definitions)? = schema["$defs"] else {
      Issue.record("no $defs")
      return
    }
    #expect(definitions.members.map(\.name) == ["input", "conversation", "error", "message", "send_line"])
  }

  @Test func `codes of errors are snake case and none stands twice`() {
    let codes = DMError.Code.allCases.map(\.rawValue)
    #expect(
      codes.allSatisfy { $0.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) } }
    )
    #expect(Set(codes).count == codes.count)
    #expect(DMError.Code.allCases.filter(\.isRetryable) == [.inputOutput, .busy])
  }
}
