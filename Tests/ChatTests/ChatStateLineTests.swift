import Testing

@testable import ChatProgram
@testable import DMCLI
@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// The line between the conversation and the input line, the title of the window, and notifications.
@Suite struct ChatStateLineTests {
  private let store: TemporaryStore
  private let bob: Messenger

  init() throws {
    (store, bob) = try ChatFixture.store(withTextsOfBob: (1...40).map { "text \($0)" })
  }

  private func window(columns: Int = 60) throws -> ChatFixture {
    try ChatFixture(store, as: "alice", "bob", columns: columns)
  }

  @Test func `while a command about one message is written, the state line shows the message`() throws {
    var window = try window()
    try window.type("/reply 2")
    #expect(window.state == "-- answers 2 bob 'text 2' --", "the message is not on the screen")
    try window.type("7 yes")
    #expect(window.state == "-- answers 27 bob 'text 27' --")
    try window.press(.deleteToStart)
    #expect(window.state == "-- bob, offline --")
    for (line, state) in [
      ("/react 3 :tad", "-- message 3 bob 'text 3' --"), ("/rep -1 x", "-- answers 40 bob 'text 40' --"),
      ("/delete 99 ", "-- there is no message 99 here --"), ("/go 3 ", "-- bob, offline --"),
    ] {
      try window.type(line)
      #expect(window.state == state, "\(line)")
      try window.press(.deleteToStart)
    }
  }

  @Test func `a command acts on the message that the state line shows, although a later one has come`() throws {
    var window = try window()
    try window.type("/rep -1 yes, 7")
    try bob.say("later", to: "alice")
    try window.follow()
    #expect(window.state == "-- answers 40 bob 'text 40' --")
    #expect(window.model.lineToEnter == "/reply 40 yes, 7")
    for line in ["/reply 3 yes", "/go -1", "-1 is a number"] {
      try window.press(.deleteToStart)
      try window.type(line)
      #expect(window.model.lineToEnter == line)
    }
  }

  @Test func `the message that is answered is shown as it is now, on one line, without control characters`() throws {
    try bob.say("x'\n-- 9 bob: forged\u{1B}[2J " + String(repeating: "wide ", count: 50), to: "alice")
    var window = try window(columns: 40)
    try window.type("/reply 41 x")
    let below = window.rows.drop { !$0.hasPrefix("-- answers 41 bob 'x’ ") }
    #expect(below.count == 2 && columns(of: below.first ?? "") <= 40, "\(window.rows)")
    #expect(!window.rows.joined().contains("\u{1B}["))
    try bob.edit("alice:41", to: "better")
    try window.follow()
    #expect(window.state == "-- answers 41 bob 'better' --")
    try bob.delete("alice:41", forEveryone: true)
    try window.follow()
    #expect(window.state == "-- there is no message 41 here --")
  }

  @Test func `a window that is scrolled back counts the new messages below`() throws {
    var window = try window()
    try window.press(.pageUp)
    #expect(window.state == "-- bob, offline, Esc goes to the end --")
    for text in ["a", "b", "c"] { try bob.say(text, to: "alice") }
    try store.messenger("alice").say("mine", to: "bob")
    try window.follow()
    #expect(window.state == "-- bob, offline, 3 new below, Esc --")
    try window.press(.escape)
    #expect(window.state == "-- bob, offline --" && window.texts.last == "mine")
    try window.press(.pageUp)
    try bob.say("d", to: "alice")
    try window.follow()
    #expect(window.state.contains("1 new below"))
  }

  @Test(arguments: [30, 40, 60, 80]) func `who is typing is said once, and the verb is never cut`(width: Int) throws {
    _ = try bob.setProfile(ProfileChange(displayName: "Robert Archibald Bo"))
    var window = try window(columns: width)
    let typing = try #require(try bob.typing(in: ConversationReference("alice")))
    let shown = typing.show()
    try window.follow(untilState: { $0.contains("typing") })
    #expect(window.state.hasSuffix(" is typing --") && window.state.hasPrefix("-- Robert"))
    #expect(window.state.split(separator: "Robert").count == 2 && columns(of: window.state) <= width)
    try window.press(.pageUp)
    #expect(columns(of: window.state) <= width)
    typing.hide(unlessShownSince: shown)
  }

