import Testing

@testable import ChatProgram
@testable import DMCLI
@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// The effects of keys in a window.
@Suite struct ChatKeyTests {
  private let store: TemporaryStore

  init() throws {
    store = try TemporaryStore()
    for number in 1...40 {
      try store.messenger(number % 2 == 0 ? "alice" : "bob").say(
        "text \(number)", to: number % 2 == 0 ? "bob" : "alice")
    }
  }

  private func window() throws -> ChatFixture { try ChatFixture(store, as: "alice", "bob") }

  @Test func `Up offers to edit the user's last message, and Up again the one before it`() throws {
    var window = try window()
    try window.press(.up)
    #expect(window.line == "> /edit 40 text 40")
    try window.press(.up)
    #expect(window.line == "> /edit 38 text 38")
    #expect(window.model.composition.draft == nil, "the text of an edit is not saved as a draft")
    try window.press(.escape)
    #expect(window.line == "> ")
    try window.press(.up, .backspace, .enter)
    try window.follow()
    #expect(window.texts.last == "text 4")
  }

  @Test func `a command that fails stays in the input line, and the state line says why`() throws {
    var window = try window()
    for (line, fault) in [
      ("/nothing", "there is no command '/nothing'"), ("/go", "write /go and the number"), ("/r", "/reply or /react"),
      ("/edit 1 mine", "bob"), ("/react", "write /react"), ("/delete x", "write /delete"),
      ("/attach /nowhere/at/all", "/nowhere/at/all"), ("/list now", "takes nothing after it"),
    ] {
      try window.enter(line)
      #expect(window.state.contains(fault), "\(line): \(window.state)")
      #expect(window.line == "> " + line && window.model.end == nil)
      try window.press(.deleteToStart)
      #expect(window.state == "-- bob, offline --")
    }
  }

  @Test func `Tab completes commands, message numbers, users, emoji and file names`() throws {
    var window = try window()
    for (typed, completed) in [
      ("/att", "/attach "), ("/rep", "/reply "), ("/reply 3", "/reply 3"), ("/reply 40", "/reply 40 "),
      ("hi @b", "hi @bob "), ("/react 3 :tad", "/react 3 :tada:"), ("/attach /etc/passw", "/attach /etc/passwd"),
    ] {
      try window.type(typed)
      try window.press(.tab)
      #expect(window.line.hasPrefix("> " + completed.trimmed), "\(typed): \(window.line)")
      try window.press(.deleteToStart)
    }
    try window.type("/attach /etc/passwd/")
    try window.press(.tab)
    #expect(window.state.contains("cannot read the folder") && window.model.end == nil)
  }

  @Test func `an edit without a number changes the user's last message, wherever the window is scrolled`() throws {
    let bob = try store.messenger("bob")
    try store.messenger("alice").say("newest own", to: "bob")
    for number in 1...150 { try bob.say("later \(number)", to: "alice") }
    var window = try window()
    try window.enter("/go 3")
    try window.press(.up)
    #expect(window.line == "> /edit 41 newest own")
    try window.press(.up)
    #expect(window.line == "> /edit 40 text 40")
    try window.press(.escape)
    try window.enter("/edit changed")
    #expect(try window.messenger.message("bob:41").text == "changed")
    #expect(try window.messenger.message("bob:2").text == "text 2")
    for number in 1...150 { try store.messenger("alice").say("own \(number)", to: "bob") }
    try window.enter("/react 🎉")
    #expect(try window.messenger.message("bob:191").reactions.map(\.emoji) == ["🎉"])
  }

  @Test func `repeated PageUp goes back to the first message, and Esc goes to the last`() throws {
    var window = try window()
    for _ in 1...10 { try window.press(.pageUp) }
    #expect(window.texts.first == "text 1" && window.conversation.count == 12)
    #expect(window.state == "-- bob, offline, Esc goes to the end --")
    try window.press(.escape)
    #expect(window.texts.last == "text 40" && window.state == "-- bob, offline --")
  }

