import Testing

@testable import DMCLI
@testable import DMKit

extension LocalTime {
  struct Text {
    private let time = Timestamp(rfc3339: "2026-11-21T14:30:15.5Z") ?? Timestamp(microseconds: 0)
    private let id = Identifier(high: 0x019a_c5f2_0a3b_7c4d, low: 0x8e5f_0123_4567_89ab)
    private let me = Handle(stored: "alice")

    private func message(_ text: String, from sender: String = "bob", _ status: Message.Status = .sent) -> Message {
      Message(
        id: id, conversationID: id, conversation: ConversationLabel(title: "bob", isGroup: false, reference: "bob"),
        seq: 7, sender: Handle(stored: sender), text: text, createdAt: time, status: status, nonce: nil)
    }

    private func conversation(
      _ participants: [String], title: String? = nil, isGroup: Bool = false, last: Message? = nil, unread: Int = 0,
      isPinned: Bool = false, isArchived: Bool = false
    ) -> Conversation {
      Conversation(
        id: id, name: participants.last ?? "", isGroup: isGroup, title: title, creator: nil,
        participants: participants.map(Handle.init(stored:)),
        lastMessage: last, lastActivityAt: time, unreadCount: unread, lastReadSeq: nil, firstUnreadSeq: nil,
        isPinned: isPinned, isArchived: isArchived, pageCursor: nil)
    }

    @Test func `a time is the local clock, or the day when it was another`() {
      inZone("Europe/Berlin") {
        #expect(TextFormat.clock(time) == "15:30")
        #expect(TextFormat.day(time) == "2026-11-21")
        #expect(TextFormat.short(time, now: time) == "15:30")
        #expect(
          TextFormat.short(time, now: Timestamp(microseconds: time.microseconds + 86_400_000_000)) == "2026-11-21")
      }
    }

    @Test func `a conversation is named as one would refer to it`() {
      #expect(TextFormat.name(conversation(["alice", "bob"]), for: me) == "bob")
      #expect(TextFormat.name(conversation(["alice"]), for: me) == "alice")
      #expect(TextFormat.name(conversation(["alice"], title: "ops", isGroup: true), for: me) == "+ops")
      #expect(TextFormat.name(conversation(["alice"], isGroup: true), for: me) == id.description)
    }

    @Test(arguments: [
      ("Bob B.", "bob", 24, "Bob B. (bob)"), ("bob", "bob", 24, "bob"),
      ("Bartholomew the Third", "bob", 24, "Bartholomew the T… (bob)"), ("Bob", "bartholomew", 8, "barthol…"),
      ("\u{1B}[2J\nBob", "bob", 24, #"\u{1B}[2J\u{A}Bob (bob)"#),
    ])
    func `a display name is cut before the handle in a label`(name: String, handle: String, width: Int, label: String) {
      var seen = conversation(["alice", handle])
      seen.name = name
      #expect(TextFormat.label(seen, for: me, width: width) == label)
    }

    @Test func `a line of the list has flag, unread, name, time and last message`() {
      inZone("UTC") {
        let line = TextFormat.line(
          conversation(["alice", "bob"], last: message("one\ntwo"), unread: 3, isPinned: true), for: me)
        #expect(
          line == "*    3  bob                       2026-11-21  bob: one" || line.contains("  14:30       bob: one"))
        #expect(TextFormat.line(conversation(["alice"], isArchived: true), for: me).hasPrefix("a       alice "))
        #expect(!line.contains("\n"))
      }
    }

    @Test func `a line of the list stays one line, whatever is said`() {
      let hostile = conversation(
        ["alice", "bob"], last: message("\n\u{1B}]0;x\u{7}\u{2028}" + String(repeating: "w", count: 500)),
        unread: 123_456)
      let line = TextFormat.line(hostile, for: me)
      #expect(!line.unicodeScalars.contains { isHidden($0) })
      #expect(line.count < 130)
    }

    @Test func `a message shows its number, sender and text, and how far one's own came`() {
      inZone("UTC") {
        #expect(TextFormat.line(message("hi"), for: me) == "14:30  7 bob: hi")
        #expect(TextFormat.line(message("hi", from: "alice", .read), for: me) == "14:30  7 alice: hi  [read]")
        #expect(TextFormat.line(message("hi", from: "alice"), for: me) == "14:30  7 alice: hi")
        #expect(TextFormat.line(message("hi", .read), for: me) == "14:30  7 bob: hi")
        #expect(TextFormat.line(message("hi"), for: me, in: "+ops") == "14:30  +ops:7 bob: hi")
        #expect(TextFormat.line(message("a\nb\u{1B}"), for: me) == "14:30  7 bob: a\n       b\\u{1B}")
      }
    }

    @Test func `a receipt shows who, which messages, when and what is left`() {
      inZone("UTC") {
        let one = Receipt(
          kind: .read, conversationID: id, user: Handle(stored: "bob"), range: 7...7, at: time, unreadCount: nil)
        let many = Receipt(
          kind: .read, conversationID: id, user: Handle(stored: "bob"), range: 3...7, at: time, unreadCount: 2)
        #expect(TextFormat.line(one).hasPrefix("bob  7  "))
        #expect(TextFormat.line(many).hasPrefix("bob  3..7  "))
        #expect(TextFormat.line(many).hasSuffix("14:30, 2 unread"))
        #expect(TextFormat.line(one, in: "+ops").hasPrefix("bob  +ops:7  "))
      }
    }

    @Test func `a user shows the profile on one line`() {
      let user = User(
        handle: Handle(stored: "bob"), displayName: "Bob\nB.", bio: "x\u{1B}", avatarURL: nil, showsPresence: false,
        createdAt: time)
      let line = TextFormat.line(user)
      #expect(line.hasPrefix("bob                       Bob"))
      #expect(line.hasSuffix("(hides presence)"))
      #expect(!line.unicodeScalars.contains { isHidden($0) })
    }
  }
}
