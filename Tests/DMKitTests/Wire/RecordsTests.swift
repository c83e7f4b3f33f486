import DMJSON
import Testing

@testable import DMDigest
@testable import DMKit
@testable import DMModel
@testable import TestSupport

/// The code that writes records is compared with the schema, which is written separately.
struct RecordsTests {
  static let id = Identifier(high: 0x019a_c5f2_0a3b_7c4d, low: 0x8e5f_0123_4567_89ab)
  static let time = Timestamp(microseconds: 1_795_271_400_123_456)
  /// A message with all fields.
  ///
  /// No real message has all of them, but the writer writes every field that is set.
  static let message = {
    var message = sent
    (message.likeness, message.pin) = (0.5, Message.Pin(user: bob, at: time))
    return message
  }()
  private static let sent = Message(
    id: id, conversationID: id, conversation: ConversationLabel(title: "ops", isGroup: true, reference: "+ops"), seq: 7,
    sender: Handle(stored: "bob"), senderName: "Bob", isMine: true, isUnread: true, readByCount: 1, readBy: [bob],
    text: "hi", createdAt: time,
    status: .read, replyTo: Message.Reply(id: id, seq: 6, sender: bob, text: "ho"), forwardedFrom: bob, nonce: "n",
    attachments: [bareAttachment], linkPreview: preview, mentions: [bob],
    reactions: [Message.Reactions(emoji: "👍", users: [bob])],
    editedAt: time, expiresAt: time, deletedAt: time, failure: "refused_by_hub", replaces: id, systemKind: .userJoined,
    subject: "bob",
    isDuplicate: true, line: 3, snippet: "**hi**", isTruncated: true)

  private static let preview = LinkPreview(stored: "https://a.test/", "A", "about", "Site").with(attachment: id)
  static let bob = Handle(stored: "bob")
  private static let cursor = Cursor(store: id, Cursor.Position(rev: 4711, seq: 10))
  private static let conversation = Conversation(
    id: id, name: "n", isGroup: true, title: "ops", ownName: "n", creator: bob, owners: [bob], myRole: .owner,
    participants: [bob], lastMessage: message, lastActivityAt: time,
    unreadCount: 1, unreadMentionsCount: 1, lastReadSeq: 6, firstUnreadSeq: 7, isPinned: true, isArchived: false,
    mutedUntil: time, draftText: "d", avatarURL: "u", expireAfter: .seconds(60),
    pageCursor: PageCursor(store: id, isPinned: true, lastActivity: time, conversation: 1))
  static let bareMessage = Message(
    id: id, conversationID: id, conversation: ConversationLabel(title: nil, isGroup: true, reference: id.description),
    seq: nil, sender: bob, text: nil, createdAt: time, status: .sending, nonce: nil
  )
  private static let bareConversation = Conversation(
    id: id, isGroup: false, title: nil, creator: nil, participants: [], lastMessage: nil, lastActivityAt: time,
    unreadCount: 0, lastReadSeq: nil, firstUnreadSeq: nil, isPinned: false, isArchived: false, pageCursor: nil)

  private static func receipt(_ kind: Receipt.Kind, in title: String? = nil, at time: Timestamp? = time) -> Receipt {
    Receipt(kind: kind, conversationID: id, conversationTitle: title, user: bob, ranges: [1...7, 9...9], at: time)
  }

  private static func marked(in title: String?) -> Marked {
    Marked(
      action: .read, isDryRun: true, conversationID: id, conversationTitle: title, ranges: [1...7, 9...9],
      unreadCount: 2, at: time)
  }

  private static func deletion(seq: Int?) -> Deletion {
    Deletion(messageID: id, conversationID: id, seq: seq, forEveryone: true)
  }

  private static func reaction(_ emoji: String?) -> Reaction {
    Reaction(messageID: id, conversationID: id, seq: 7, user: bob, emoji: emoji, reactedAt: time)
  }

  private static let pin = MessagePin(of: message, by: bob, isPinned: true, at: time)

  private static func report(_ reason: String?, _ text: String?) -> Report {
    Report(
      messageID: id, conversationID: id, seq: 7, sender: bob, user: bob, reason: reason, text: text, reportedAt: time)
  }

  private static func point(who: String?, until: String?, _ reason: DigestPoint.Reason?) -> DigestPoint {
    DigestPoint(
      .priority, "t", who: who, until: until, reason: reason, references: ["+ops:7"], conversation: "+ops", time: time)
  }

  private static var translations: [any Record] {
    let message = DigestMessage(
      Message(
        id: id, conversationID: id, conversation: bareMessage.conversation, seq: 7, sender: bob, text: "hi",
        createdAt: time, status: .sent, nonce: nil))
    return message.map { [Translated($0, "t", "de")] } ?? []
  }

