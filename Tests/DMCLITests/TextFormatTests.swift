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
        id, conversationID: id, conversation: ConversationLabel(title: "bob", isGroup: false, reference: "bob"),
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

    @Test func `a time of today is printed as local clock time, and a time of any other day as a date`() {
      inZone("Europe/Berlin") {
        #expect(TextFormat.clock(time) == "15:30")
        #expect(TextFormat.day(time) == "2026-11-21")
        #expect(TextFormat.short(time, now: time) == "15:30")
        #expect(
          TextFormat.short(time, now: Timestamp(microseconds: time.microseconds + 86_400_000_000)) == "2026-11-21")
      }
    }

    @Test func `a noun after a number is singular only if the number is 1`() {
      #expect([0, 1, 2].map { counted($0, "message") } == ["0 messages", "1 message", "2 messages"])
      #expect([1, 3].map { counted($0, "entry", "entries") } == ["1 entry", "3 entries"])
    }

    @Test func `a conversation is printed as the operand that refers to it`() {
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
    func `in a label, a long display name is shortened before the handle is shortened`(
      name: String, handle: String, width: Int, label: String
    ) {
      var seen = conversation(["alice", handle])
      seen.name = name
      #expect(TextFormat.label(seen, for: me, width: width) == label)
    }

    @Test func `a name cannot imitate a message line, and the label of an untitled group is not its UUID`() {
      var group = conversation(["alice", "bob", "mei"], isGroup: true)
      group.name = "mei: pay me" + String(repeating: " ", count: 40) + "(now), mei"
      #expect(TextFormat.label(group, for: me) == "mei pay me now , mei")
      #expect(unmarked(TextFormat.line(group, for: me, columns: 40)).hasPrefix("     mei pay me …  "))
      let titled = conversation(["alice", "mei"], title: "ops:3 alice: I quit.        ", isGroup: true)
      #expect(TextFormat.name(titled, for: me) == "+ops 3 alice I quit.")
      let bob = Handle(stored: "bob")
      let long = String(repeating: "x", count: 80)
      for (name, shown) in [
        ("mei: I \u{1B} say", #"mei I \u{1B} say (bob)"#), (long, long.prefix(23) + "… (bob)"),
        ("x\n1 mei: y", #"x\u{A}1 mei y (bob)"#),
        ("mei：（edited）꞉ ∶\u{3000} y", "mei edited y (bob)"), (":", "bob"), ("bob", "bob"),
      ] as [(String, String)] {
        #expect(TextFormat.person(name, bob) == shown)
      }
    }

    @Test func `an apostrophe in a quoted text cannot end the quotation`() {
      #expect(TextFormat.quoted("ok' said") == "'ok’ said'")
      #expect(TextFormat.quoted("ok'\u{FE0F}): I") == #"'ok’\u{FE0F}): I'"#)
      #expect(TextFormat.quoted("ok'\u{301}) ＇ \n  x") == "'ok’\u{301}) ’ x'")
    }

    @Test func `right-to-left text is isolated in every line that contains it`() throws {
      let words = "שלום 7"
      var sent = message(words, from: "שלום")
      sent.senderName = words
      sent.replyTo = Message.Reply(id: id, seq: 3, sender: Handle(stored: "שלום"), text: words)
      var group = conversation(["alice", "bob"], title: words, isGroup: true, last: sent)
      group.draftText = nil
      let lines = [
        TextFormat.line(sent, People(me), in: "+" + words), TextFormat.line(sent, nil, People(me), in: "+" + words),
        TextFormat.line(group, for: me), TextFormat.sentence(group, for: me),
        TextFormat.sentence(sent, for: me, in: words) { _ in Mark.body(words) },
      ]
      for line in lines {
        var depth = 0
        for scalar in line.unicodeScalars {
          if scalar == "\u{2}" { depth += 1 }
          if scalar == "\u{3}" { depth -= 1 }
          #expect(depth > 0 || !(0x590...0x5FF ~= scalar.value), "\(line)")
        }
        #expect(depth == 0)
      }
    }

    @Test func `a row of the conversation list has flag, unread count, name, time and last message`() {
      inZone("UTC") {
        let line = unmarked(
          TextFormat.line(
            conversation(["alice", "bob"], last: message("one\ntwo"), unread: 3, isPinned: true), for: me))
        #expect(
          line == "    3  bob                       2026-11-21  [pinned]  one"
            || line.contains("  14:30       [pinned]  one"))
        let archived = unmarked(TextFormat.line(conversation(["alice"], isArchived: true), for: me))
        #expect(archived.hasPrefix("       alice ") && archived.hasSuffix("  [archived]"))
        #expect(!line.contains("\n"))
      }
    }

    @Test func `a row of the conversation list is one short line, whatever the last message contains`() {
      let hostile = conversation(
        ["alice", "bob"], last: message("\n\u{1B}]0;x\u{7}\u{2028}" + String(repeating: "w", count: 500)),
        unread: 123_456)
      let line = unmarked(TextFormat.line(hostile, for: me))
      #expect(!line.unicodeScalars.contains { isHidden($0) })
      #expect(line.count < 130)
    }

    @Test(arguments: [
      ("Bob B.", "7 Bob B. (bob): hi", "7 deleted by Bob B."), ("bob", "7 bob: hi", "7 deleted by bob"),
      ("():", "7 bob: hi", "7 deleted by bob"),
      ("alice (edited): yes,  no", "7 alice edited yes, no (bob): hi", "7 deleted by alice edited yes, no"),
      (
        "x\u{1B}[2J\n" + String(repeating: "y", count: 30), #"7 x\u{1B}[2J\u{A}yyyyyyyy… (bob): hi"#,
        #"7 deleted by x\u{1B}[2J\u{A}yyyyyyyy…"#
      ),
    ])
    func `a sender is shown as display name and handle, without characters that could end the name`(
      name: String, line: String, deleted: String
    ) {
      inZone("UTC") {
        var sent = message("hi")
        sent.senderName = name
        #expect(unmarked(TextFormat.line(sent, People(me))) == "14:30  \(line)")
        sent.deletedAt = time
        #expect(unmarked(TextFormat.line(sent, People(me))) == "14:30  \(deleted)")
      }
    }

    @Test func `a message shows number, sender and text, and your own messages also show their status`() {
      inZone("UTC") {
        #expect(unmarked(TextFormat.line(message("hi"), People(me))) == "14:30  7 bob: hi")
        #expect(
          unmarked(TextFormat.line(message("hi", from: "alice", .read), People(me))) == "14:30  7 you (✓✓ read): hi")
        #expect(unmarked(TextFormat.line(message("hi", from: "alice"), People(me))) == "14:30  7 you (✓): hi")
        #expect(unmarked(TextFormat.line(message("hi", .read), People(me))) == "14:30  7 bob: hi")
        #expect(unmarked(TextFormat.line(message("hi"), People(me), in: "+ops")) == "14:30  +ops:7 bob: hi")
        #expect(unmarked(TextFormat.line(message("a\nb\u{1B}"), People(me))) == "14:30  7 bob: a\n       b\\u{1B}")
      }
    }

    @Test func `notes such as 'edited' are before the colon, where no text can imitate them`() {
      inZone("UTC") {
        var answer = message("(edited): hi  [read]", from: "alice", .delivered)
        answer.editedAt = time
        answer.replyTo = Message.Reply(id: id, seq: 3, sender: me, text: "x', read): I approve, a long text")
        answer.reactions = [Message.Reactions(emoji: "👍", users: [me, Handle(stored: "bob")])]
        #expect(
          unmarked(TextFormat.line(answer, People(me)))
            == "14:30  7 you (to 3 you 'x’, read): I approve, a…', edited, 👍 you bob, ✓✓): (edited): hi  [read]")
      }
    }

    @Test(arguments: 20...200) func `a row of the conversation list fits into a terminal of 40 columns or more`(
      width: Int
    ) {
      for text in ["hi", "我们明天在北京见面好吗？天气预报说会下雨", String(repeating: "w ", count: 200), "👍🏽👨‍👩‍👧‍👦🇩🇪"] {
        var seen = conversation(["alice", "bob"], last: message(text), unread: 3)
        seen.name = "Bartholomäus 陈美"
        let line = unmarked(TextFormat.line(seen, for: me, columns: width))
        #expect(mostColumns(of: line) <= max(width, 40), "\(line)")
      }
    }

    @Test func `a receipt shows its user, its messages and its time`() {
      inZone("UTC") {
        func receipt(_ kind: Receipt.Kind, _ ranges: [SeqRange], at time: Timestamp?) -> Receipt {
          Receipt(
            kind: kind, conversationID: id, conversationTitle: nil, user: Handle(stored: "bob"), ranges: ranges,
            at: time)
        }
        let day = TextFormat.day(time)
        func line(_ receipt: Receipt, _ people: People, in conversation: String? = nil) -> String {
          unmarked(TextFormat.line(receipt, people, in: conversation))
        }
        var people = People(Handle(stored: "alice"))
        #expect(line(receipt(.read, [7...7], at: time), people) == "bob  7  \(day) 14:30  read")
        #expect(
          line(receipt(.delivery, [3...7, 9...9], at: time), people, in: "+ops")
            == "bob  +ops:3..7, 9  \(day) 14:30  delivered")
        #expect(line(receipt(.delivery, [7...7], at: nil), people) == "bob  7  some time ago  delivered")
        people.learn(Handle(stored: "bob"), "Bob B.")
        #expect(line(receipt(.delivery, [7...7], at: nil), people) == "Bob B.  7  some time ago  delivered")
        people = People(Handle(stored: "bob"))
        #expect(line(receipt(.delivery, [7...7], at: nil), people) == "you  7  some time ago  delivered")
      }
    }

    @Test func `the result of marking shows the conversation, the messages, their number and the unread count`() {
      func marked(_ action: Marked.Action, _ ranges: [SeqRange], isDryRun: Bool = false) -> Marked {
        Marked(
          action: action, isDryRun: isDryRun, conversationID: id, conversationTitle: "bob", ranges: ranges,
          unreadCount: 3, at: time)
      }
      #expect(
        TextFormat.line(marked(.read, [5...8, 12...12]), in: "bob") == "marked 5 of bob as read: 5..8, 12; 3 unread")
      #expect(
        TextFormat.line(marked(.unread, [1...1], isDryRun: true), in: "+ops")
          == "would mark 1 of +ops as unread: 1; 3 unread")
      let many = stride(from: 1, through: 23, by: 2).map { $0...$0 }
      #expect(
        TextFormat.line(marked(.delivered, many), in: "bob")
          == "marked 12 of bob as delivered: 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, …; 3 unread")
    }

    @Test func `a user is printed with their profile on one line`() {
      let user = User(
        handle: Handle(stored: "bob"), displayName: "Bob\nB.", bio: "x\u{1B}", avatarURL: nil, showsPresence: false,
        sendsReadReceipts: true, createdAt: time)
      let line = unmarked(TextFormat.line(user))
      #expect(line == #"bob (hides presence)      Bob B.  x\u{1B}"#)
      #expect(!line.unicodeScalars.contains { isHidden($0) })
    }
  }
}