  @Test func `the text of a command replaces the conversation until Esc is pressed`() throws {
    var window = try window()
    try window.enter("/help")
    #expect(window.state == "-- bob, offline, PageDown shows more, Esc goes back --")
    #expect(window.conversation.first?.contains("/reply N TEXT") == true)
    try window.press(.pageDown, .pageDown, .pageDown, .pageDown)
    #expect(window.conversation.last?.contains("Ctrl-C") == true)
    try window.press(.escape)
    #expect(window.texts.last == "text 40")
    try window.press(.pageUp)
    let texts = window.texts
    try window.enter("/help")
    try window.press(.escape)
    #expect(window.texts == texts, "the conversation keeps its position")
    try window.enter("/search 'text 7'")
    #expect(
      window.conversation.count == 1
        && window.state == "-- 1 message; Up, Down and Enter go to one, Esc back --")
  }

  @Test func `an input of many lines leaves two thirds of the window to the conversation`() throws {
    var window = try window()
    for number in 1...30 { try window.press(.paste("line \(number)"), .newline) }
    #expect(window.rows.count == 14 && window.conversation.count == 14 - 1 - 4)
    #expect(
      window.rows.suffix(4) == ["  line 28", "  line 29", "  line 30", "  "], "the rows around the cursor are shown")
  }

  @Test func `a list of search results that is scrolled to its top still fills a wider window`() throws {
    var window = try window()
    try window.enter("/search text")
    try window.press(Array(repeating: .pageUp, count: 20))
    let screen = try Screen(.never, isPlain: false).fixed(columns: 300, rows: 14)
    window.model.resize(Layout(screen: screen, me: "alice"))
    #expect(window.conversation.count == 12)
  }

  @Test func `when the input line loses rows, the conversation fills the rows above it`() throws {
    var window = try window()
    try window.press(.newline, .newline, .newline)
    try window.press(Array(repeating: .pageUp, count: 20))
    let shown = window.conversation
    try window.press(.backspace, .backspace, .backspace)
    #expect(window.conversation.count == shown.count + 3 && window.conversation.prefix(shown.count) == shown[...])
  }

  @Test
  func `if a line could not be sent, the keys typed meanwhile are added below it, and Enter among them sends nothing`()
  {
    var composition = Composition(draft: nil)
    for character in "first" { _ = composition.line.apply(.character(character)) }
    composition.add(ahead: [.character("a"), .enter, .character("b"), .enter])
    #expect(composition.line.text == "first\na\nb")
  }

  @Test func `PageUp, PageDown and Esc read the conversation from the store again, and letters do not`() throws {
    var window = try window()
    for key in [Key.character("x"), .left, .newline, .paste("text"), .deleteToStart] {
      _ = window.model.update(key)
      #expect(!window.model.isStale, "\(key)")
    }
    for key in [Key.pageUp, .pageDown, .escape] {
      _ = window.model.update(key)
      #expect(window.model.isStale, "\(key)")
      try window.press()
      #expect(!window.model.isStale)
    }
    // The extra presses of PageUp at the first message have no effect, so one PageDown goes on by a page.
    try window.press(Array(repeating: .pageUp, count: 50) + [.pageDown])
    let texts = window.texts
    try window.press(.pageDown, .pageUp)
    #expect(window.texts == texts && texts.first != "text 1")
  }

  @Test func `Ctrl-D closes the window only when the input line is empty`() throws {
    var window = try window()
    try window.type("a")
    try window.press(.endOfInput)
    #expect(window.model.end == nil)
    try window.press(.backspace, .endOfInput)
    #expect(window.model.end == .quit)
  }

  /// After each random key or event, the window is still open, and its rows fit into it.
  @Test(arguments: 0..<8) func `only the keys for closing the window close it; no event closes it`(seed: UInt64)
    throws
  {
    var random = SplitMix64(seed: seed)
    var window = try ChatFixture(
      store, as: "alice", "bob", columns: .random(in: 20...90, using: &random),
      rows: .random(in: 2...20, using: &random))
    let bob = try store.messenger("bob")
    let keys: [Key] = [
      .enter, .newline, .tab, .escape, .left, .right, .up, .down, .home, .end, .pageUp, .pageDown, .wordLeft,
      .wordRight,
      .backspace, .delete, .deleteWordLeft, .deleteWordRight, .deleteToStart, .deleteToEnd, .yank, .previous, .next,
      .redraw, .searchHistory, .paste("two\nlines"), .character("/"), .character("1"), .character(" "), .character("你"),
    ]
    let lines = [
      "/go 1", "/go 17", "/go -3", "/go 99", "/search text", "/help", "/edit 2", "/edit", "/reply 3 yes", "/react 🎉",
      "/delete 5", "/delete 6 everyone", "/who", "/forward 3 carol", "/save 3 /nowhere/x", "/open 3", "/s", "/rep -1 x",
      "/mute", "/attach /etc", "/attach /etc/shadow/", "//", "/", "@bob",
    ]
    for step in 0..<300 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: try window.enter(lines.randomElement(using: &random) ?? "")
      case 1: try bob.say("word \(step) " + String(repeating: "wide ", count: step % 40), to: "alice")
      case 2: try window.follow()
      case 3: _ = try bob.edit([Edit(MessageReference("alice:\(step % 40 + 1)"), .delete(forEveryone: step % 2 == 0))])
      default: try window.press(keys.randomElement(using: &random) ?? .enter)
      }
      let rows = window.rows
      #expect(window.model.end == nil)
      #expect(rows.count <= max(window.model.layout.height, 3), "after step \(step)")
      #expect(rows.allSatisfy { columns(of: $0) <= window.model.layout.width }, "after step \(step): \(rows)")
    }
  }
}

extension String {
  fileprivate var trimmed: String { String(reversed().drop { $0 == " " }.reversed()) }
}