  /// The records of a stream, which always have a cursor; their other members are all set or only the required ones.
  private static func stream(_ message: Message, _ conversation: Conversation) -> [any Record] {
    var changed = conversation
    if changed.title != nil { changed.replaces = id }
    return [
      MessagingEvent.messageUpdated(message, cursor),
      MessagingEvent.messageStatus(
        MessageStatus(
          conversationID: id, conversationTitle: conversation.title, sender: bob, status: .read, ranges: [1...7],
          user: bob),
        cursor),
      MessagingEvent.conversationUpdated(changed, cursor),
      MessagingEvent.typing(Typing(conversationID: id, users: [bob])),
      MessagingEvent.presence(
        Presence(user: bob, isOnline: true, lastSeenAt: message.text == nil ? nil : time)),
      MessagingEvent.caughtUp(cursor), MessagingEvent.heartbeat(cursor), MessagingEvent.gap(from: cursor, to: cursor),
      Acknowledgement(consumer: "bot", cursor: cursor),
      Consumer(name: "bot", cursor: cursor, behindCount: 1, skippedCount: 0, usedAt: time),
    ]
  }

  private static var full: [any Record] {
    [
      User(
        handle: Handle(stored: "bob"), displayName: "Bob", bio: "b", avatarURL: "u", showsPresence: true,
        sendsReadReceipts: true, createdAt: time),
      MessagingEvent.message(message, cursor),
      FullAttachment(),
      conversation,
      MessagingEvent.readReceipt(receipt(.read, in: "ops"), cursor),
      MessagingEvent.deliveryReceipt(receipt(.delivery, in: "ops"), cursor), marked(in: "ops"),
      MessagingEvent.messageDeleted(deletion(seq: 7), cursor), MessagingEvent.reaction(reaction("👍"), cursor),
      MessagingEvent.messagePin(pin, cursor),
      report("r", "t"), point(who: "bob", until: "friday", .asks),
      Answer(question: "q", text: "t", references: ["+ops:7"]),
      ErrorRecord(line: 3, DMError(.unknownUser, "m", subject: "s").answering(nonce: "n"), message: "m"),
    ] + translations + stream(message, conversation) + upkeepRecords(isFull: true) + hubRecords(isFull: true)
      + usageRecords + [
        SettingRecord(
          program: "p", name: "n", value: "v", origin: .line(3), variable: "N", path: "/c")
      ]
  }

