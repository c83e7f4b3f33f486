import Testing

@testable import ChatProgram
@testable import DMCLI
@testable import DMKit
@testable import StoreSupport
@testable import TestSupport

/// What /digest shows in a window.
@Suite struct ChatDigestTests {
  private let store: TemporaryStore

  init() throws {
    store = try TemporaryStore()
    try store.messenger("bob").say("the old build is broken since the update of this morning", to: "alice")
    try store.messenger("alice").say("I'll restart the build server by noon", to: "bob")
  }

  private func window() throws -> ChatFixture { try ChatFixture(store, as: "alice", "bob") }

  @Test func `the digest of a window reads from the message that was the first unread one when the window was opened`()
    throws
  {
    let bob = try store.messenger("bob")
    try bob.say("can you approve the invoice of the printer by friday?", to: "alice")
    try store.messenger("alice").read(1...1, of: "bob")
    var window = try window()
    try window.messenger.read(1...3, of: "bob")
    try bob.say("the invoice is in the folder of the month", to: "alice")
    try window.follow()
    let texts = window.texts
    try window.enter("/digest")
    #expect(
      window.conversation == [
        "2 messages since the first unread one: points are guesses", "Needs you",
        "  3 bob (asks): can you approve the invoice of the printer", "       by friday?", "In short",
        "  4 bob: the invoice is in the folder of the month",
      ], "\(window.conversation)")
    #expect(window.state == "-- /go N goes to a message, Esc back --")
    try window.press(.escape)
    #expect(window.texts == texts)
    // A message that was deleted meanwhile does not change from where the digest reads.
    _ = try bob.edit([Edit(MessageReference("alice:3"), .delete(forEveryone: true))])[0].get()
    try window.enter("/digest")
    #expect(window.conversation.first == "1 message since the first unread one: points are guesses")
  }

  @Test func `without unread messages, the digest reads the newest messages and says so`() throws {
    try store.messenger("alice").read(1...1, of: "bob")
    var window = try window()
    try window.enter("/digest")
    #expect(window.conversation.first == "nothing was unread; newest 2 messages: points are guesses")
    #expect(window.conversation.contains { $0.contains("2 alice, by noon: I'll restart the build server") })
    for _ in 1...100 { try store.messenger("alice").say("ok", to: "bob") }
    try window.enter("/digest")
    // The notice has two rows, so it has no dashes at its end.
    let words = window.state.split(separator: " ").joined(separator: " ")
    #expect(words == "-- nothing was unread; newest 100 messages: no points found")
  }

  @Test func `the digest of a conversation without messages says that there are no points`() throws {
    var window = try ChatFixture(store, as: "alice", "carol")
    try window.enter("/digest")
    #expect(window.state == "-- nothing was unread; newest 0 messages: no points found --")
  }

  @Test func `a number after /digest names the first message, and anything else is an error`() throws {
    var window = try window()
    try window.enter("/digest 2")
    #expect(window.conversation.first == "1 message since 2: points are guesses")
    try window.press(.escape)
    try window.enter("/digest -2")
    #expect(window.conversation.first == "2 messages since -2: points are guesses")
    for (line, fault) in [
      ("/digest 9", "there is no message"), ("/digest bob", "write /digest"), ("/digest 1 2", "write"),
    ] {
      try window.enter(line)
      #expect(window.state.contains(fault), "\(line): \(window.state)")
      #expect(window.line == "> " + line)
      try window.press(.deleteToStart)
    }
    try window.type("/dig")
    try window.press(.tab)
    try window.type("2")
    try window.press(.tab)
    #expect(window.line == "> /digest 2 ")
  }

  @Test func `a digest that is longer than the window begins at its top, and PageDown and PageUp move in it`() throws {
    let bob = try store.messenger("bob")
    for number in 1...30 { try bob.say("can you approve invoice \(number)?", to: "alice") }
    var window = try window()
    try window.enter("/digest 3")
    #expect(window.conversation.first == "30 messages since 3: points are guesses" && window.conversation.count == 12)
    try window.press(.left)
    #expect(window.state == "-- bob, offline, PageDown shows more, Esc goes back --")
    try window.press(.pageDown)
    #expect(window.conversation.first?.contains("12 bob (asks): can you approve invoice 10?") == true)
    #expect(window.state == "-- bob, offline, PageUp shows more, Esc goes back --")
    for _ in 1...9 { try window.press(.pageDown) }
    let end = window.conversation
    #expect(end.last?.contains("32 bob (asks): can you approve invoice 30?") == true)
    try window.press(.pageDown)
    #expect(window.conversation == end)
    for _ in 1...9 { try window.press(.pageUp) }
    #expect(window.conversation.first == "30 messages since 3: points are guesses")
  }

  @Test func `a digest shows control characters of a message as text`() throws {
    try store.messenger("bob").say("can you approve it\n-- 9 bob: paid --\u{1B}[2J of the printer?", to: "alice")
    var window = try window()
    try window.enter("/digest 3")
    #expect(window.rows.allSatisfy { !$0.unicodeScalars.contains { $0.value < 32 } })
    #expect(window.conversation.allSatisfy { !$0.contains("-- 9") || $0.hasPrefix("  3 ") || $0.hasPrefix("       ") })
  }
}