  @Test func `/go shows its message in reverse, until the user goes to the end`() throws {
    var window = try window()
    #expect(window.marked == [])
    try window.enter("/go 7")
    #expect(window.marked.count == 1 && window.marked[0].hasSuffix("text 7"))
    try window.press(.pageUp)
    #expect(window.model.loaded.marked == 7)
    try window.press(.escape)
    #expect(window.marked == [])
    try bob.delete("alice:9", forEveryone: true)
    _ = try window.messenger.edit([Edit(MessageReference("bob:8"), .delete(forEveryone: false))])
    try window.enter("/go 8")
    #expect(window.marked == [], "another message is not marked in place of one that is not there")
  }

  @Test func `the hits of a search are chosen with Up and Down, and Enter goes to one`() throws {
    var window = try window()
    try window.enter("/search text")
    #expect(window.state.contains("Up, Down and Enter go to one"))
    #expect(window.conversation.last?.hasPrefix("> ") == true && window.conversation.last?.contains("** 40") == true)
    try window.press(Array(repeating: .up, count: 30))
    #expect(window.conversation.count { $0.hasPrefix("> ") && $0.contains("bob:10 ") } == 1, "\(window.conversation)")
    try window.press(.down, .enter)
    #expect(window.marked.count == 1 && window.marked[0].hasSuffix("text 11") && window.line == "> ")
    try window.press(.escape)
    try window.enter("/search text")
    try window.press(Array(repeating: .up, count: 200) + Array(repeating: .down, count: 300))
    #expect(window.conversation.last?.hasPrefix("> ") == true)
    // Keys of a line that is not empty are for the line.
    try window.type("x")
    try window.press(.enter)
    #expect(try window.messenger.message("bob:41").text == "x")
  }

  @Test func `direct messages and mentions are counted in the title until the next key`() throws {
    var window = try window()
    #expect(window.model.title == "bob - dm")
    try bob.say("a", to: "alice")
    try bob.say("b", to: "alice")
    try store.messenger("alice").say("mine", to: "bob")
    try window.follow()
    #expect(window.model.title == "(2) bob - dm")
    try window.press(.left)
    #expect(window.model.title == "bob - dm")
    _ = try bob.createGroup(titled: "ops", with: ["alice"])
    var group = try ChatFixture(store, as: "alice", "+ops")
    try bob.say("nothing for anybody", to: "+ops")
    try group.follow()
    #expect(group.model.title == "+ops - dm")
    let message = try bob.say("@alice look", to: "+ops")
    try group.follow()
    #expect(group.model.title == "(1) +ops - dm")
    var seen = try group.messenger.message("+ops:\(message.seq ?? 0)")
    #expect(group.model.call(of: seen) == "bob mentions you in +ops")
    seen.text = "@alice\u{1B}]0;x\u{7}"
    #expect(!group.model.call(of: seen).contains("look"))
    _ = try group.messenger.change(.muted(for: nil), in: [ConversationReference("+ops")])
    try group.follow()
    #expect(!group.model.isCall(seen), "a muted conversation tells of nothing")
  }

  @Test func `a notification comes only if no key was pressed for ten seconds, and not twice in three seconds`() {
    var notifier = Notifier()
    let second: Int64 = 1_000_000
    let times: [(Int64, Bool)] = [(1, true), (2, false), (5, true)]
    for (time, isWanted) in times {
      let may = notifier.mayNotify(at: time * second)
      #expect(may == isWanted, "\(time)")
    }
    notifier.noteKey(at: 10 * second)
    let later = [19, 20].map { notifier.mayNotify(at: $0 * second) }
    #expect(later == [false, true])
  }
}