  private static var minimal: [any Record] {
    [
      User(
        handle: Handle(stored: "bob"), displayName: nil, bio: nil, avatarURL: nil, showsPresence: false,
        sendsReadReceipts: false, createdAt: time
      ),
      bareMessage, bareAttachment, bareConversation, receipt(.read), receipt(.delivery, at: nil), marked(in: nil),
      deletion(seq: nil), reaction(nil), pin,
      report(nil, nil), point(who: nil, until: nil, nil), Answer(question: "q", text: nil, references: []),
      ErrorRecord(line: nil, DMError(.busy, "m"), message: "m"),
    ] + translations + stream(bareMessage, bareConversation) + upkeepRecords(isFull: false) + hubRecords(isFull: false)
      + usageRecords + [SettingRecord(name: "n", value: nil, origin: .standard)]
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
      let (names, schema) = (object.members.map(\.name), try schema(object))
      #expect(names == schema.fields.map(\.name), "\(schema.name)")
    }
  }

  @Test func `a minimal record has only the required members, in the order of the schema`() throws {
    for record in Self.minimal {
      let object = try line(record)
      let (names, schema) = (object.members.map(\.name), try schema(object))
      // A record of a stream always has a cursor, although the schema lists it as optional.
      let isOfStream = record is MessagingEvent && names.last == "cursor"
      #expect(names == schema.fields.filter { !$0.isOptional || isOfStream && $0.name == "cursor" }.map(\.name))
    }
  }

  @Test func `each value has the type that the schema declares`() throws {
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
    case (.integer, .integer), (.number, .integer), (.number, .number), (.boolean, .bool), (.string, .string): true
    case (.time, .string(let text)): Timestamp(rfc3339: text)?.description == text
    case (.uuid, .string(let text)): Identifier(text)?.description == text
    case (.handle, .string(let text)): !text.isEmpty
    case (.constant(let constant), .string(let text)): text == constant
    case (.words(let words), .string(let text)): words.contains(text)
    case (.list(let element), .array(let values)): values.allSatisfy { fits($0, element) }
    case (.map(let element), .object(let object)): object.members.allSatisfy { fits($0.value, element) }
    case (.members(let fields), .object(let object)):
      object.members.map(\.name) == fields.map(\.name)
        && fields.allSatisfy { field in object[field.name].map { fits($0, field.kind) } == true }
    case (.named, .object): true
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

  @Test func `the JSON format of a message stays stable`() {
    var json = JSONWriter()
    json.line(Self.message)
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == #"{"type":"message","id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","#
        + #""ref":"+ops:7","conversation_id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","#
        + #""conversation_title":"ops","is_group":true,"seq":7,"sender":"bob","sender_name":"Bob","is_mine":true,"#
        + #""text":"hi","created_at":"2026-11-21T14:30:00.123456Z","status":"read","is_unread":true,"read_by_count":1,"read_by":["bob"],"#
        + #""reply_to":{"id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","seq":6,"sender":"bob","text":"ho"},"#
        + #""forwarded_from":"bob","nonce":"n","#
        + #""attachments":[\#(Self.bareAttachmentLine)],"#
        + #""link_preview":{"url":"https://a.test/","title":"A","description":"about","site":"Site","#
        + #""attachment_id":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab"},"mentions":["bob"],"#
        + #""reactions":[{"emoji":"👍","users":["bob"]}],"pinned_at":"2026-11-21T14:30:00.123456Z","#
        + #""pinned_by":"bob","edited_at":"2026-11-21T14:30:00.123456Z","#
        + #""expires_at":"2026-11-21T14:30:00.123456Z","deleted_at":"2026-11-21T14:30:00.123456Z","#
        + #""failure":"refused_by_hub","replaces":"019ac5f2-0a3b-7c4d-8e5f-0123456789ab","#
        + #""system_kind":"user_joined","subject":"bob","duplicate":true,"line":3,"snippet":"**hi**","likeness":0.5,"#
        + #""is_truncated":true}"#
        + "\n")
  }

  @Test func `the JSON format of events stays stable`() {
    var json = JSONWriter()
    json.line(MessagingEvent.typing(Typing(conversationID: Self.id, users: [Self.bob])))
    json.line(MessagingEvent.typing(Typing(conversationID: Self.id, users: [])))
    json.line(MessagingEvent.presence(Presence(user: Self.bob, isOnline: false, lastSeenAt: Self.time)))
    json.line(MessagingEvent.caughtUp(Self.cursor))
    json.line(MessagingEvent.gap(from: Self.cursor, to: Self.cursor))
    json.line(MessagingEvent.readReceipt(Self.receipt(.read), Self.cursor))
    json.line(Self.marked(in: "ops"))
    json.line(Acknowledgement(consumer: "bot", cursor: Self.cursor))
    let lines = String(decoding: json.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    let (id, cursor) = ("019ac5f2-0a3b-7c4d-8e5f-0123456789ab", "c8e5f0123456789ab-1267-a")
    #expect(
      lines == [
        #"{"type":"typing","conversation_id":"\#(id)","users":["bob"]}"#,
        #"{"type":"typing","conversation_id":"\#(id)","users":[]}"#,
        #"{"type":"presence","user":"bob","is_online":false,"last_seen_at":"2026-11-21T14:30:00.123456Z"}"#,
        #"{"type":"caught_up","cursor":"\#(cursor)"}"#,
        #"{"type":"gap","from":"\#(cursor)","to":"\#(cursor)","cursor":"\#(cursor)"}"#,
        #"{"type":"read_receipt","conversation_id":"\#(id)","user":"bob","ranges":[[1,7],[9,9]],"#
          + #""read_at":"2026-11-21T14:30:00.123456Z","cursor":"\#(cursor)"}"#,
        #"{"type":"marked","action":"read","is_dry_run":true,"conversation_id":"\#(id)","conversation_title":"ops","#
          + #""ranges":[[1,7],[9,9]],"marked_count":8,"unread_count":2,"marked_at":"2026-11-21T14:30:00.123456Z"}"#,
        #"{"type":"ack","consumer":"bot","cursor":"\#(cursor)"}"#,
      ])
  }

  @Test func `a message is the same JSON in history and stream, except for the cursor at its end`() {
    var (history, live) = (JSONWriter(), JSONWriter())
    Self.message.write(to: &history)
    MessagingEvent.message(Self.message, Self.cursor).write(to: &live)
    let line = String(decoding: history.bytes, as: UTF8.self).dropLast()
    #expect(String(decoding: live.bytes, as: UTF8.self) == line + #","cursor":"\#(Self.cursor)"}"#)
  }

  @Test func `a JSON Schema document defines every record that it refers to`() throws {
    let document = RecordSchema.document(for: "dm-list", reads: "send_line", writes: ["conversation", "error"])
    let schema = try object(document.bytes)
    #expect(schema["$schema"] == .string("https://json-schema.org/draft/2020-12/schema"))
    guard case .object(let definitions)? = schema["$defs"] else {
      Issue.record("no $defs")
      return
    }
    #expect(
      definitions.members.map(\.name) == ["input", "conversation", "error", "message", "attachment", "send_line"])
  }

  @Test func `a line that is printed for dm-send has the member 'type'`() throws {
    let object = try line(SendLine(to: .direct("bob"), text: "hi", attachments: [Self.bareAttachment]))
    #expect(object.members.map(\.name) == ["type", "conversation", "text", "nonce", "attachments"])
  }

  @Test func `error codes are unique and in snake case`() {
    let codes = DMError.Code.allCases.map(\.rawValue)
    #expect(
      codes.allSatisfy { $0.utf8.allSatisfy { $0 == 0x5F || (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) } }
    )
    #expect(Set(codes).count == codes.count)
    #expect(
      DMError.Code.allCases.filter(\.isRetryable)
        == [.fileChanged, .inputOutput, .busy, .hubUnreachable, .overQuota, .modelFailed])
  }
}
