import Testing

@testable import DMCLI
@testable import DMKit

struct PeopleTests {
  private let me = Handle(stored: "alice")
  private let id = Identifier(high: 0x019a_c5f2_0a3b_7c4d, low: 0x8e5f_0123_4567_89ab)

  private func message(
    _ text: String, from sender: String = "bob", named name: String? = nil, mentions: [Handle] = []
  ) -> Message {
    Message(
      id, conversationID: id, conversation: ConversationLabel(title: "ops", isGroup: true, reference: "+ops"),
      seq: 7, sender: Handle(stored: sender), senderName: name, text: text, createdAt: Timestamp(microseconds: 0),
      status: .sent, nonce: nil, mentions: mentions)
  }

  private func sender(_ user: String, _ name: String?, _ people: People, isIntroduced: Bool = false) -> String {
    unmarked(people.sender(of: message("hi", from: user, named: name), isIntroduced: isIntroduced, []))
  }

  @Test func `the handle is beside the display name only for the first message, or if another user has a like name`() {
    var people = People(me)
    people.add([(me, "Alice"), (Handle(stored: "bob"), "Bob B."), (Handle(stored: "mei"), "陈美")])
    #expect(sender("bob", "Bob B.", people, isIntroduced: true) == "Bob B. (bob)")
    #expect(sender("bob", "Bob B.", people) == "Bob B.")
    #expect(sender("mei", "陈美", people) == "陈美")
    #expect(sender("alice", "Alice", people, isIntroduced: true) == "you")
  }

  @Test(arguments: [
    // Each name could be taken for Bob B. (bob): by case, punctuation, letters of other scripts, or because it is cut.
    "bob b", "Bob  B!", "Воb В.", "BOB", "Bоb",
  ])
  func `a display name like that of another user never stands without the handle`(name: String) {
    var people = People(me)
    people.add([(Handle(stored: "bob"), "Bob B."), (Handle(stored: "mallory"), name)])
    #expect(sender("mallory", name, people).hasSuffix(" (mallory)"))
    let isLikeName = People.compared(name) == People.compared("Bob B.")
    #expect(sender("bob", "Bob B.", people) == (isLikeName ? "Bob B. (bob)" : "Bob B."))
  }

  @Test func `names that are equal as far as lines show them are like names`() {
    let start = String(repeating: "x", count: 40)
    var people = People(me)
    people.add([(Handle(stored: "bob"), start + "1"), (Handle(stored: "mei"), start + "2")])
    #expect(sender("bob", start + "1", people).hasSuffix("… (bob)"))
  }

  @Test(arguments: [
    ("mallory", "You", "You (mallory)"), ("you", nil, "@you"), ("YOU", nil, "@YOU"), ("x", "уоu", "уоu (x)"),
  ])
  func `nobody else is 'you'`(user: String, name: String?, line: String) {
    var people = People(me)
    people.learn(Handle(stored: user), name)
    #expect(sender(user, name, people) == line)
    let said = name == nil ? line : user
    #expect(unmarked(people.name(of: Handle(stored: user), name)) == said)
  }

  @Test func `twelve participants have twelve looks, in the order of joining`() {
    var people = People(me)
    let handles = (1...12).map { Handle(stored: "user\($0)") }
    people.add(handles.map { ($0, nil) })
    #expect(Set(handles.map { people.colored($0, "x") }).count == 12)
    #expect(handles.map(people.look) == Array(0..<12))
    people.add([(Handle(stored: "later"), nil)])
    #expect(people.colored(Handle(stored: "later"), "x") == people.colored(handles[0], "x"))
  }

  @Test(arguments: [
    ("@alice look", ["@alice"]), ("hi @alice, @alicex and x@alice", ["@alice"]), ("请@alice看", ["@alice"]),
    ("@alice @alice", ["@alice", "@alice"]), ("no", []),
  ])
  func `mentions of the reader stand out`(text: String, marked: [String]) {
    let line = TextFormat.body(of: message(text, mentions: [me]), People(me))
    let parts = line.split(separator: Character("\u{1E}")).dropFirst(line.utf8.first == 0x1E ? 0 : 1)
    #expect(parts.map { String($0.prefix { $0 != Character(Mark.end) }) } == marked)
    #expect(!TextFormat.body(of: message(text), People(me)).utf8.contains(0x1E))
  }

  @Test(arguments: [
    ("lunch?", ""), ("at 12:30", ""), ("it is 09:23", ""), ("you: yes", "bob: "), ("alice：yes", "bob: "),
    ("x:", "bob: "),
    ("(image 'x' 1 KiB)", "bob: "), ("-- alice left --", "bob: "), ("Deleted by Alice", "bob: "), ("👍", "bob: "),
  ])
  func
    `in a direct conversation, a preview has the name of the other user only if the text resembles a line with a name`(
      text: String, start: String
    )
  {
    var sent = message(text)
    sent.conversation = ConversationLabel(title: nil, isGroup: false, reference: "bob")
    #expect(unmarked(TextFormat.preview(of: sent, for: me, text)) == start + text)
  }

  @Test(arguments: [
    ("see https://a.test/x.", ["https://a.test/x"]), ("(http://a.test/(b)) end", ["http://a.test/(b)"]),
    ("https://a.test/ä", ["https://a.test/ä"]), ("xhttps://a.test ftp://b.test http:// https://?", []),
    ("<https://a.test/?q=1&r='2'>", ["https://a.test/?q=1&r="]), ("https://a.test\u{202E}evil", ["https://a.test"]),
  ])
  func `addresses of web pages are links to what they say`(text: String, addresses: [String]) {
    let parts = TextFormat.linked(visible(text, indent: "")).unicodeScalars.split(separator: "\u{4}").dropFirst(
      text.hasPrefix("http") && !addresses.isEmpty ? 0 : 1)
    let shown = parts.map { part in
      String(String.UnicodeScalarView(part.filter { $0.value < 0xE0000 }.prefix { $0 != "\u{5}" }))
    }
    #expect(shown == addresses)
  }
}
